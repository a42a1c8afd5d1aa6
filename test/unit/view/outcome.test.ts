import type { RunEvent } from '../../../src/core/runbook/run.js'
import { outcomeWords } from '../../../src/view/outcome.js'
import { digest, done, event, failed, fold, opened, planned } from '../runbook/runs.js'

const act = (index: number): RunEvent[] => [
  event(1, 'StepApproved', { index, digest }),
  event(2, 'StepStarted', { index }),
]
const cordoned = [opened(), planned(0, 'cordon'), ...act(0), done(0, 'cordon', true)]
const checked = [
  planned(1, 'expect'),
  event(3, 'StepDone', {
    index: 1,
    done: { kind: 'expect', changed: false, says: 'ok', detail: [], commands: [], data: {} },
  }),
]
const refused = [planned(2, 'uncordon'), event(4, 'StepRefused', { index: 2, digest })]

test('B2: a run that is held after a refusal names the step that was refused, and what was done before it', () => {
  expect(outcomeWords(fold(...cordoned, ...checked, ...refused), 'held')).toBe(
    'held at step 3 of 3 (uncordon): its plan was refused by an approver; done before: cordon done',
  )
})

test('B2: that nothing was changed is said only where no step changed anything', () => {
  const first = [opened(), planned(0, 'cordon'), event(1, 'StepRefused', { index: 0, digest })]
  expect(outcomeWords(fold(...first), 'held')).toBe(
    'held at step 1 of 3 (cordon): its plan was refused by an approver; no step changed anything before',
  )
})

test('B2: a step that failed after it was begun may have done something, and the words do not deny it', () => {
  expect(outcomeWords(fold(opened(), planned(0, 'cordon'), ...act(0), failed(0)), 'abandoned')).toBe(
    'abandoned at step 1 of 3 (cordon): it did not work; what it did by then is on its card; no step changed anything before',
  )
})

test('B7: an undo that found the cordon to be somebody else’s does not say that all was put back', () => {
  const undone = [
    event(5, 'UndoAsked'),
    event(6, 'UndoStarted', { index: 0 }),
    event(7, 'UndoDone', { index: 0, says: 'left cordoned', left: ['node-07 stays cordoned: …'] }),
  ]
  expect(outcomeWords(fold(...cordoned, planned(1, 'expect'), failed(1), ...undone), 'undone')).toBe(
    "undone, but for the node's cordon, which is somebody else's now; it had stopped at step 2 of 3 (addresses match sandboxes): it did not work",
  )
})
