import type { Rollout } from '../../../src/core/evidence/bundle.js'
import { readRollout, type RolloutWatch } from '../../../src/core/incident/rollout.js'
import { minute, now } from '../leaking-node.js'

const window = 15 * minute
const lacking = (node: string, podUid: string | undefined) => ({
  node,
  pod: podUid && `log-shipper-${podUid}`,
  podUid,
})
const rollout = (missing: Rollout['missing'], over: Partial<Rollout> = {}): Rollout => ({
  namespace: 'platform',
  name: 'log-shipper',
  uid: 'ds-1',
  generation: 3,
  observedGeneration: 3,
  desired: 18,
  ready: 18 - missing.length,
  updated: 18,
  available: 18 - missing.length,
  missing,
  ...over,
})
/** Looks at each state a number of minutes after the start; the last reading. */
const looks = (...states: [atMinute: number, state: Rollout][]) => {
  let watch: RolloutWatch | undefined
  let last = readRollout(undefined, rollout([]), now, window)
  for (const [at, state] of states) {
    last = readRollout(watch, state, now + at * minute, window)
    watch = last.watch
  }
  return last
}

describe('C2: a rollout', () => {
  test('complete', () => {
    expect(looks([0, rollout([])])).toMatchObject({ state: 'complete', stuck: [] })
  })

  test('the same node lacks the same Pod for the window: stuck, and the node is named', () => {
    const one = rollout([lacking('node-07', 'a')])
    expect(looks([0, one], [5, one], [15, one])).toMatchObject({
      state: 'stuck',
      stuck: [
        {
          kind: 'stuck-rollout',
          node: 'node-07',
          workload: { namespace: 'platform', kind: 'DaemonSet', name: 'log-shipper' },
          pod: 'log-shipper-a',
          podUid: 'a',
          since: now,
          desired: 18,
          ready: 17,
        },
      ],
    })
  })

  test('just below the window it is moving', () => {
    const one = rollout([lacking('node-07', 'a')])
    expect(looks([0, one], [14.9, one])).toMatchObject({ state: 'moving', stuck: [] })
  })

  test('a node without any Pod for the window is stuck as well', () => {
    const one = rollout([lacking('node-07', undefined)])
    expect(looks([0, one], [20, one]).stuck).toMatchObject([{ node: 'node-07', pod: undefined }])
  })

  test('a slow rollout that goes from node to node is not stuck', () => {
    const steps = Array.from({ length: 10 }, (_, i): [number, Rollout] => [
      i * 10,
      rollout([lacking(`node-${i}`, `pod-${i}`)]),
    ])
    expect(looks(...steps)).toMatchObject({ state: 'moving', stuck: [] })
  })

  test('a new Pod on the node is progress', () => {
    expect(
      looks(
        [0, rollout([lacking('node-07', 'a')])],
        [14, rollout([lacking('node-07', 'b')])],
        [20, rollout([lacking('node-07', 'b')])],
      ),
    ).toMatchObject({ state: 'moving' })
  })

  test('others that move beside it do not hide the stuck node', () => {
    const state = (other: string) => rollout([lacking('node-07', 'a'), lacking(other, other)])
    expect(looks([0, state('x')], [8, state('y')], [16, state('z')]).stuck.map(one => one.node)).toEqual([
      'node-07',
    ])
  })

  test('counts of before the newest generation are not believed, and the clock goes on', () => {
    const one = rollout([lacking('node-07', 'a')])
    const behind = rollout([lacking('node-07', 'a')], { generation: 4 })
    expect(looks([0, one], [16, behind])).toMatchObject({ state: 'moving', stuck: [] })
    expect(looks([0, one], [16, behind], [17, { ...behind, observedGeneration: 4 }]).state).toBe('stuck')
  })

  test('a DaemonSet of the same name made anew starts anew', () => {
    const one = rollout([lacking('node-07', 'a')])
    expect(looks([0, one], [20, { ...one, uid: 'ds-2' }]).state).toBe('moving')
  })

  test('nobody is missing but not all are ready yet: moving', () => {
    expect(looks([0, rollout([], { ready: 17 })]).state).toBe('moving')
  })
})
