import { planDigest, planSubject, type PlanSubject, shownDigest } from '../../../src/core/runbook/plan.js'
import { event, fold, opened, planned, planOf } from './runs.js'

const subject: PlanSubject = {
  cluster: 'prod-eu1',
  run: 'r1',
  index: 1,
  node: 'node-07',
  nodeUid: 'u',
  bootId: 'b',
}
const plan = { ...planOf('confirm'), data: { sentences: ['a'] }, commands: ['x'] }
const digest = planDigest(plan, subject)

test('the same reality gives the same digest, whenever it was read and in whatever order its keys stand', () => {
  expect(planDigest({ ...plan, readAt: 1 }, { ...subject })).toBe(digest)
  const { cluster, ...rest } = subject
  expect(planDigest(plan, { ...rest, cluster })).toBe(digest)
})

test.each([
  ['cluster', planDigest(plan, { ...subject, cluster: 'other' })],
  ['boot', planDigest(plan, { ...subject, bootId: 'c' })],
  ['step', planDigest(plan, { ...subject, index: 2 })],
  ['try', planDigest(plan, { ...subject, before: 1 })],
  ['command', planDigest({ ...plan, commands: ['y'] }, subject)],
  ['data', planDigest({ ...plan, data: { sentences: ['a', 'b'] } }, subject)],
])('B2: a plan for another %s has another digest', (_what, other) => {
  expect(other).not.toBe(digest)
})

test('B2: a digest can be made again from the plan and the few facts it is bound to, whatever else is known of the run', () => {
  const first = fold(opened())
  const later = { ...first, status: 'awaiting' as const, endedAt: 1 }
  expect(planDigest(plan, planSubject(later, 0))).toBe(planDigest(plan, planSubject(first, 0)))
  const again = fold(opened(), planned(0, 'cordon'), event(1, 'PlanOutdated', { index: 0, why: 'expired' }))
  expect(planSubject(again, 0).before).toBe(1)
  expect(planDigest(plan, planSubject(again, 0))).not.toBe(planDigest(plan, planSubject(first, 0)))
})

test('two people can compare eight digits', () => {
  expect(shownDigest(digest)).toMatch(/^[0-9a-f]{4}·[0-9a-f]{4}$/)
})
