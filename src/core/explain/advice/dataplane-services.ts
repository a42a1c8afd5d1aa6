import type { Action, Advice } from '../rule.js'

const act = (kind: Action['kind'], why: string): Action => ({ kind, why })

const noPlugin = 'Do not restart the network plugin or the kubelet: the network does what it is told.'

const none = (way: string | undefined, actions: Action[], more: string[] = []): Advice => ({
  cause: 'service-no-endpoints',
  ...(way === undefined ? {} : { way }),
  actions: [...actions, act('look', "Check that the service's endpoints list its Pods.")],
  warnings: [
    ...more,
    'Do not restart kube-proxy: its refusal is right as long as the service has no backend.',
    noPlugin,
  ],
  askFor: [
    "the service's selector and ports",
    "the Pods' labels, ports and readiness",
    "the service's endpoints",
  ],
  escalateTo: 'application owner',
})

export const endpointsAdvice: Advice[] = [
  none(undefined, [
    act(
      'look',
      "Compare the service's selector with the labels of its Pods, and see whether these are ready.",
    ),
    act(
      'fix',
      'Correct what differs: selector, labels, the name of the target port, or what keeps the Pods from being ready.',
    ),
  ]),
  none(
    'selector',
    [act('fix', "Correct the service's selector, or the labels of the Pods' template, so that they agree.")],
    ['Do not relabel running Pods alone: the next ones come with the old labels.'],
  ),
  none(
    'not-ready',
    [
      act('look', 'Read why no Pod is ready: the events of its readiness probe and its own log.'),
      act('fix', 'Mend that; a Pod that is ready is a backend at once.'),
    ],
    ['Do not remove the readiness probe: traffic would reach Pods that cannot answer.'],
  ),
  none('port-name', [
    act('fix', "Give the container's port the name that the service sends to, or name the port it has."),
  ]),
  none('local', [
    act('look', 'See on which nodes the Pods run: with the Local policy the others drop by design.'),
    act(
      'fix',
      'Send only to nodes with a Pod (health check of the load balancer), or change the policy; where this node has a Pod, compare the name that kube-proxy has for it.',
    ),
  ]),
]

const listens = (way: string | undefined, actions: Action[]): Advice => ({
  cause: 'app-not-listening',
  ...(way === undefined ? {} : { way }),
  actions: [
    ...actions,
    act('look', 'Check inside the Pod what listens (ss -ltn), and that the probe passes.'),
  ],
  warnings: [
    'Do not restart the network plugin or drain the node: the packets arrive, the Pod refuses them.',
    'Do not loosen or remove the probe: it shows what every client would meet.',
  ],
  askFor: [
    'what listens inside the Pod',
    "the application's log of its start",
    'what was changed in its image or settings',
  ],
  escalateTo: 'application owner',
})

export const listeningAdvice: Advice[] = [
  listens(undefined, [
    act(
      'look',
      'See inside the Pod on which address and port the process listens, and whether it has come up at all.',
    ),
    act(
      'fix',
      'Make the application listen on the address of the Pod and on the port that the service and the probe name.',
    ),
  ]),
  listens('loopback', [
    act(
      'fix',
      'Set the bind address of the application back to all addresses (0.0.0.0 or ::) or to that of the Pod.',
    ),
  ]),
  listens('port', [
    act('fix', 'Make port of the process, port of the container, target of the service and probe the same.'),
  ]),
]
