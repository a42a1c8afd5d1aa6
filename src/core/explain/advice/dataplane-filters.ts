import type { Action, Advice } from '../rule.js'

const act = (kind: Action['kind'], why: string): Action => ({ kind, why })

const noRestart =
  'Do not restart the kubelet, the runtime or the network of the node on suspicion: running Pods keep their broken links and others lose theirs.'

const noDrain = 'Do not drain or re-create Pods for it: they would land in the same network.'

const filtered = (
  way: string | undefined,
  actions: Action[],
  warnings: string[],
  askFor: string[],
  to = 'network',
): Advice => ({
  cause: 'network-filtered',
  ...(way === undefined ? {} : { way }),
  actions,
  warnings: [
    ...warnings,
    'Do not turn the whole firewall off, least of all on a host with a public address.',
    noDrain,
  ],
  askFor,
  escalateTo: to,
})

const again = act(
  'look',
  'Repeat the same request, and look once more after a reboot or reload: rules that are not permanent go away.',
)
const counters = 'the rules with their counters while the request is repeated'

export const filteredAdvice: Advice[] = [
  filtered(
    undefined,
    [
      act(
        'look',
        'Follow one packet with tcpdump at Pod, bridge, tunnel and the other node: behind the last place that sees it is what stops it.',
      ),
      act('look', 'Read the counters of the rules there while the request is repeated.'),
      act('fix', 'Allow exactly this traffic, permanently.'),
      again,
    ],
    [
      'Do not add routes before it is known that one is missing: an unreachable host with a right route is a reject rule.',
    ],
    [counters, 'a tcpdump of both nodes', 'the policies of both namespaces'],
  ),
  filtered(
    'host',
    [
      act(
        'look',
        "See which rule or zone of the host's firewall stops the packet: its counter or its log moves with the request.",
      ),
      act(
        'fix',
        "Put the Pods' links or ranges into a trusted zone, or allow the traffic before the rule, permanently, and reload.",
      ),
      again,
    ],
    [
      'Do not add routes: they are there.',
      'Do not flush all rules: those of services and Pods go with them.',
    ],
    [counters, "the firewall's log"],
  ),
  filtered(
    'forward',
    [
      act(
        'fix',
        'Accept what is forwarded from and to the range of the Pods, permanently; the policy itself may stay.',
      ),
      act(
        'look',
        'Find who sets the policy (a container engine, a hardening script): it comes again with its next start.',
      ),
      again,
    ],
    [
      'Do not flush all rules: those of services and Pods go with them.',
      'Do not add routes: packets are dropped, not lost.',
    ],
    [counters, 'who sets the policy'],
    'platform',
  ),
  filtered(
    'policy',
    [
      act(
        'look',
        'List the policies that select the sender (egress) and the receiver (ingress), with the labels of both namespaces.',
      ),
      act('ask', 'Ask the owner of the policy whether this traffic is meant to be allowed.'),
      act('fix', 'Add the narrowest rule that allows it, DNS included where egress is restricted.'),
    ],
    [
      'Do not delete the policy to try: it protects others too.',
      'Do not restart the network agent: it enforces what it is told.',
    ],
    ['the policies of both namespaces', "the Pods' and namespaces' labels"],
    'application owner',
  ),
  filtered(
    'nodes',
    [
      act(
        'look',
        'Catch the tunnel or session on both nodes at once: leaves here, never arrives there, so it is stopped between them.',
      ),
      act(
        'ask',
        'Have the port opened between all nodes, both ways, in host firewall, security group or hypervisor.',
      ),
      act('look', 'See the packets arrive, then try one Pod across nodes.'),
    ],
    [
      'Do not install the network solution again: its packets leave the node.',
      'Do not change the range of the Pods.',
    ],
    ['tcpdump of both nodes', 'the rules of the security group or firewall between the nodes'],
  ),
  filtered(
    'forwarding',
    [
      act('fix', 'Turn forwarding on by sysctl, in a file that is read at boot.'),
      act('look', 'Find what turned it off: a hardening profile or another sysctl file comes after yours.'),
    ],
    ['Do not only set it for now: the next boot or sysctl reload takes it back.'],
    ['all sysctl files that name forwarding'],
    'platform',
  ),
  filtered(
    'rp-filter',
    [
      act('look', 'See by which link the packet comes and by which the answer would leave.'),
      act(
        'fix',
        'Mend the asymmetric route, or set the reverse path filter to loose on the links concerned, permanently.',
      ),
    ],
    ['Do not turn the filter off everywhere: it is there against forged addresses.'],
    ['rp_filter of all and of the link: the larger one counts', 'the route tables and rules of the node'],
    'platform',
  ),
]

const size = (way: string | undefined, actions: Action[]): Advice => ({
  cause: 'mtu-mismatch',
  ...(way === undefined ? {} : { way }),
  actions: [
    ...actions,
    act('recreate-pod', 'Re-create the Pods, a few at a time: links that exist keep their old size.'),
    act('look', 'Check with a ping that may not be split, at the limit and one byte above it.'),
  ],
  warnings: [
    'Do not raise the size of the tunnel: it has to be smaller than the link below it.',
    'Do not blame timeouts of the application, and do not raise them: the packets never arrive.',
    noRestart,
  ],
  askFor: ['ip -d link of both nodes and of a Pod', 'the size that the underlay really carries (ping -M do)'],
  escalateTo: 'network',
})

export const mtuAdvice: Advice[] = [
  size(undefined, [
    act(
      'look',
      'Measure what the way carries, and compare Pod link, bridge, tunnel and underlay on both nodes.',
    ),
    act(
      'fix',
      "Set the network's MTU to the least underlay minus the tunnel's overhead (VXLAN 50, IPIP 20, WireGuard 60 to 80, Geneve 50 and more).",
    ),
  ]),
  size('pods', [
    act(
      'fix',
      "Set the MTU of the Pods' links in the network's configuration to what the tunnel or the underlay carries, and roll its agent.",
    ),
  ]),
  size('tunnel', [
    act(
      'fix',
      "Set the tunnel's MTU to that of the link below minus the tunnel's overhead, in the network's configuration, and roll its agent.",
    ),
  ]),
  size('underlay', [
    act(
      'ask',
      'Ask the network for one size on all nodes and switches between them; until then the smallest counts.',
    ),
    act('fix', "Set the network's MTU to the smallest underlay minus the tunnel's overhead on all nodes."),
  ]),
]
