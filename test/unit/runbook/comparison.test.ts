import { type Bundle, known, unknown } from '../../../src/core/evidence/bundle.js'
import { givesBack, inPlace } from '../../../src/core/runbook/comparison.js'
import { allocation, idOf, leakingNode, minute, now, storeWith } from '../leaking-node.js'

const silent = unknown('connection refused', now)
const promised = (over: Partial<Bundle> = {}) => {
  const bundle = leakingNode(2, 5, over)
  return givesBack(bundle, inPlace(bundle, 15 * minute))
}
const host = { hostname: 'node-07', now, skewMs: 10 * minute, bootId: 'boot-1', bootedAt: 0 }

describe('P-A2: a comparison promises what the removal itself would plan, no more', () => {
  test('what leaked is given back, whether the node is cordoned yet or not', () => {
    expect(promised()).toEqual({ give: 5, leave: 0, left: [] })
  })
  test.each<[string, Partial<Bundle>, RegExp]>([
    ['a clock that is off', { host: known(host, now) }, /clock is 10 min ahead/],
    ['held addresses that are not known', { held: silent }, /connection refused/],
  ])('%s: it would be refused, with the reason', (_what, over, says) => {
    const told = promised(over)
    expect('refused' in told && told.refused.join()).toMatch(says)
  })
  test('orphans that the runbook takes for young are left, each with why; living addresses count for neither', () => {
    const allocations = [2, 3, 4, 5].map(n =>
      allocation(n, { mtime: n < 4 ? now - 20 * 86_400_000 : now - 5 * minute }),
    )
    const store = { ...storeWith(allocations), foreign: [{ name: 'notes', why: 'a folder' }] }
    expect(promised({ stores: known([store], now) })).toEqual({
      give: 0,
      leave: 2,
      left: [
        { ip: '10.244.7.4', why: expect.stringMatching(/^made 300 s ago/) },
        { ip: '10.244.7.5', why: expect.stringMatching(/^made 300 s ago/) },
      ],
    })
  })
  test('of many that are left the first are named', () => {
    const allocations = Array.from({ length: 40 }, (_, n) => allocation(n + 2, { mtime: now }))
    const told = promised({ stores: known([storeWith(allocations)], now) })
    expect(told).toMatchObject({ give: 0, leave: 38 })
    expect('left' in told && told.left).toHaveLength(8)
    expect(idOf(2)).toBe(allocations[0]?.owner)
  })
  test('where nothing can be counted the reason stands in place of a number', () => {
    expect(promised({ sandboxes: silent })).toEqual({ unknown: 'connection refused' })
  })
})
