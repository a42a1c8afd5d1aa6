import { noRemovalAfter } from '../../../src/core/drain/after-drain.js'
import {
  type Bundle,
  known,
  type PodFacts,
  type Runtime,
  unknown,
} from '../../../src/core/evidence/bundle.js'
import { leakingNode, now, pod, sandbox } from '../leaking-node.js'

const daemonSet = { kind: 'DaemonSet', name: 'agent', uid: 'ds' }
const agent = { namespace: 'payments', name: 'api-2' }
const runtime = (endpointFrom: string): Runtime => ({
  name: 'containerd',
  version: '1.7.24',
  endpoint: 'unix:///run/containerd/containerd.sock',
  endpointFrom,
  startedAt: undefined,
})
/** Pod 2 stays, Pod 3 moves. */
const afterDrain = (stays: Partial<PodFacts>, over: Partial<Bundle> = {}): string | undefined =>
  noRemovalAfter(
    leakingNode(0, 5, {
      pods: known([pod(2, stays), pod(3)], now),
      sandboxes: known([sandbox(2), sandbox(3)], now),
      runtime: known(runtime('a known default path'), now),
      ...over,
    }),
    new Set([`${agent.namespace}/${agent.name}`]),
  )

describe('P-A4: whether addresses can be removed once a node is drained is known before', () => {
  test('a Pod on the host network that stays proves a guessed endpoint', () => {
    expect(afterDrain({ controller: daemonSet, hostNetwork: true })).toBeUndefined()
  })
  test('where only static Pods stay, a guessed endpoint can be proven no longer', () => {
    expect(afterDrain({ mirror: true, hostNetwork: true })).toMatch(/is not from the kubelet's configuration/)
    const told = known(runtime('/var/lib/kubelet/config.yaml'), now)
    expect(afterDrain({ mirror: true, hostNetwork: true }, { runtime: told })).toBeUndefined()
  })
  test('where nothing stays, the list of the runtime is empty and proves nothing', () => {
    const told = known(runtime('/var/lib/kubelet/config.yaml'), now)
    const pods = known([pod(3)], now)
    expect(afterDrain({}, { pods, sandboxes: known([sandbox(3)], now), runtime: told })).toMatch(
      /no sandbox at all/,
    )
  })
  test('what a silent node would say is not guessed', () => {
    const silent = unknown('connection refused', now)
    expect(afterDrain({}, { sandboxes: silent })).toBeUndefined()
    expect(afterDrain({}, { pods: silent })).toBeUndefined()
  })
})
