import type { RunEvent } from '../../../src/core/runbook/run.js'
import { idOf, minute, now } from '../leaking-node.js'
import { drawnWith } from './drawn.js'
import { removalDone } from './run-states.js'
import { shown } from './shown.js'
import { approver } from './story-bundle.js'

const at = now + 10 * minute
const undoing = (says: string, left: string[]): RunEvent[] => [
  ...removalDone,
  {
    at,
    by: 'cnibot',
    type: 'StepFailed',
    index: 3,
    error: { class: 'failed', message: 'orphans are left', output: '' },
  },
  { at, by: approver, type: 'UndoAsked' },
  { at, by: 'cnibot', type: 'UndoStarted', index: 2 },
  { at, by: 'cnibot', type: 'UndoDone', index: 2, says, ...(left.length > 0 ? { left } : {}) },
  { at, by: 'cnibot', type: 'UndoDone', index: 1, says: 'schedulable again, as it was before' },
  { at, by: 'cnibot', type: 'RunEnded', outcome: 'undone' },
]
const given = (n: number): string =>
  `10.244.7.${n}: given out since, to Pod payments/api-${n} (sandbox ${idOf(n)})`
const card = (run: RunEvent[]): string => {
  const found = drawnWith(run, { now: at }).find(({ key }) => key === 'run-r-1')
  if (!found) throw new Error('no card')
  return shown(found.message)
}

test('B4: the card names each address that was not put back, and the Pod that has it now', () => {
  const text = card(undoing('210 addresses put back; 2 could not be', [given(43), given(44)]))
  expect(text).toContain('undone: 210 addresses put back; 2 could not be')
  expect(text).toContain('*Not put back* (2)')
  expect(text).toContain(
    `10.244.7.43: given out since, to Pod payments/api-43 (sandbox ${idOf(43).slice(0, 13)}…)`,
  )
  expect(text).toContain('undone, but for 2 addresses that could not be put back')
  expect(text).not.toContain('what it changed was put back')
})

test('B4: says that all was put back only where all was', () => {
  const text = card(undoing('212 addresses put back', []))
  expect(text).toContain('undone: what it changed was put back')
  expect(text).not.toContain('Not put back')
})

test('B4: a long list is attached in full, with the ids in full', () => {
  const left = Array.from({ length: 60 }, (_, n) => given(n + 43))
  const run = undoing('152 addresses put back; 60 could not be', left)
  expect(card(run)).toContain('… 55 more, attached in full')
  const attached = drawnWith(run, { now: at }).find(({ key }) => key.startsWith('left-r-1-2-'))
  expect(attached?.file?.text.trimEnd().split('\n')).toEqual(left)
  expect(attached?.file?.name).toBe('node-07-step-3-not-put-back.txt')
})
