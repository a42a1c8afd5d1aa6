import {
  latchSandboxEvents,
  mergeSandboxEvents,
  sandboxEvent,
} from '../../../src/adapters/kubernetes/sandbox-events.js'
import { readCniMessage } from '../../../src/core/diagnosis/cni-message.js'
import { captured } from './captured.js'

const merged = mergeSandboxEvents(captured.events('kube-exhausted').map(sandboxEvent))

describe('P-E1: FailedCreatePodSandBox events of the captured exhausted node', () => {
  test('nine singles and the folded one are one record a Pod', () => {
    expect(captured.events('kube-exhausted')).toHaveLength(50)
    expect(
      merged
        .map(({ pod, count, folded }) => [pod, count, folded] as const)
        .sort(([a], [b]) => a.localeCompare(b)),
    ).toEqual([
      ['log-shipper-q29hj', 20, true],
      ['reports-fc5fc9789-rzjmv', 19, true],
      ['reports-fc5fc9789-z9n8z', 20, true],
      ['settle-b4pt2', 21, true],
      ['settle-v96dz', 19, true],
    ])
  })
  test('span, node and the newest message without its prefix', () => {
    for (const events of merged) {
      expect(events.node).toBe('node-07')
      expect(events.last - events.first).toBeGreaterThan(180_000)
      expect(events.message).toMatch(/^Failed to create pod sandbox: rpc error/)
      expect(readCniMessage(events.message).kind).toBe('exhausted')
    }
  })
  test('the folded event is newer than the singles and gives the message', () => {
    const events = captured
      .events('kube-exhausted')
      .filter(({ involvedObject }) => involvedObject.name === 'settle-b4pt2')
    const folded = events.find(({ message }) => message?.startsWith('(combined'))
    const record = merged.find(({ pod }) => pod === 'settle-b4pt2')
    expect(folded?.message).toBe(`(combined from similar events): ${record?.message}`)
    expect(record?.last).toBe(Date.parse(String(folded?.lastTimestamp)))
  })
})

describe('other shapes', () => {
  const base = { metadata: { uid: 'e', namespace: 'payments' }, involvedObject: { name: 'api-0', uid: 'p' } }
  test('a series instead of counts', () => {
    const event = sandboxEvent({
      ...base,
      eventTime: '2026-11-30T15:00:00.000000Z',
      series: { count: 7, lastObservedTime: '2026-11-30T15:10:00.000000Z' },
      reportingInstance: 'node-07',
    })
    expect(event).toMatchObject({ count: 7, node: 'node-07', namespace: 'payments', folded: false })
    expect(event.last - event.first).toBe(600_000)
  })
  test('Pods of one name and different uids are two records', () => {
    const old = sandboxEvent({ ...base, involvedObject: { name: 'api-0', uid: 'old' } })
    expect(mergeSandboxEvents([sandboxEvent(base), old])).toHaveLength(2)
  })
  test('a message is cut, however long the plugin talked', () => {
    expect(sandboxEvent({ ...base, message: 'x'.repeat(50_000) }).message).toHaveLength(1_024)
  })
  test('what was seen stays when the server has dropped its events', () => {
    const seen = { ...sandboxEvent(base), count: 20, first: 1_000, last: 9_000, folded: true, message: 'old' }
    const rest = { ...seen, count: 3, first: 8_000, last: 12_000, folded: false, message: 'new' }
    expect(latchSandboxEvents(seen, rest)).toMatchObject({
      count: 20,
      first: 1_000,
      last: 12_000,
      folded: true,
      message: 'new',
    })
    expect(latchSandboxEvents({ ...seen, podUid: 'other' }, rest)).toBe(rest)
  })
})
