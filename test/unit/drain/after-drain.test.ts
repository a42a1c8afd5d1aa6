import { removalOnceDrained } from '../../../src/core/drain/after-drain.js'
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
const minutes = 60_000
/** Pod 2 stays, Pod 3 moves; addresses from .7 on are leaked. */
const drained = (stays: Partial<PodFacts>, over: Partial<Bundle> = {}) =>
  removalOnceDrained(
    leakingNode(5, 5, {
      pods: known([pod(2, stays), pod(3)], now),
      sandboxes: known([sandbox(2), sandbox(3)], now),
      runtime: known(runtime('a known default path'), now),
      ...over,
    }),
    new Set([`${agent.namespace}/${agent.name}`]),
    15 * minutes,
  )
const refusalAfter = (...of: Parameters<typeof drained>): string | undefined => {
  const plan = drained(...of)
  return 'refused' in plan ? plan.refused.join('; ') : undefined
}
const proves = { controller: daemonSet, hostNetwork: true }

describe('P-A4: whether addresses can be removed once a node is drained is known before', () => {
  test('a Pod on the host network that stays proves a guessed endpoint', () => {
    expect(refusalAfter(proves)).toBeUndefined()
  })
  test('where only static Pods stay, a guessed endpoint can be proven no longer', () => {
    expect(refusalAfter({ mirror: true, hostNetwork: true })).toMatch(
      /is not from the kubelet's configuration/,
    )
    const told = known(runtime('/var/lib/kubelet/config.yaml'), now)
    expect(refusalAfter({ mirror: true, hostNetwork: true }, { runtime: told })).toBeUndefined()
  })
  test('where nothing stays, the list of the runtime is empty and proves nothing', () => {
    const told = known(runtime('/var/lib/kubelet/config.yaml'), now)
    const pods = known([pod(3)], now)
    expect(refusalAfter({}, { pods, sandboxes: known([sandbox(3)], now), runtime: told })).toMatch(
      /no sandbox at all/,
    )
  })
  test('a Pod that moves and that the runtime does not list is no reason: it is gone by then', () => {
    expect(refusalAfter(proves, { pods: known([pod(2, proves), pod(4)], now) })).toBeUndefined()
  })

  const host = { hostname: 'node-07', now, skewMs: 10 * minutes, bootId: 'boot-1', bootedAt: 0 }
  const silent = unknown('connection refused', now)
  test.each<[string, Partial<Bundle>, RegExp]>([
    ['a clock that is off', { host: known(host, now) }, /clock is 10 min ahead/],
    ['held addresses that are not known', { held: silent }, /still held on the node: connection refused/],
    ['a silent runtime', { sandboxes: silent }, /did not list its sandboxes: connection refused/],
    ['Pods that are not known', { pods: silent }, /API did not list the node's Pods/],
    ['a configuration that cannot be read', { conflist: silent }, /configuration could not be read/],
  ])('%s refuses the removal then as it does now', (_what, over, says) => {
    expect(refusalAfter(proves, over)).toMatch(says)
  })

  test('what is given back is what leaked; addresses of Pods that move are none of it, with or without records', () => {
    const sandboxes = known(
      [2, 3, 4, 5, 6].map(n => sandbox(n)),
      now,
    )
    for (const over of [{}, { records: silent }]) {
      const plan = drained(proves, { sandboxes, ...over })
      expect('remove' in plan && plan.remove.map(({ ip }) => ip)).toEqual(
        [7, 8, 9, 10, 11].map(n => `10.244.7.${n}`),
      )
    }
  })
})
