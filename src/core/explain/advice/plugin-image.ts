import type { Advice } from '../rule.js'

const notNetwork = 'Do not rewrite the network configuration: the image comes before the network.'
const log = "the first event of the pull, which has the registry's own words"

export const imageAdvice: Advice[] = [
  {
    cause: 'image-pull',
    actions: [
      {
        kind: 'look',
        why: "Read the registry's own words in the first event of the pull, and whether one node or all show it.",
      },
      { kind: 'look', why: "Try the same pull on the node by the runtime's own tool." },
    ],
    warnings: [notNetwork, 'Do not delete the Pod again and again: it waits for the same image.'],
    askFor: [log, 'which nodes can pull it'],
    escalateTo: 'application owner',
  },
  {
    cause: 'image-pull',
    way: 'network',
    actions: [
      {
        kind: 'look',
        why: 'From the node, test name, proxy, certificate and connection to the registry, and compare with a node that can.',
      },
      {
        kind: 'fix',
        why: 'Use a mirror or load the image onto this node beforehand, until the way is open.',
      },
    ],
    warnings: [notNetwork, 'Do not switch the check of certificates off for the registry.'],
    askFor: ['the same request to the registry from a healthy node', 'proxy settings of the runtime'],
    escalateTo: 'network',
  },
  {
    cause: 'image-pull',
    way: 'refused',
    actions: [
      {
        kind: 'look',
        why: "See which credential is sent: the Pod's pull secret, or the node's own provider, and what its log says of renewing.",
      },
      {
        kind: 'look',
        why: 'Where only some nodes are refused, compare their clock, role and provider with a good one.',
      },
      {
        kind: 'ask',
        why: 'Have the owner of the registry or of the Pod correct the credential; cordon bad nodes meanwhile.',
      },
    ],
    warnings: [
      'Do not make the repository public.',
      "Do not put a long-lived key into a Secret without its owner's consent.",
      'Do not replace every node for a few that are refused.',
    ],
    askFor: [
      'the kubelet log of a bad node around the pull',
      'clock offset of that node',
      'when it last pulled with success',
    ],
    escalateTo: 'application owner',
  },
  {
    cause: 'image-pull',
    way: 'rate-limit',
    actions: [
      {
        kind: 'wait',
        why: 'The limit is over by itself after its time; images on the node already are not pulled.',
      },
      { kind: 'fix', why: 'Pull with an account or through a mirror, so that the nodes share one copy.' },
    ],
    warnings: ['Do not delete Pods to try again: each try counts.'],
    askFor: ['how many nodes pull without an account'],
    escalateTo: 'platform',
  },
  {
    cause: 'image-pull',
    way: 'name',
    actions: [
      { kind: 'look', why: 'Compare name, tag and registry with what was really pushed.' },
      { kind: 'ask', why: 'Have the owner correct the name or push the image.' },
    ],
    warnings: ['Do not point the tag at another image to get the Pod going.'],
    askFor: ['what was released last'],
    escalateTo: 'application owner',
  },
  {
    cause: 'image-pull',
    way: 'platform',
    actions: [
      { kind: 'look', why: "Compare the platforms of the image with the node's architecture." },
      { kind: 'ask', why: 'Have it built for that architecture, or the Pod kept to nodes that fit.' },
    ],
    warnings: [notNetwork],
    askFor: ["the node's architecture"],
    escalateTo: 'application owner',
  },
  {
    cause: 'image-pull',
    way: 'agent',
    actions: [
      {
        kind: 'look',
        why: 'From this node, test name, proxy, certificate and connection to the registry, and compare with a healthy node.',
      },
      { kind: 'fix', why: "Load the agent's image onto this node beforehand, or use a mirror for it." },
      { kind: 'wait', why: 'The node gets its network by itself once the agent runs.' },
    ],
    warnings: [notNetwork, 'Do not roll the agent back on nodes where it is healthy.'],
    askFor: ['the same request to the registry from a healthy node'],
    escalateTo: 'platform',
  },
  {
    cause: 'image-pull',
    way: 'sandbox',
    actions: [
      {
        kind: 'look',
        why: "See which sandbox image the runtime's settings name, and whether this node can reach or already has it.",
      },
      {
        kind: 'fix',
        why: 'Name an image in those settings that the node can pull, or load it under exactly that name.',
      },
      { kind: 'look', why: 'See that clean-up of images does not take it away again.' },
    ],
    warnings: [
      notNetwork,
      "Do not change the Pods' own images or pull secrets: the sandbox image is the runtime's.",
    ],
    askFor: ["the sandbox image in the runtime's settings", 'the images on the node'],
    escalateTo: 'platform',
  },
]
