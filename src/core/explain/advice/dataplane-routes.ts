import type { Action, Advice } from '../rule.js'

const act = (kind: Action['kind'], why: string): Action => ({ kind, why })

const noRestart =
  'Do not restart the kubelet, the runtime or the network of the node on suspicion: running Pods keep their broken links and others lose theirs.'

const route = (
  way: string | undefined,
  actions: Action[],
  warnings: string[],
  askFor: string[],
  to = 'network',
): Advice => ({
  cause: 'route-missing',
  ...(way === undefined ? {} : { way }),
  actions,
  warnings: [...warnings, noRestart],
  askFor,
  escalateTo: to,
})

const tables = 'the route tables of two nodes, one that works and one that does not'
const byHand =
  'Do not leave a route that was set by hand: it hides the reason, and the agent does not keep it right.'

export const routeAdvice: Advice[] = [
  route(
    undefined,
    [
      act(
        'look',
        'Compare the route tables of the node with those of one that works: what is absent or other there is the fault.',
      ),
      act(
        'look',
        'Read what the network agent of the node says of this route, and whether it knows the other node.',
      ),
      act('restore-route', 'Let the agent set the route again, and check that it is there and stays.'),
    ],
    [byHand],
    [tables, "the network agent's log on both nodes"],
  ),
  route(
    'remote',
    [
      act(
        'look',
        'Check that the network agent of this node runs and knows the other node and its range: it is what sets this route.',
      ),
      act(
        'restore-route',
        'Let the agent set the missing route again, then compare with the table of a node that works.',
      ),
      act(
        'look',
        'Try one Pod of the other node from here, and look again after some minutes whether the route stays.',
      ),
    ],
    [byHand, 'Do not search the application or its service: packets do not leave this node for the range.'],
    [
      tables,
      "the network agent's log of both nodes",
      "the other node's range in the API (podCIDR, annotations, blocks)",
    ],
    'platform',
  ),
  route(
    'own',
    [
      act(
        'recreate-pod',
        'Re-create one Pod of the node, so that the plugin gives the bridge its address again, and check address and connected route.',
      ),
      act('recreate-pod', 'Then re-create the Pods that were started before, one after another.'),
      act(
        'fix',
        'Where it comes again, upgrade the plugins: two setups of the bridge at once leave it without address.',
      ),
    ],
    [
      'Do not set the address by hand without a note: it hides what left it out.',
      'Do not install the overlay again: its routes to other nodes are not what is missing.',
    ],
    ["the bridge's addresses and the node's route table", 'the plugin versions'],
    'platform',
  ),
  route(
    'wrong',
    [
      act(
        'look',
        'Find who set the route with the wrong next hop: its proto, and a node that had this address before.',
      ),
      act(
        'fix',
        'Remove what still announces it: an object of a node that is gone, an old static route, a second agent.',
      ),
      act('restore-route', 'Let the agent set the right route, and compare all nodes.'),
    ],
    [byHand, 'Do not only delete the wrong route: whoever set it sets it again.'],
    [tables, 'the nodes and their ranges as the API has them'],
  ),
  route(
    'shadowed',
    [
      act('look', 'See which network of the node overlaps the range, and whether anything uses it.'),
      act(
        'fix',
        'Give that network another range (of the container engine, the virtual machines, the VPN), or remove it where nothing uses it.',
      ),
      act('look', 'Check with ip route get that the address takes the link of the Pods.'),
    ],
    ['Do not change the range of the Pods to make room: every node and running Pod has it.', byHand],
    [tables, 'what uses the overlapping network'],
  ),
  route(
    'refusing',
    [
      act('look', 'See who set the route that refuses, and whether the session or link behind it is up.'),
      act(
        'fix',
        'Mend what it waits for: a next hop that cannot be reached, a peer, a range announced twice.',
      ),
      act('restore-route', 'Check that the refusing route is replaced, and by what.'),
    ],
    [
      "Do not delete a node's blackhole of its own block: it is there by design, longer routes to the living go first.",
      byHand,
    ],
    [tables, 'the state of the routing sessions'],
  ),
  route(
    'bgp',
    [
      act(
        'look',
        'Check that TCP 179 is open between the two nodes, and which address each of them announces for itself.',
      ),
      act(
        'fix',
        'Open the port, or tell the agent which interface or address to use: it may have chosen a wrong one.',
      ),
      act('look', 'See the session established and the routes come back.'),
    ],
    [
      'Do not delete pools or node objects to make the session come up: their blocks belong to running Pods.',
      byHand,
    ],
    [
      'the state of the sessions on both nodes',
      "the node's addresses and interfaces",
      'firewall rules for TCP 179',
    ],
  ),
  route(
    'cloud',
    [
      act(
        'look',
        "Read the route controller's last error for this node, and count the routes of the cloud's table.",
      ),
      act(
        'fix',
        'Free or raise the quota, remove routes of instances that are gone, or give the controller its right to write.',
      ),
      act('look', 'Check that the condition of the node clears and the route points to this instance.'),
    ],
    ['Do not clear the condition of the node by hand: the route would still be missing.'],
    ["the cloud's route table", "the controller's log", 'the quota of routes'],
    'platform',
  ),
  route(
    'rules',
    [
      act(
        'look',
        'Compare rules and routes with a node that works, and see what started on the host at that time.',
      ),
      act(
        'recreate-pod',
        "Re-create the network agent's Pod on this node alone, so that it writes the rules and routes of living Pods again; where it does not, move the Pods away.",
      ),
      act(
        'fix',
        "Tell the host's network service to leave foreign rules and routes alone, before the next restart.",
      ),
    ],
    [
      "Do not restart the host's network service once more: it removes them again.",
      'Do not conclude from a ready agent that the routes are there.',
    ],
    ['rules and routes of this node and of one that works', "the host's network service and its settings"],
    'platform',
  ),
  route(
    'default',
    [
      act(
        'look',
        'See why the default route is absent: the address service of the host, the plugin that made the Pod, a second interface.',
      ),
      act(
        'fix',
        'Mend the setting that should give it, and check that it stays after a restart of the link.',
      ),
    ],
    [byHand],
    ['the whole route table', 'the configuration of the network on host or Pod'],
  ),
]
