import type { Advice } from '../rule.js'

const noHand =
  'Do not make the file or socket by hand that the plugin misses: only the agent knows what belongs in it.'
const notAll = 'Do not restart the agent on all nodes: where it runs, it is healthy.'
const victims = 'Do not delete or debug the Pods that cannot start: they are tried again once the agent runs.'
const previous = "the previous log of the agent's container, of its init containers too"

export const agentAdvice: Advice[] = [
  {
    cause: 'cni-agent-down',
    actions: [
      {
        kind: 'look',
        why: "See the agent's Pod on this node: its state, its events, and the log of the container that is not up.",
      },
      { kind: 'look', why: 'Compare with a node where it runs: kernel, mounts, the way to the API server.' },
      { kind: 'cordon', why: 'Keep new Pods off this node until the agent stays up.' },
    ],
    warnings: [
      noHand,
      notAll,
      victims,
      'Do not restart the kubelet or the runtime: neither is what does not answer.',
    ],
    askFor: ["the agent's Pod on this node with its events", previous],
    escalateTo: 'platform',
  },
  {
    cause: 'cni-agent-down',
    way: 'starting',
    actions: [
      {
        kind: 'wait',
        why: "The agent is just coming up: wait for its Pod on this node to be Ready; the kubelet's retries then succeed.",
      },
      {
        kind: 'look',
        why: 'If it is not Ready after five minutes, read the logs of its init and main containers.',
      },
    ],
    warnings: [
      noHand,
      'Do not restart the kubelet or the runtime: each would begin the wait anew.',
      'Do not call anybody for a failure of the first minutes after a boot.',
    ],
    askFor: ["the agent's log, if it lasts"],
    escalateTo: undefined,
  },
  {
    cause: 'cni-agent-down',
    way: 'crashing',
    actions: [
      {
        kind: 'look',
        why: "Read the agent's previous log (of the init container that ends, where one does) and its exit code and reason.",
      },
      {
        kind: 'look',
        why: 'Compare kernel, modules, mounts, device names and old state on this node with a node where it runs.',
      },
      { kind: 'cordon', why: 'Keep new Pods off this node until the agent stays up.' },
    ],
    warnings: [
      noHand,
      notAll,
      victims,
      'Do not restart the kubelet: it is not what crashes.',
      'Do not take Ready=True for proof that Pods get a network.',
      'Do not name a root cause before the log of the crash was read.',
    ],
    askFor: [previous, "the agent's exit code and last reason", 'whether another node shows the same'],
    escalateTo: 'platform',
  },
  {
    cause: 'cni-agent-down',
    way: 'image',
    actions: [
      { kind: 'look', why: "Read the pull events of the agent's Pod: it starts when its image is there." },
    ],
    warnings: [notAll, 'Do not rewrite the network configuration: the agent has not had its turn yet.'],
    askFor: ["the events of the agent's Pod"],
    escalateTo: 'platform',
  },
  {
    cause: 'cni-agent-down',
    way: 'no-range',
    actions: [
      {
        kind: 'look',
        why: 'See whether the node has a Pod range, and whether the controller manager gives ranges and has one left.',
      },
      {
        kind: 'fix',
        why: 'Have the cluster range set where ranges are given out; the agent then starts by itself.',
      },
    ],
    warnings: [noHand, 'Do not type a range into the Node object by hand: two nodes could get the same.'],
    askFor: ["every node's Pod range", "the controller manager's settings for ranges"],
    escalateTo: 'platform',
  },
]

const noAdmin =
  'Do not give the plugin more rights than it is meant to have, least of all those of an administrator.'
const noInsecure = 'Do not switch the check of certificates off.'
const noData = 'Do not delete address data: nothing says that it is wrong.'

export const authAdvice: Advice[] = [
  {
    cause: 'cni-auth',
    actions: [
      {
        kind: 'fix',
        why: "Restart the network agent's Pod on this node alone: it writes the plugin's credential anew.",
      },
      {
        kind: 'look',
        why: 'Read the credential before and after: expiry, issuer, audience, and the clock of the node.',
      },
      {
        kind: 'fix',
        why: 'If it comes back, update the network to a release that renews its token in time.',
      },
    ],
    warnings: [noData, noAdmin, 'Do not take a Running and Ready agent for proof that the credential works.'],
    askFor: [
      "expiry and issuer of the token in the plugin's kubeconfig",
      'whether keys or certificates were rotated',
    ],
    escalateTo: 'platform',
  },
  {
    cause: 'cni-auth',
    way: 'other-cluster',
    actions: [
      {
        kind: 'look',
        why: "Compare the authority in the plugin's kubeconfig with the cluster's own, by fingerprint, and the age of the file.",
      },
      {
        kind: 'fix',
        why: 'Where it is of an earlier cluster, move the old files away (keep a copy) and install the network this cluster is meant to have; where the authority was rotated, let the agent write it anew.',
      },
      { kind: 'wait', why: 'The Pods that wait are tried again by themselves afterwards.' },
    ],
    warnings: [
      noInsecure,
      noData,
      'Do not change or update the Pods that wait: they are victims.',
      'Do not reset the node without asking: a reset leaves those files in place anyway.',
    ],
    askFor: ['whether this host was part of an earlier cluster', 'which network this cluster should have'],
    escalateTo: 'platform',
  },
  {
    cause: 'cni-auth',
    way: 'permission',
    actions: [
      {
        kind: 'look',
        why: 'See which right is refused to whom, and compare it with what that release of the network ships.',
      },
      { kind: 'fix', why: 'Apply the roles that belong to the installed release, and no more.' },
    ],
    warnings: [noAdmin, noData],
    askFor: ['which account or role is refused, and what was changed last'],
    escalateTo: 'platform',
  },
  {
    cause: 'cni-auth',
    way: 'clock',
    actions: [
      { kind: 'look', why: 'Compare the clock of the node with that of the API server.' },
      {
        kind: 'fix',
        why: "Mend the node's time service; credentials are valid again when the clock is right.",
      },
    ],
    warnings: [
      noInsecure,
      'Do not issue certificates anew before the clock is right: they would be wrong too.',
    ],
    askFor: ['the clock of the node and of the control plane', 'the state of the time service'],
    escalateTo: 'platform',
  },
]
