import type { Action, Advice } from '../rule.js'

const act = (kind: Action['kind'], why: string): Action => ({ kind, why })
const notNetwork = 'Do not begin with the network plugin or its addresses: the node itself is not healthy.'
const noForce =
  'Do not force-delete Pods of this node: they may still run there, and their addresses and volumes stay behind.'
const oneByOne = 'Do not reboot or change other nodes to compare: keep the quorum and the healthy ones.'
const noTaint = 'Do not remove the taint by hand: it is put back as long as the condition holds.'

export const nodeAdvice: Advice[] = [
  {
    cause: 'node-not-ready',
    actions: [
      act('look', "Read the message of the node's Ready condition and the kubelet's journal on the node."),
      act('look', 'See whether the runtime answers, and whether the node reaches the API server.'),
      act('ask', 'Have the platform mend what the kubelet names.'),
    ],
    warnings: [notNetwork, noForce, oneByOne],
    askFor: ['kubectl describe node', "the kubelet's journal from when the node went away"],
    escalateTo: 'platform',
  },
  {
    cause: 'node-not-ready',
    way: 'hang',
    actions: [
      act('look', 'See whether the runtime still answers: list containers with a time limit.'),
      act(
        'look',
        'Save a stack dump of the runtime and the load of the disk before anything is restarted: it shows what hangs.',
      ),
      act(
        'restart-unit',
        'Restart the runtime, then the kubelet if it does not recover; a reboot is the last step.',
      ),
      act('look', 'Afterwards compare address files with sandboxes: teardowns were skipped meanwhile.'),
    ],
    warnings: [notNetwork, noForce],
    askFor: ['whether crictl ps or docker ps comes back', "the runtime's journal"],
    escalateTo: 'platform',
  },
  {
    cause: 'node-not-ready',
    way: 'kubelet-stopped',
    actions: [
      act(
        'look',
        'See on the machine whether it runs at all and whether the kubelet does; its last lines say why it stopped.',
      ),
      act('fix', 'Correct what these lines name, then start the kubelet.'),
      act('ask', 'If the machine does not answer, hand it to the platform.'),
    ],
    warnings: [notNetwork, noForce, oneByOne],
    askFor: ["the state of the kubelet's unit and its last lines", 'whether the machine answers'],
    escalateTo: 'platform',
  },
  {
    cause: 'node-not-ready',
    way: 'swap',
    actions: [
      act('fix', 'Switch swap off on this node and start the kubelet: it refuses to run with swap.'),
      act(
        'fix',
        'Remove the swap entry from the mount table and from systemd too, or the next reboot brings it back.',
      ),
      act('look', 'Check the other nodes for the same entry before any of them is rebooted.'),
    ],
    warnings: [notNetwork, oneByOne, 'Do not run the whole installation again on all nodes for this one.'],
    askFor: [],
    escalateTo: 'platform',
  },
  {
    cause: 'node-not-ready',
    way: 'certificate',
    actions: [
      act(
        'look',
        "Check the clock and the dates of the kubelet's client certificate, on this node and the others.",
      ),
      act(
        'fix',
        "Renew the certificate by the distribution's own way, one node at a time, servers before agents.",
      ),
      act('look', 'See that rotation is on and that its requests are approved.'),
    ],
    warnings: [notNetwork, noForce, 'Do not turn certificate checks off and do not set the clock back.'],
    askFor: ['the end dates of the certificates', 'the clock of the node', 'pending certificate requests'],
    escalateTo: 'platform',
  },
  {
    cause: 'node-pressure',
    actions: [
      act(
        'look',
        'Find what uses the resource: filesystems and inodes, memory, processes; and what grew lately.',
      ),
      act(
        'fix',
        'Free or enlarge it on the filesystem that the kubelet measures; the condition clears after some minutes.',
      ),
      act('fix', 'Give Pods requests and limits for it, and alert before the eviction threshold.'),
    ],
    warnings: [
      noTaint,
      'Do not switch eviction off or lower its threshold: a full node loses all its Pods.',
      'Do not take the evicted Pod for the culprit: it may only be the one that had no request.',
    ],
    askFor: ['kubectl describe node', 'df -h and df -i', 'the biggest folders of the runtime and of logs'],
    escalateTo: 'capacity',
  },
  {
    cause: 'node-pressure',
    way: 'other-filesystem',
    actions: [
      act(
        'look',
        'Find which filesystem holds images and container layers (root and state folder of the runtime) and the kubelet: that one is measured.',
      ),
      act('fix', 'Free space there now; the taint goes by itself.'),
      act('fix', "Move the runtime's folder to a disk that is large enough."),
    ],
    warnings: [
      noTaint,
      'Do not grow the root disk: it has room.',
      'Do not look for it in the scheduler or the network.',
    ],
    askFor: ["the runtime's root and state folders", 'df -h and df -i of exactly these'],
    escalateTo: 'platform',
  },
]
