import type { Action, Advice } from '../rule.js'

const act = (kind: Action['kind'], why: string): Action => ({ kind, why })

const stale = (way: string | undefined, actions: Action[], warnings: string[], askFor: string[]): Advice => ({
  cause: 'dataplane-stale',
  ...(way === undefined ? {} : { way }),
  actions,
  warnings,
  askFor,
  escalateTo: 'platform',
})

const notObjects =
  'Do not change selectors, services or their Pods: the API has them right, this node does not follow.'
const noFlush =
  'Do not flush all rules of the node: every service on it goes away until they are written again.'

export const staleAdvice: Advice[] = [
  stale(
    undefined,
    [
      act('look', "Compare this node's rules, bridges or maps with the API and with a node that works."),
      act('look', 'Save the log of the agent that writes them: it tells since when it does not follow.'),
      act(
        'recreate-pod',
        'Re-create that agent on this node alone, and check that the state is right again.',
      ),
    ],
    [notObjects, noFlush],
    ['the same output of a node that works', "the agent's log"],
  ),
  stale(
    'proxy',
    [
      act('look', "Save kube-proxy's log of this node first: it is gone with the Pod."),
      act(
        'recreate-pod',
        'Re-create the service proxy on this node alone; a static Pod comes back by its kubelet.',
      ),
      act('look', 'Check that the rule of the service now sends to its backends, as on a node that works.'),
      act(
        'look',
        'Where it comes again, look at its watch of the API, at locks and at the time that a sync takes.',
      ),
    ],
    [
      notObjects,
      noFlush,
      'Do not restart the Pods behind the service: they are ready, and this node does not send to them.',
      'Do not take it for an application that does not listen: the rule of the node refuses.',
    ],
    ["the node's rules for the service beside those of another node", "kube-proxy's log"],
  ),
  stale(
    'proxy-down',
    [
      act('look', 'Read why kube-proxy does not run on the node: its log and its last state.'),
      act('fix', 'Mend that; the rules follow by themselves within a minute.'),
    ],
    [notObjects, noFlush],
    ["kube-proxy's log of its last run"],
  ),
  stale(
    'ipvs',
    [
      act('look', "Save kube-proxy's log and the table of virtual servers."),
      act(
        'recreate-pod',
        'Re-create kube-proxy on this node alone, and compare the table with the endpoints again.',
      ),
    ],
    [
      notObjects,
      'Do not clear the whole table: every service of the node goes away until it is written again.',
    ],
    ['the endpoints of the service', "kube-proxy's log", 'the table of another node'],
  ),
  stale(
    'conntrack',
    [
      act(
        'look',
        'List the tracked flows of the service, and see which go to an address that is no backend.',
      ),
      act(
        'fix',
        'Delete exactly these entries (by destination and port); new packets take a living backend.',
      ),
      act('fix', 'Upgrade the proxy where it leaves such entries, or let the client open a new socket.'),
    ],
    ['Do not clear the whole table: every connection of the node breaks.', notObjects],
    ['the tracked flows of the service', 'the version of the proxy'],
  ),
  stale(
    'bridge',
    [
      act(
        'look',
        'Make sure that no running Pod is attached to the bridge: sandboxes beside those on the host network.',
      ),
      act('cordon', 'Keep new Pods off the node, and drain it where Pods are attached.'),
      act(
        'fix',
        'Only then remove the bridge and what is left of the old range, and let the plugin build it anew.',
      ),
      act('test-pod', 'Try one Pod, and check that its address is of the range that the node has now.'),
    ],
    [
      'Do not delete the bridge while Pods are attached: all of them lose their network at once.',
      "Do not change the bridge's address by hand while Pods use it as their gateway.",
      'Do not count files of an old range as a leak of the new one.',
    ],
    ['the range of the node in the API', 'the sandboxes of the node', 'since when the range is another one'],
  ),
  stale(
    'maps',
    [
      act(
        'look',
        "Compare the agent's list of services and backends with the API, and see whether a map is full.",
      ),
      act('fix', 'Enlarge a map that is full, in the configuration of the agent.'),
      act(
        'recreate-pod',
        'Re-create the agent on this node alone: it writes its maps anew, connections stay.',
      ),
    ],
    [notObjects, "Do not delete the agent's maps by hand: running Pods lose their policy and network."],
    ["the agent's status in full", 'the size and use of its maps'],
  ),
  stale(
    'two-tables',
    [
      act('look', 'See which kind of table kube-proxy, the network agent and the host each write to.'),
      act(
        'fix',
        'Make all use the same kind, then clear the rules of the other kind on a drained node, or reboot it.',
      ),
    ],
    [noFlush, notObjects],
    ['iptables --version on the host and in both agents'],
  ),
  stale(
    'bridge-nf',
    [
      act('fix', 'Load br_netfilter and let bridged packets pass iptables, in files that are read at boot.'),
      act('look', 'Try a service whose backend is on the same node.'),
    ],
    [notObjects],
    ['the sysctl and module files of the node'],
  ),
  stale(
    'tunnel-announced',
    [
      act(
        'look',
        "Compare the tunnel's MAC on its own node with the one in the API: the announcement is old, so its own agent has to write it.",
      ),
      act(
        'recreate-pod',
        "Re-create the network agent's Pod on the node whose tunnel is new, not on its peers, so that it announces the tunnel again.",
      ),
      act('look', "Check that annotation and the peers' entries carry the new MAC."),
      act(
        'fix',
        'Where it comes with each boot, keep a host service from giving the link another MAC, or upgrade the agent.',
      ),
    ],
    [
      notObjects,
      'Do not restart the agent on the peers: they read the same old announcement again.',
      'Do not delete the node object, and do not open ports: the packets arrive.',
    ],
    ["the tunnel's MAC on its node, in the API and on a peer", 'what renames or re-addresses links at boot'],
  ),
  stale(
    'tunnel',
    [
      act(
        'look',
        "Compare the other node's tunnel address and MAC in the API with the neighbour and forwarding entries here.",
      ),
      act(
        'recreate-pod',
        'Re-create the network agent on the node whose entries are old: it writes them anew.',
      ),
    ],
    [notObjects],
    ['neighbour and forwarding entries of the tunnel on both nodes'],
  ),
]
