import type { Action, Advice } from '../rule.js'

const act = (kind: Action['kind'], why: string): Action => ({ kind, why })
const notNetwork = 'Do not look for a network or address fault: the Pod was placed on no node yet.'
const keepTaints = 'Do not remove taints from nodes: they keep other work away on purpose.'
const keepBudget =
  "Do not delete the budget or the Pod, and do not bypass eviction, without its owner's consent."

export const placementAdvice: Advice[] = [
  {
    cause: 'scheduling-blocked',
    actions: [
      act(
        'look',
        "Read the scheduler's reasons one by one: each counts nodes, and together they are all nodes.",
      ),
      act('fix', "Correct the Pod's own request, selector or toleration, or make room, as the reason says."),
    ],
    warnings: [notNetwork, keepTaints],
    askFor: ["the Pod's FailedScheduling event, whole", 'taints, labels and allocatable of the nodes'],
    escalateTo: undefined,
  },
  {
    cause: 'scheduling-blocked',
    way: 'cordoned',
    actions: [
      act(
        'ask',
        'Ask who cordoned the nodes and why: change log, annotations, an upgrade or drain that ended early.',
      ),
      act('uncordon', 'If that work is over, allow Pods there again.'),
      act('fix', "Make it the procedure's last step, and alert on nodes that stay cordoned."),
    ],
    warnings: [
      'Do not uncordon blindly: somebody may have a reason.',
      'Do not add nodes for missing processor or memory: the cordoned ones have it.',
    ],
    askFor: ['who cordoned the nodes, when and why'],
    escalateTo: 'platform',
  },
  {
    cause: 'scheduling-blocked',
    way: 'ports',
    actions: [
      act(
        'look',
        'Find the Pod that holds the host port: an old one of the same workload, or another workload.',
      ),
      act(
        'fix',
        'For a rollout let the old Pod go first (no surge, one unavailable at a time), or give up the host port.',
      ),
    ],
    warnings: [
      notNetwork,
      'Do not change the node selector: a DaemonSet Pod is meant for one node, and all others do not match by design.',
      'Do not delete all old Pods at once, and do not add nodes.',
    ],
    askFor: ['the update strategy and host ports of the workload', 'which Pod holds the port on the node'],
    escalateTo: 'application owner',
  },
  {
    cause: 'scheduling-blocked',
    way: 'daemonset',
    actions: [
      act(
        'look',
        "Compare the taints and labels of the nodes without a Pod with the DaemonSet's tolerations and selector.",
      ),
      act('fix', 'Add the toleration that is meant to be there.'),
      act('fix', 'Let monitoring compare desired with the number of nodes, not with ready.'),
    ],
    warnings: [keepTaints, notNetwork],
    askFor: ['the taints of all nodes', "the DaemonSet's tolerations and node selector"],
    escalateTo: 'application owner',
  },
  {
    cause: 'scheduling-blocked',
    way: 'volume',
    actions: [
      act(
        'look',
        "Read the claim and its volume: is it bound, and which zone or node does the volume's affinity name?",
      ),
      act('look', 'See whether a node with these labels exists and has room.'),
      act('fix', 'Restore the label or a node in that zone, or mend the provisioning of the claim.'),
    ],
    warnings: [
      notNetwork,
      'Do not delete the claim or the volume to have the Pod placed: the data goes with it.',
    ],
    askFor: ['the claim and the volume', 'zone labels of all nodes'],
    escalateTo: 'storage',
  },
  {
    cause: 'pdb-blocked',
    actions: [
      act('look', 'See which budget refuses, how many of its Pods are ready, and why no more are.'),
      act(
        'fix',
        'Start another replica elsewhere, or mend the one that is not ready; the drain that waits goes on by itself.',
      ),
      act('ask', "Or agree on a short outage with the workload's owner."),
    ],
    warnings: [
      keepBudget,
      'Do not break the drain off and reboot: the Pod dies without the protection that its owner asked for.',
      'Do not press on with retries: the refusal is a budget, not a busy API server.',
    ],
    askFor: ['kubectl get pdb in that namespace', 'the replicas of the workload and where they run'],
    escalateTo: 'application owner',
  },
  {
    cause: 'drain-blocked',
    actions: [
      act(
        'look',
        'List the Pods that the drain names and what they would lose: local data, or a Pod that nothing starts again.',
      ),
      act('ask', 'Ask their owners whether that may go.'),
      act('fix', 'Then drain this one node with the option for exactly that kind of Pod.'),
      act(
        'uncordon',
        'If the work is given up instead, allow Pods on the node again: the drain left it cordoned.',
      ),
    ],
    warnings: [
      'Do not set options that delete local data or Pods without a controller for all nodes: look at the Pods first.',
      'Do not leave the node cordoned: the drain cordoned it before it stopped.',
    ],
    askFor: ['the whole output of the drain', 'the owners and volumes of the Pods that it names'],
    escalateTo: 'application owner',
  },
]
