import type { Advice } from '../rule.js'

const noCopy =
  "Do not copy a configuration from another node: it carries that node's state and hides why this one has none."
const noStore =
  'Do not delete address files: the configuration is what is wrong, and living Pods own addresses.'
const everyFile = 'every file in the directory that the runtime really reads, with its time'

export const configAdvice: Advice[] = [
  {
    cause: 'cni-config-missing',
    actions: [
      {
        kind: 'look',
        why: "See the network agent's Pod on this node: does it exist, and what does its init container wait for; it is what writes the configuration.",
      },
      {
        kind: 'look',
        why: 'List the directory that the runtime reads, and see that the agent writes into the same one.',
      },
      {
        kind: 'fix',
        why: 'Mend what keeps that Pod from running; the file and a Ready node follow by themselves.',
      },
    ],
    warnings: [
      noCopy,
      'Do not change kubelet flags after an old guide: newer kubelets do not read network settings at all.',
      'Do not reset or reinstall the node: nothing shows that more than the file is missing.',
    ],
    askFor: [
      "the network agent's Pod on this node, with its events",
      'a listing of the directory that the runtime reads',
    ],
    escalateTo: 'platform',
  },
  {
    cause: 'cni-config-wrong',
    actions: [
      {
        kind: 'look',
        why: 'Find which directory and which file the runtime really uses: the first by name is the network.',
      },
      {
        kind: 'fix',
        why: "Put the cluster's own configuration in effect there, keeping a copy of what was there.",
      },
      { kind: 'test-pod', why: "Try one new Pod and see that its address is of the node's own range." },
    ],
    warnings: [noStore, 'Do not restart the network agent for it: it is not what reads the wrong file.'],
    askFor: [everyFile],
    escalateTo: 'platform',
  },
  {
    cause: 'cni-config-wrong',
    way: 'foreign',
    actions: [
      {
        kind: 'look',
        why: 'Find the directory that the runtime really reads, by its flag or its own settings, and list it on every node.',
      },
      {
        kind: 'fix',
        why: 'Move the file that is not of this network out of that directory (keep a copy); what a removed network left goes with it.',
      },
      {
        kind: 'test-pod',
        why: "Let one Pod be tried again and see that its address is of the node's own range.",
      },
      {
        kind: 'ask',
        why: 'Have Pods made anew that got an address from the wrong network, by their owners.',
      },
    ],
    warnings: [
      noStore,
      'Do not make the files by hand that the foreign plugin misses, nor install its network or renew its permissions: nobody here needs it.',
      "Do not restart the cluster's own network agent: it is healthy, and it is not asked.",
    ],
    askFor: ['the directory from which the kubelet or runtime reads, and every file in it'],
    escalateTo: 'platform',
  },
  {
    cause: 'cni-config-wrong',
    way: 'directory',
    actions: [
      {
        kind: 'look',
        why: "Compare the runtime's own setting with the directory into which the agent writes.",
      },
      {
        kind: 'fix',
        why: 'Make both the same in the settings of the installation, and let the runtime read them once.',
      },
    ],
    warnings: [
      noCopy,
      'Do not link or copy files by hand: the next update of the agent would write to the old place again.',
    ],
    askFor: ["the runtime's settings for network directories", 'the host paths that the agent mounts'],
    escalateTo: 'platform',
  },
  {
    cause: 'cni-config-wrong',
    way: 'invalid',
    actions: [
      {
        kind: 'look',
        why: 'Read the file that the runtime uses against the specification of its own version.',
      },
      {
        kind: 'fix',
        why: 'Correct the part that is refused in the source from which it is installed, on every node.',
      },
      { kind: 'look', why: 'See what changed last: the runtime, the plugins or the file.' },
    ],
    warnings: [
      noStore,
      "Do not change the nodes' Pod ranges: the file is refused before any address is given.",
    ],
    askFor: ['the configuration file, whole', 'versions of the runtime and of the plugins'],
    escalateTo: 'platform',
  },
  {
    cause: 'cni-config-wrong',
    way: 'attachment',
    actions: [
      {
        kind: 'look',
        why: "Compare the Pod's network annotation with the network attachments of its namespace.",
      },
      { kind: 'ask', why: 'Have the owner correct the name, or the attachment that is not valid.' },
    ],
    warnings: [
      'Do not take the second network out of the annotation without its owner: the application may need it.',
    ],
    askFor: ["the Pod's annotations", 'the attachment definitions of its namespace'],
    escalateTo: 'application owner',
  },
  {
    cause: 'cni-config-wrong',
    way: 'stale-plugin',
    actions: [
      {
        kind: 'look',
        why: 'Find the configuration that still names the plugin, and whether anybody meant to have it.',
      },
      {
        kind: 'fix',
        why: 'Take its line or file out where its program was removed on purpose, keeping a copy.',
      },
    ],
    warnings: ['Do not fetch the binary from anywhere: the program behind it is gone.', noStore],
    askFor: [everyFile, 'whether that program was removed, and when'],
    escalateTo: 'platform',
  },
  {
    cause: 'cni-config-wrong',
    way: 'search-path',
    actions: [
      { kind: 'look', why: "Compare the runtime's setting for plugin binaries with where they lie." },
      { kind: 'fix', why: 'Make the setting name that directory, and let the runtime read it once.' },
    ],
    warnings: ['Do not edit the network configuration to go without the plugin.'],
    askFor: ["the runtime's settings for network directories"],
    escalateTo: 'platform',
  },
  {
    cause: 'cni-config-wrong',
    way: 'leftover',
    actions: [
      {
        kind: 'look',
        why: 'Compare the times of the files, and the authority in the kubeconfig beside them, with this cluster.',
      },
      {
        kind: 'fix',
        why: 'Move the old files out of the directory (keep a copy), then install the network that this cluster is meant to have.',
      },
    ],
    warnings: [
      'Do not switch the check of certificates off: it would hide that the file is of another cluster.',
      'Do not reset the node without asking: a reset leaves these files in place anyway.',
    ],
    askFor: ['whether this host was part of an earlier cluster', 'which network this cluster should have'],
    escalateTo: 'platform',
  },
]
