import { allowed, nextOfRun, type RunEvent, settledLength } from '../../../src/core/runbook/run.js'
import { workMs } from '../../../src/core/runbook/comparison.js'
import { done, event, failed, fold, opened, planned, runbook, t0 } from './runs.js'

const approved = (index: number): RunEvent => event(index, 'StepApproved', { index, digest: 'a'.repeat(64) })
const started = (index: number): RunEvent => event(index, 'StepStarted', { index })
const cordoned = [opened(), planned(0, 'cordon'), approved(0), started(0), done(0, 'cordon', true)]

test('C5: a changing step waits for approval of its plan, and nothing but an approval lets it act', () => {
  const waiting = fold(opened(), planned(0, 'cordon'))
  expect(waiting.status).toBe('awaiting')
  expect(nextOfRun(waiting)).toEqual({ do: 'wait' })
  expect(nextOfRun(fold(opened(), planned(0, 'cordon'), approved(0)))).toEqual({ do: 'act', index: 0 })
  expect(allowed.awaiting).not.toContain('StepStarted')
})

test('a reading step goes straight on to acting', () => {
  expect(nextOfRun(fold(...cordoned, planned(1, 'expect')))).toEqual({ do: 'act', index: 1 })
})

test('a plan that finds nothing to do asks nobody', () => {
  expect(nextOfRun(fold(opened(), planned(0, 'cordon', true)))).toEqual({ do: 'act', index: 0 })
})

test('prerequisites come first and wait for a person even though they change nothing (R-P)', () => {
  const book = runbook({ prerequisites: ['The cluster can carry the loss of one node'] })
  const state = fold(opened(book), planned(0, 'confirm'))
  expect(state.lines[0]?.spec.kind).toBe('confirm')
  expect(state.status).toBe('awaiting')
  expect(nextOfRun(fold(opened(book), planned(0, 'confirm'), event(0, 'InputGiven', { index: 0 })))).toEqual({
    do: 'act',
    index: 0,
  })
})

test('an expired plan waits for a click: it is not made again every half hour of the night', () => {
  expect(nextOfRun(fold(opened(), planned(0, 'cordon')))).toEqual({ do: 'wait' })
})

test('a step that was started and not finished is acted again after a crash: the same answer', () => {
  const state = fold(opened(), planned(0, 'cordon'), approved(0), started(0))
  expect(nextOfRun(state)).toEqual({ do: 'act', index: 0 })
  expect(nextOfRun(fold(opened(), planned(0, 'cordon'), approved(0), started(0), started(0)))).toEqual({
    do: 'act',
    index: 0,
  })
})

test('a failed step pauses the run; retry plans it anew', () => {
  const paused = fold(...cordoned, planned(1, 'expect'), failed(1))
  expect(paused.status).toBe('paused')
  expect(nextOfRun(paused)).toEqual({ do: 'wait' })
  const again = fold(...cordoned, planned(1, 'expect'), failed(1), event(1, 'RetryAsked', { index: 1 }))
  expect(nextOfRun(again)).toEqual({ do: 'plan', index: 1 })
})

test('B3: a plan that was never begun carries no start of the plan before it', () => {
  const begunOnce = [opened(), planned(0, 'cordon'), approved(0), started(0), failed(0)]
  const again = [...begunOnce, event(4, 'RetryAsked', { index: 0 })]
  expect(fold(...again).lines[0]).toMatchObject({ startedAt: undefined, begunAt: undefined })
  const refused = event(6, 'StepRefused', { index: 0, digest: 'a'.repeat(64) })
  const twice = fold(...again, planned(0, 'cordon'), refused, event(7, 'RetryAsked', { index: 0 }))
  expect(twice.lines[0]?.attempts.map(({ startedAt }) => startedAt)).toEqual([t0, undefined])
})

test('undo goes backwards over what changed something, and ends undone', () => {
  const asked = [...cordoned, planned(1, 'expect'), failed(1), event(1, 'UndoAsked')]
  expect(nextOfRun(fold(...asked))).toEqual({ do: 'undo', index: 0 })
  const undone = [
    ...asked,
    event(2, 'UndoStarted', { index: 0 }),
    event(2, 'UndoDone', { index: 0, says: 'schedulable' }),
  ]
  expect(nextOfRun(fold(...undone))).toEqual({ do: 'end', outcome: 'undone' })
})

test('undo includes a changing step that failed after it began: it may have left something', () => {
  const state = fold(
    opened(),
    planned(0, 'cordon'),
    approved(0),
    started(0),
    failed(0),
    event(1, 'UndoAsked'),
  )
  expect(nextOfRun(state)).toEqual({ do: 'undo', index: 0 })
})

test('a failed undo ends stuck: a person must look', () => {
  const state = fold(
    ...cordoned,
    planned(1, 'expect'),
    failed(1),
    event(1, 'UndoAsked'),
    event(2, 'UndoFailed', { index: 0, error: { class: 'failed', message: 'no', output: '' } }),
  )
  expect(nextOfRun(state)).toEqual({ do: 'end', outcome: 'stuck' })
})

test('when every line is done the run is completed', () => {
  const state = fold(
    ...cordoned,
    planned(1, 'expect'),
    done(1, 'expect', false),
    planned(2, 'uncordon', true),
    done(2, 'uncordon', false),
  )
  expect(nextOfRun(state)).toEqual({ do: 'end', outcome: 'completed' })
})

test('an event that cannot follow is an error, not a state', () => {
  expect(() => fold(opened(), approved(0))).toThrow('StepApproved cannot follow while it is planning')
  expect(() => fold(opened(), opened())).toThrow('RunOpened cannot follow')
  expect(() => fold(approved(0))).toThrow('begins with RunOpened')
})

test('a refusal pauses and speaks for its plan alone: steps before it may have changed much', () => {
  const state = fold(
    opened(),
    planned(0, 'cordon'),
    event(0, 'StepRefused', { index: 0, digest: 'a'.repeat(64) }),
  )
  expect(state.status).toBe('paused')
  expect(state.lines[0]?.error?.message).toBe('refused by an approver: its plan was not begun')
})

test('a note that a step began does not call a second job to it', () => {
  const events = [opened(), planned(0, 'cordon'), approved(0)]
  expect(settledLength(events)).toBe(3)
  expect(settledLength([...events, started(0), started(0)])).toBe(3)
  expect(settledLength([...events, started(0), done(0, 'cordon', true)])).toBe(5)
})

test('after a retry undo goes by the plan that was begun, whatever was planned since', () => {
  const begun = [opened(), planned(0, 'cordon'), approved(0), started(0), failed(0)]
  const retried = fold(...begun, event(1, 'RetryAsked', { index: 0 }))
  expect(retried.lines[0]).toMatchObject({ plan: undefined, startedPlan: { kind: 'cordon' }, starts: 1 })
  expect(retried.lines[0]?.attempts).toMatchObject([
    { why: 'it was tried again', approved: { by: 'cnibot' } },
  ])
  const again = fold(...begun, event(1, 'RetryAsked', { index: 0 }), failed(0), event(2, 'UndoAsked'))
  expect(nextOfRun(again)).toEqual({ do: 'undo', index: 0 })
})

test('a plan is begun at its first start, whoever took over since; one that is made again is begun anew', () => {
  const at = (ms: number, one: RunEvent): RunEvent => ({ ...one, at: t0 + ms })
  const begun = [opened(), planned(0, 'cordon'), approved(0), at(1_000, started(0)), at(9_000, started(0))]
  expect(fold(...begun).lines[0]).toMatchObject({ begunAt: t0 + 1_000, startedAt: t0 + 9_000 })
  const again = [at(60_000, failed(0)), event(60_000, 'RetryAsked', { index: 0 }), planned(0, 'cordon')]
  expect(fold(...begun, ...again).lines[0]?.begunAt).toBeUndefined()
})

test('P-A2: time at work is that of every try, from its first start; not what people took between', () => {
  const at = (ms: number, one: RunEvent): RunEvent => ({ ...one, at: t0 + ms })
  const state = fold(
    opened(),
    planned(0, 'cordon'),
    approved(0),
    at(1_000, started(0)),
    at(5_000, started(0)),
    at(11_000, failed(0)),
    event(900_000, 'RetryAsked', { index: 0 }),
    at(900_000, failed(0)),
    event(950_000, 'RetryAsked', { index: 0 }),
    planned(0, 'cordon'),
    event(960_000, 'StepRefused', { index: 0, digest: 'a'.repeat(64) }),
    event(970_000, 'RetryAsked', { index: 0 }),
    planned(0, 'cordon'),
    approved(0),
    at(980_000, started(0)),
    at(985_000, done(0, 'cordon', true)),
  )
  expect(workMs(state)).toBe(15_000)
})
