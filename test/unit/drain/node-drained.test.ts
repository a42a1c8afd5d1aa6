import { evaluate } from '../../../src/core/check.js'
import {
  type Bundle,
  known,
  type PodFacts,
  type Sandbox,
  unknown,
} from '../../../src/core/evidence/bundle.js'
import { bundleWithoutAnswers } from '../../fakes/bundle.js'
import { fakePod } from '../../fakes/cluster.js'

const at = Date.UTC(2026, 10, 18, 12)
const running = { node: 'node-07', phase: 'Running' }
const agent = fakePod('platform', 'agent-x', {
  ...running,
  controller: { kind: 'DaemonSet', name: 'agent', uid: 'ds' },
})
// A static Pod: its uid in the API is not the one its sandbox has on the node.
const proxy = fakePod('kube-system', 'proxy-node-07', { ...running, mirror: true })
const api = fakePod('payments', 'api-1', {
  ...running,
  controller: { kind: 'ReplicaSet', name: 'api', uid: 'rs' },
})
const sandboxOf = ({ namespace, name }: PodFacts, over: Partial<Sandbox> = {}): Sandbox => ({
  id: name.padEnd(64, '0'),
  namespace,
  pod: name,
  podUid: `on the node: ${name}`,
  attempt: 0,
  state: 'ready',
  createdAt: at,
  ...over,
})
const check = (pods: PodFacts[], sandboxes: Sandbox[], over: Partial<Bundle> = {}) =>
  evaluate('node-drained', {
    bundle: {
      ...bundleWithoutAnswers('node-07'),
      pods: known(pods, at),
      sandboxes: known(sandboxes, at),
      ...over,
    },
    since: at,
  })

describe('node-drained (P-A4: DaemonSet sandboxes survive a drain, so they are judged without)', () => {
  test('holds while DaemonSet and static Pods go on, with their sandboxes', () => {
    expect(check([agent, proxy], [sandboxOf(agent), sandboxOf(proxy)])).toEqual({
      holds: true,
      says: 'node-07: drained; 2 Pods of DaemonSets or the kubelet itself stay, ready sandboxes 2',
      detail: ['platform/agent-x', 'kube-system/proxy-node-07'],
    })
  })

  test.each<[string, PodFacts[], Sandbox[], RegExp]>([
    ['a Pod that is still there', [agent, api], [], /1 Pod still there: payments\/api-1/],
    ['one that has finished', [{ ...api, phase: 'Succeeded' }], [], /still there/],
    [
      'a sandbox that outlived its Pod',
      [agent],
      [sandboxOf(agent), sandboxOf(api)],
      /sandboxes that still run for Pods that are gone, 1: payments\/api-1/,
    ],
  ])('does not hold with %s', (_what, pods, sandboxes, says) => {
    expect(check(pods, sandboxes)).toMatchObject({ holds: false, says: expect.stringMatching(says) })
  })

  test('a stopped sandbox of a Pod that is gone is only not tidied yet', () => {
    expect(check([agent], [sandboxOf(agent), sandboxOf(api, { state: 'notready' })]).holds).toBe(true)
  })

  test('is neither yes nor no while Pods or sandboxes are not known', () => {
    expect(check([agent], [], { pods: unknown('no answer', at) }).holds).toBeUndefined()
    expect(check([agent], [], { sandboxes: unknown('no answer', at) }).holds).toBeUndefined()
  })
})
