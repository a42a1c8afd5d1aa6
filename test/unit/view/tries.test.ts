import type { RunEvent, StepError } from '../../../src/core/runbook/run.js'
import { undoPreview } from '../../../src/view/undo.js'
import { minute, now } from '../leaking-node.js'
import { drawnWith } from './drawn.js'
import {
  cordoned,
  digestAt,
  opened,
  planned,
  removalDone,
  removalStarted,
  runOf,
  ticked,
} from './run-states.js'
import { repaired } from './run-repaired.js'
import { buttonsOf, shown } from './shown.js'
import { approver } from './story-bundle.js'

const drawn = (run: RunEvent[], posted: string[] = []) => drawnWith(run, { posted })

const failedAt = (at: number, error: Partial<StepError> = {}): RunEvent => ({
  at,
  by: 'cnibot',
  type: 'StepFailed',
  index: 2,
  error: { class: 'failed', message: 'the node did not report to the end', output: '', ...error },
})
const refusedAt = (at: number): RunEvent =>
  failedAt(at, { class: 'refused', message: 'the node refused: sudo' })
const retryAt = (at: number): RunEvent => ({ at, by: approver, type: 'RetryAsked', index: 2 })
const approvedAt = (at: number, by = approver): RunEvent => ({
  at,
  by,
  type: 'StepApproved',
  index: 2,
  digest: digestAt(2),
})
const startedAt = (at: number): RunEvent => ({ at, by: 'cnibot', type: 'StepStarted', index: 2 })

const key = `plan-r-1-2-${digestAt(2).slice(0, 8)}`
const cardOf = (run: RunEvent[]) => {
  const card = drawn(run).find(each => each.key === 'run-r-1')
  if (!card) throw new Error('no card')
  return card.message
}
const retried = [...removalStarted, failedAt(now + 6 * minute), retryAt(now + 7 * minute)]
const again = [...retried, planned(2, now + 8 * minute)]

test('after a retry the first plan keeps its approver and what came back; the new plan has its own message', () => {
  const messages = drawn(again)
  const [first, second] = messages.filter(each => each.key.startsWith('plan-r-1-2-'))
  expect([first?.key, second?.key]).toEqual([key, `${key}-2`])
  const text = first ? shown(first.message) : ''
  expect(text).toContain(
    'Approved by <@U0APPROVE1> 11:36:00. *It did not work*: the node did not report to the end. Given up: it was tried again. The newest plan is below.',
  )
  expect(text).not.toContain('Nothing of it ran')
  expect(first && buttonsOf(first.message)).toEqual([])
  expect(second && buttonsOf(second.message)).toEqual(['cnibot:approve: Approve', 'cnibot:refuse: Refuse'])
  expect(shown(cardOf(again))).toContain('tried 1 time before, last: the node did not report to the end')
})

test('while it is planned again, the approved plan still stands as it was', () => {
  const messages = drawn(retried, [key])
  expect(messages.filter(each => each.key === key).map(each => shown(each.message))).toEqual([
    expect.stringContaining('Approved by <@U0APPROVE1>'),
  ])
})

test('an approved plan that was outdated before it began says that it was not begun', () => {
  const outdated: RunEvent[] = [
    ...removalStarted.slice(0, -1),
    { at: now + 6 * minute, by: 'cnibot', type: 'PlanOutdated', index: 2, why: 'the node was rebooted' },
  ]
  const text = drawn(outdated).find(each => each.key === key)
  expect(text && shown(text.message)).toContain(
    'Approved by <@U0APPROVE1> 11:36:00. It was not begun. Given up: the node was rebooted.',
  )
})

test('a plan nobody decided on is told as given up, and that nothing of it ran', () => {
  const old = `plan-r-1-2-7f3a91c2-2`
  const gone = drawn(again, ['head', old]).find(each => each.key === old)
  expect(gone && shown(gone.message)).toMatch(
    /given up\* \(`7f3a·91c2`\).* Nobody decided on it and nothing of it ran/,
  )
  expect(gone && buttonsOf(gone.message)).toEqual([])
})

describe('whether anything was done', () => {
  const firstRefused = [...removalStarted, refusedAt(now + 6 * minute)]
  const secondTry = [...again, approvedAt(now + 9 * minute), startedAt(now + 9 * minute + 1_000)]
  const crashed = [...removalStarted, startedAt(now + 6 * minute), refusedAt(now + 7 * minute)]
  const refusedTwice = [
    ...firstRefused,
    retryAt(now + 7 * minute),
    planned(2, now + 8 * minute),
    approvedAt(now + 9 * minute),
    startedAt(now + 9 * minute + 1_000),
    refusedAt(now + 10 * minute),
  ]
  test.each([
    ['a first try that was refused', firstRefused, 'Nothing was done.', false],
    ['a second refusal after a first', refusedTwice, 'Nothing was done.', false],
    [
      'a refusal after a try that broke off',
      [...secondTry, refusedAt(now + 10 * minute)],
      'This try did nothing; an earlier one may have.',
      true,
    ],
    [
      'a refusal of a plan after a try that broke off',
      [...retried, refusedAt(now + 8 * minute)],
      'This try did nothing; an earlier one may have.',
      true,
    ],
    [
      'a refusal after the worker died in the same try',
      crashed,
      'This try did nothing; an earlier one may have.',
      true,
    ],
  ])('%s', (_what, run, words, mayHave) => {
    expect(shown(cardOf(run))).toContain(words)
    expect(undoPreview(runOf(run))?.includes('what the removal may have moved') ?? false).toBe(mayHave)
  })
})

describe('undo says what it will and will not reverse', () => {
  test('P-A1: a try that broke off may have moved something', () => {
    const text = 'Undo puts back what the removal may have moved and is still free'
    const card = cardOf([...removalStarted, failedAt(now + 6 * minute)])
    expect(shown(card)).toContain(
      `${text}, then lifts this incident's cordon. Not reversed: addresses that new`,
    )
    expect(JSON.stringify(card.blocks)).toContain(`"text":"${text}`)
    expect(buttonsOf(card)).toContain('cnibot:undo: Undo')
  })

  test('P-A1: while the next try waits, undo is still offered', () => {
    expect(buttonsOf(cardOf(again))).toEqual(['cnibot:undo: Undo', 'cnibot:hold: Hold'])
    expect(undoPreview(runOf(again))).toContain('what the removal may have moved')
  })

  test('after every step, in reverse order, within what a dialog holds', () => {
    const preview = undoPreview(runOf(repaired)) ?? ''
    expect(preview).toBe(
      "Undo cordons the node again, then puts back those of the 0 moved addresses that are still free, then lifts this incident's cordon. Not reversed: addresses that new Pods have taken since. Checks and finished test Pods left nothing.",
    )
    expect(preview.length).toBeLessThanOrEqual(300)
  })

  test('a run that changed nothing offers none', () => {
    const run = [opened, ...ticked, planned(1, now + 3 * minute)]
    expect(undoPreview(runOf(run))).toBeUndefined()
    expect(buttonsOf(cardOf(run))).toEqual(['cnibot:hold: Hold'])
    expect(undoPreview(runOf([opened, ...ticked, ...cordoned]))).toBe("Undo lifts this incident's cordon.")
  })
})

test('rule 4: where a second reading must agree, no word says that it runs at once', () => {
  const from = now + 19 * minute
  const waiting = removalDone.map(event =>
    event.type === 'StepPlanned' && 'actFrom' in event.plan.data
      ? { ...event, plan: { ...event.plan, data: { ...event.plan.data, actFrom: from } } }
      : event,
  )
  const states = [9, 10, 11].map(length => waiting.slice(0, length))
  const [asked = '', approved = '', begun = ''] = states.map(run =>
    JSON.stringify(
      drawn(run).filter(
        each => each.key.startsWith('plan-r-1-2') || each.key.startsWith('run-') || each.key === 'head',
      ),
    ),
  )
  expect(asked).toContain('It removes nothing before 11:50, when a second reading must agree')
  expect(approved).toContain('Nothing is removed before 11:50: a second reading must agree')
  expect(begun).toContain('removes nothing before 11:50')
  for (const text of [asked, approved, begun]) expect(text).not.toMatch(/at once|It runs now/)
})

describe('P-A6: a card that is paused warns of a restart', () => {
  const warns = /do not restart the kubelet or the runtime: addresses (are|may) still (be )?leaked, a restart/

  test('while the addresses are leaked, or may be, with the reason', () => {
    const refused = shown(cardOf([...removalStarted, refusedAt(now + 6 * minute)]))
    expect(warns.exec(refused)?.[1]).toBe('are')
    const unknown = shown(cardOf([...removalStarted, failedAt(now + 6 * minute)]))
    expect(warns.exec(unknown)?.[1]).toBe('may')
  })

  test('not while it works, and not once the removal is done', () => {
    expect(shown(cardOf(removalStarted))).not.toMatch(warns)
    const failed: RunEvent = {
      at: now + 9 * minute,
      by: 'cnibot',
      type: 'StepFailed',
      index: 3,
      error: { class: 'failed', message: 'no answer', output: '' },
    }
    expect(shown(cardOf([...removalDone, failed]))).not.toMatch(warns)
  })
})
