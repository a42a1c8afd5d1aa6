import type { Advice } from '../rule.js'

const notCni = 'Do not look at the network plugin: it was not reached, or is not what fails.'
const oneNode = 'Do not change more nodes before one of them is right.'

export const runtimeAdvice: Advice[] = [
  {
    cause: 'runtime-error',
    actions: [
      {
        kind: 'look',
        why: "Read the runtime's own journal around the first failure, and the kernel's log beside it.",
      },
      { kind: 'cordon', why: 'Keep new Pods off this node until its runtime works.' },
      { kind: 'look', why: 'Compare versions and settings of the runtime with a healthy node.' },
    ],
    warnings: [notCni, "Do not wipe the runtime's data: it holds every container of the node.", oneNode],
    askFor: ["the runtime's journal around the first failure", 'versions of the runtime and the kernel'],
    escalateTo: 'platform',
  },
  {
    cause: 'runtime-error',
    way: 'handler',
    actions: [
      {
        kind: 'look',
        why: 'See which settings file the running runtime has loaded, and whether the handler stands in it.',
      },
      {
        kind: 'fix',
        why: 'Bring the handler into the file that is really loaded, by the tool that should write it.',
      },
      {
        kind: 'fix',
        why: 'Have the runtime read it once, and see that it lists the handler; the Pods then start by themselves.',
      },
    ],
    warnings: [
      notCni,
      'Do not make that handler the default of all Pods.',
      'Do not restart the runtime again and again: it reads the same file each time.',
    ],
    askFor: ['the settings file the runtime was started with', 'which handlers the runtime lists'],
    escalateTo: 'platform',
  },
  {
    cause: 'runtime-error',
    way: 'cgroup',
    actions: [
      {
        kind: 'look',
        why: 'Compare the driver of control groups in the settings of the kubelet and of the runtime, and the version the host uses.',
      },
      {
        kind: 'fix',
        why: 'Set the same driver on both sides on this node, then have the runtime and after it the kubelet read it.',
      },
      { kind: 'look', why: 'See that static Pods come back before another node is touched.' },
    ],
    warnings: [notCni, 'Do not run the installer on more nodes before one of them is right.'],
    askFor: ['the driver of control groups in both settings'],
    escalateTo: 'platform',
  },
  {
    cause: 'runtime-error',
    way: 'security',
    actions: [
      {
        kind: 'look',
        why: 'See which profile or label is refused, and whether it is loaded on this node as on others.',
      },
      { kind: 'fix', why: 'Load the profile, or correct the label or policy, by the tool that manages it.' },
    ],
    warnings: ['Do not switch the security module off to see whether it helps.', notCni],
    askFor: ['denials in the audit log', "the Pod's security settings"],
    escalateTo: 'platform',
  },
  {
    cause: 'runtime-error',
    way: 'limits',
    actions: [
      { kind: 'cordon', why: 'Keep new Pods off this node: nothing that must start a process works on it.' },
      {
        kind: 'look',
        why: 'Find which program has how many processes or threads, and which limit is reached.',
      },
      {
        kind: 'drain',
        why: 'Move what can be moved and have the node made anew where it is cheap; else stop the program that leaks first.',
      },
      {
        kind: 'fix',
        why: 'Watch the number of threads: the pressure condition of the node does not show it in time.',
      },
    ],
    warnings: [
      'Do not clean addresses up and leave the processes: teardown needs processes too, so they would come back.',
      'Do not trust PIDPressure=False: it looks at one of several limits.',
      'Do not take an empty answer of a plugin for a broken binary: it was not able to run.',
    ],
    askFor: ['thread count by program', "the runtime's journal for failed teardowns"],
    escalateTo: 'platform',
  },
  {
    cause: 'runtime-error',
    way: 'slow',
    actions: [
      {
        kind: 'look',
        why: "See in the runtime's journal which step took the time: image, disk, network plugin or the low-level runtime.",
      },
      { kind: 'cordon', why: 'Keep new Pods off this node while it cannot keep up.' },
      { kind: 'look', why: 'Look at load, disk latency and processes that hang in the kernel.' },
    ],
    warnings: [
      'Do not delete and make Pods again and again: each try adds to the load and leaves a half-made sandbox.',
    ],
    askFor: ["the runtime's journal from the first to the second try", 'disk latency and load'],
    escalateTo: 'platform',
  },
  {
    cause: 'runtime-error',
    way: 'down',
    actions: [
      {
        kind: 'look',
        why: "See whether the runtime's unit runs, and read the end of its journal and the integrity of its binary and settings.",
      },
      {
        kind: 'fix',
        why: 'Mend what ends it (package, settings, disk); the kubelet finds it again by itself.',
      },
      { kind: 'cordon', why: 'Keep new Pods off this node meanwhile.' },
    ],
    warnings: [
      notCni,
      "Do not wipe the runtime's data.",
      'Do not restart it in a loop: read first why it ended.',
    ],
    askFor: ["the runtime unit's state and the end of its journal", 'what was updated last'],
    escalateTo: 'platform',
  },
  {
    cause: 'runtime-error',
    way: 'cri-version',
    actions: [
      {
        kind: 'look',
        why: 'Compare the versions of the kubelet and the runtime, and whether the CRI plugin is enabled in the settings.',
      },
      {
        kind: 'fix',
        why: 'Update the runtime to one that speaks the version the kubelet asks for, or enable its plugin.',
      },
    ],
    warnings: [notCni, oneNode],
    askFor: ['versions of the kubelet and the runtime', "the runtime's settings"],
    escalateTo: 'platform',
  },
]

const tool = 'Do not edit the configuration to go without the plugin: Pods would lose what it does.'
const origin = 'Do not copy binaries of unknown origin, or of another architecture.'

export const binaryAdvice: Advice[] = [
  {
    cause: 'cni-plugin-missing',
    actions: [
      {
        kind: 'look',
        why: 'Compare the listing of the binaries with a healthy node: who should have installed the one that is missing.',
      },
      {
        kind: 'fix',
        why: 'Install a current release of the standard plugins, or the program the binary belongs to, on every node and so that it stays.',
      },
      { kind: 'wait', why: 'The kubelet tries the Pods again by itself; see one start.' },
    ],
    warnings: [tool, origin, 'Do not reinstall the network for a standard plugin: many do not bring those.'],
    askFor: ['the listing of the directory on this and on a healthy node'],
    escalateTo: 'platform',
  },
  {
    cause: 'cni-plugin-missing',
    way: 'host-tool',
    actions: [
      {
        kind: 'look',
        why: 'See whether the program is installed and lies in the search path of the runtime, as on a healthy node.',
      },
      {
        kind: 'fix',
        why: "Install it by the host's own packages or image, so that it survives the next update.",
      },
    ],
    warnings: [
      tool,
      'Do not delete address files: teardown could not finish and is made good when the program is there.',
    ],
    askFor: ['what changed in the image or packages of the host'],
    escalateTo: 'platform',
  },
  {
    cause: 'cni-plugin-missing',
    way: 'cannot-run',
    actions: [
      { kind: 'look', why: "Compare the binary's architecture, size and libraries with the node's." },
      { kind: 'fix', why: "Install the build that fits the node, by the network's own installer." },
    ],
    warnings: [origin, tool],
    askFor: ["the binary's type and the node's architecture"],
    escalateTo: 'platform',
  },
  {
    cause: 'cni-plugin-missing',
    way: 'denied',
    actions: [
      {
        kind: 'look',
        why: "See the binary's mode, the mount options of its filesystem, and denials in the audit log.",
      },
      { kind: 'fix', why: 'Correct the one of these that forbids it.' },
    ],
    warnings: [
      'Do not switch the security module off to see whether it helps.',
      'Do not open the mode for everybody to write.',
    ],
    askFor: ['mode and mount options', 'denials in the audit log'],
    escalateTo: 'platform',
  },
  {
    cause: 'cni-plugin-missing',
    way: 'replaced',
    actions: [
      { kind: 'wait', why: 'The binary was being replaced at that moment: the next try finds the new one.' },
    ],
    warnings: ['Do not restart anything for it.'],
    askFor: ['whether it goes on after the update'],
    escalateTo: undefined,
  },
]
