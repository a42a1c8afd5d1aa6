import { type Allocation, type Bundle, isKnown, known, unknown } from '../../../src/core/evidence/bundle.js'
import { planRemoval, type RemovalList, stillApproved } from '../../../src/core/ipam/removal.js'
import { allocation, idOf, leakingNode, minute, now, storeWith } from '../leaking-node.js'

const settings = { olderThanMs: 15 * minute }
const silent = unknown('ctr: not found', now)

const planFor = (bundle: Bundle, earlier?: Bundle): RemovalList => {
  const plan = planRemoval({ earlier, bundle, settings, cordoned: true })
  if ('refused' in plan) throw new Error(plan.refused.join('\n'))
  return plan
}
describe('approved ∩ still orphan', () => {
  const node = leakingNode(3, 4)
  const approved = planFor(node).remove
  const earlier = { ...node, collectedAt: now - 5 * minute }
  const files = isKnown(node.stores) ? (node.stores.value[0]?.allocations ?? []) : []
  const planNow = (allocations: Allocation[]): RemovalList =>
    planFor({ ...node, stores: known([storeWith(allocations)], now) }, earlier)

  test('nothing changed: all of it', () => {
    expect(stillApproved(planNow(files), approved)).toEqual({ remove: approved, dropped: [] })
  })

  test('a new orphan is never added', () => {
    const { remove } = stillApproved(planNow([...files, allocation(99)]), approved)
    expect(remove).toEqual(approved)
  })

  test.each([
    ['the file is gone', [], 'the file is no longer there'],
    ['the file has a new owner', [allocation(5, { owner: idOf(77) })], 'the file has another owner now'],
    [
      'the file was written again with the same owner',
      [allocation(5, { inode: 1 })],
      'the file was written again since the plan',
    ],
    ['the owner lives after all', [allocation(5, { owner: idOf(2) })], 'the file has another owner now'],
  ])('%s: dropped, with the reason', (_name, replacement, why) => {
    const rest = files.filter(({ ip }) => ip !== '10.244.7.5')
    const { remove, dropped } = stillApproved(planNow([...rest, ...replacement]), approved)
    expect(remove).toHaveLength(3)
    expect(dropped).toEqual([{ ip: '10.244.7.5', owner: idOf(5), why }])
  })

  test('held meanwhile: dropped with that reason', () => {
    const held = known([{ ip: '10.244.7.6', by: 'neighbour' as const, where: 'cni0' }], now)
    const { dropped } = stillApproved(planFor({ ...node, held }, earlier), approved)
    expect(dropped).toEqual([{ ip: '10.244.7.6', owner: idOf(6), why: 'still held: neighbour cni0' }])
  })

  test('refused meanwhile: nothing is left, and why', () => {
    const refused = planRemoval({ earlier, bundle: { ...node, held: silent }, settings, cordoned: true })
    const { remove, dropped } = stillApproved(refused, approved)
    expect(remove).toEqual([])
    expect(dropped).toHaveLength(4)
    expect(dropped[0]?.why).toMatch(/still held on the node: ctr: not found/)
  })

  test("without the approved plan's own reading nothing is left", () => {
    const { remove, dropped } = stillApproved(planFor(node), approved)
    expect(remove).toEqual([])
    expect(dropped[0]?.why).toMatch(/plan again/)
  })
})
