import type { Action, Advice } from '../rule.js'

const act = (kind: Action['kind'], why: string): Action => ({ kind, why })
const notFiles =
  'Do not delete files under /var/lib/cni/networks: this address manager does not keep its pool there.'
const notAgain = 'Do not delete the stuck Pod again and again: it takes nothing and gives nothing back.'

/** Leaks of managers that keep addresses elsewhere than in files of the node. */
export const poolLeakAdvice: Advice[] = [
  {
    cause: 'ipam-leak',
    way: 'aws',
    actions: [
      act(
        'look',
        "Compare ipamd's own view (introspection endpoint, addresses and their sandboxes) with the sandboxes on the node.",
      ),
      act('cordon', 'Cordon the node, so that nothing else waits there.'),
      act(
        'restart-rollout',
        "Re-create the CNI agent's Pod on this node alone: at its start it rebuilds the pool from the sandboxes that live.",
      ),
      act(
        'look',
        'See that the number of assigned addresses drops to the real one and the stuck Pod starts.',
      ),
      act('fix', 'Look for known leak fixes in newer versions of the CNI.'),
    ],
    warnings: [
      notFiles,
      'Do not ask for a larger subnet: the shortage is on the node, not in the network behind it.',
      notAgain,
    ],
    askFor: ["ipamd's introspection output", 'the Pods with an address on the node'],
    escalateTo: 'platform',
  },
  {
    cause: 'ipam-leak',
    way: 'azure',
    actions: [
      act(
        'look',
        "Compare the address manager's state (azure-vnet-ipam or CNS) with the sandboxes on the node.",
      ),
      act('cordon', 'Cordon the node.'),
      act(
        'ask',
        'Have the platform restart the address service on the node, or replace the node: it rebuilds its state from what lives.',
      ),
    ],
    warnings: [notFiles, notAgain, 'Do not edit the state file by hand while the service runs.'],
    askFor: ["the address manager's state and log", 'the Pods with an address on the node'],
    escalateTo: 'platform',
  },
  {
    cause: 'ipam-leak',
    way: 'calico',
    actions: [
      act(
        'look',
        'Run calicoctl ipam check and list allocations whose handle is not the sandbox that the Pod has now; the dead and the living one can name the same Pod.',
      ),
      act(
        'look',
        'See whether kube-controllers runs: it collects addresses of nodes and Pods that are gone.',
      ),
      act(
        'fix',
        'Release exactly those with calicoctl, from its own report file, once no interface or route carries them.',
      ),
      act('fix', 'Remove nodes through the API after a drain, so that their blocks are given back.'),
    ],
    warnings: [
      notFiles,
      notAgain,
      'Do not delete IPAM blocks or handles by hand: addresses of living Pods lie in the same block.',
      'Do not enlarge the pool instead: it fills the same way.',
    ],
    askFor: [
      'the output of calicoctl ipam check and ipam show --show-blocks',
      'the log of calico-kube-controllers',
    ],
    escalateTo: 'platform',
  },
  {
    cause: 'ipam-leak',
    way: 'cilium',
    actions: [
      act(
        'look',
        "Compare the agent's list of allocated addresses (cilium status --all-addresses) with the Pods on the node, and the CiliumNode objects with the nodes that exist.",
      ),
      act('cordon', 'Cordon the node.'),
      act(
        'restart-rollout',
        "Re-create the agent's Pod on this node alone: it rebuilds its pool from the endpoints that live.",
      ),
      act('look', 'Count again: allocated addresses must match the endpoints.'),
    ],
    warnings: [notFiles, notAgain],
    askFor: ['cilium status --all-addresses on the node', 'the CiliumNode object'],
    escalateTo: 'platform',
  },
  {
    cause: 'ipam-leak',
    way: 'whereabouts',
    actions: [
      act(
        'look',
        'List the reservations first (IPPool and overlapping-range objects), then all sandboxes of the cluster, and write down those whose container id exists on no node: a Pod that was made again has the same name.',
      ),
      act('look', 'See whether the ip-reconciler runs and what its log says.'),
      act(
        'fix',
        'Remove exactly those reservations, each checked again just before, and leave a spare address in small ranges; upgrade to a reconciler that reads reservations before Pods.',
      ),
    ],
    warnings: [
      notFiles,
      'Do not delete the whole IPPool object: living Pods hold addresses of it on other nodes.',
      'Do not run a reconciler that lists Pods before reservations: it frees addresses of Pods that just start.',
    ],
    askFor: [
      'the IPPool object',
      "the reconciler's log",
      'the Pods attached to this network in the whole cluster',
    ],
    escalateTo: 'platform',
  },
]

const alive =
  'Do not remove address files or reservations: their owners live, and two Pods would get one address.'
const noRestart = 'Do not restart the network agent or the kubelet for room: there is none to win.'

export const fullAdvice: Advice[] = [
  {
    cause: 'ipam-full-no-leak',
    actions: [
      act(
        'fix',
        "Lower the node's maxPods to what its range can serve, less a margin for Pods that start and stop at once.",
      ),
      act(
        'fix',
        'Or give nodes a larger range (range end, node CIDR mask, addresses per node) and build them anew with it; in a configuration of several sets enlarge the set that the message names.',
      ),
      act('cordon', 'Cordon the node until then, so that waiting Pods go elsewhere.'),
    ],
    warnings: [
      alive,
      noRestart,
      'Do not conclude a leak from free Pod slots: the limit and the range are two settings.',
      'Do not widen the bridge or its mask by hand: the network agent owns that range.',
    ],
    askFor: [
      'the range in the configuration, gateway and range end too',
      "the node's maxPods",
      'owner ids of a few addresses',
    ],
    escalateTo: 'capacity',
  },
  {
    cause: 'ipam-full-no-leak',
    way: 'subnet',
    actions: [
      act(
        'ask',
        'Have the network owner add a subnet or a larger range for Pods: the one behind these nodes is used up.',
      ),
      act(
        'look',
        'See which nodes keep warm addresses or interfaces that nobody uses, and lower those targets.',
      ),
      act('fix', 'Let new nodes and Pods use another subnet meanwhile.'),
    ],
    warnings: [alive, noRestart],
    askFor: ['free addresses in the subnet', 'the warm-pool settings', 'addresses held by each node'],
    escalateTo: 'network',
  },
  ...(['aws', 'azure', 'cilium', 'calico', 'whereabouts'] as const).map(
    (way): Advice => ({
      cause: 'ipam-full-no-leak',
      way,
      actions: [
        act(
          'look',
          "Compare the address manager's list of assigned addresses with the living Pods, to be sure that nobody dead is among them.",
        ),
        act(
          'fix',
          'Lower maxPods to what the node or pool can serve, or enlarge it: larger block, pool, prefix or node type.',
        ),
        act('cordon', 'Cordon the node until then, so that waiting Pods go elsewhere.'),
      ],
      warnings: [alive, noRestart, notFiles],
      askFor: [
        "the address manager's own list of what is assigned to whom",
        'the size of the pool and its limit per node',
      ],
      escalateTo: 'capacity',
    }),
  ),
]
