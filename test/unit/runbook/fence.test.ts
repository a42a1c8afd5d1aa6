import { inCharge, lastFence, nextFence } from '../../../src/core/runbook/fence.js'
import { done, event, opened, planned, t0 } from './runs.js'

const started = (index: number, fence: number) => event(index, 'StepStarted', { index, fence })

test('B3: every start has a higher number than all before it, whatever the clock says', () => {
  const events = [{ ...opened(), fence: t0 + 500 }, planned(0, 'cordon')]
  expect(nextFence(events, t0 + 1_000)).toBe(t0 + 1_000)
  // A clock that went back, or that of another worker.
  expect(nextFence(events, t0)).toBe(t0 + 501)
  expect(nextFence([...events, started(0, t0 + 9_000)], t0 + 2_000)).toBe(t0 + 9_001)
  expect(lastFence([...events, event(0, 'UndoStarted', { index: 0, fence: t0 + 9_500 })])).toBe(t0 + 9_500)
})

test('B3: a history from before there were numbers is continued above zero', () => {
  expect(lastFence([opened(), event(0, 'StepStarted', { index: 0 })])).toBe(0)
  expect(nextFence([opened()], 7)).toBe(7)
})

test('B3: in charge is who began last, until that has ended; notes of progress do not count', () => {
  const begun = [opened(), planned(0, 'cordon'), started(0, 10)]
  expect(inCharge(begun, 10)).toBe(true)
  expect(inCharge([...begun, event(0, 'StepProgressed', { index: 0, says: 'half' })], 10)).toBe(true)
  expect(inCharge([...begun, started(0, 11)], 10)).toBe(false)
  expect(inCharge([...begun, started(0, 11)], 11)).toBe(true)
  expect(inCharge([...begun, done(0, 'cordon', true)], 10)).toBe(false)
  expect(inCharge([opened()], 0)).toBe(false)
})
