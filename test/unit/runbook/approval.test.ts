import { type Approvers, mayApprove } from '../../../src/core/runbook/approval.js'
import { digest, event, fold, opened, planned, t0 } from './runs.js'

const approvers: Approvers = { people: ['U1', 'U2'], named: '@sre-oncall', selfApproval: true }
const waiting = fold(opened(), planned(0, 'cordon'))
const click = { by: 'U2', index: 0, digest, now: t0 + 1_000 }
const because = (state = waiting, by: Partial<typeof click> = {}, who = approvers): string => {
  const answer = mayApprove(state, { ...click, ...by }, who)
  return answer.yes ? 'yes' : answer.because
}

test('B2: somebody on the list may approve exactly the plan that is in view', () => {
  expect(because()).toBe('yes')
})

test('somebody who is not on the list is told who is', () => {
  expect(because(waiting, { by: 'U9' })).toContain('@sre-oncall may approve')
})

test('an empty list approves nobody, and so does a list that could not be read', () => {
  expect(because(waiting, {}, { ...approvers, people: [] })).toContain('empty')
  expect(because(waiting, {}, { ...approvers, people: undefined })).toContain('could not be read')
})

test('another digest is an outdated plan', () => {
  expect(because(waiting, { digest: 'b'.repeat(64) })).toContain('outdated')
})

test('an expired plan cannot be approved any more', () => {
  expect(because(waiting, { now: t0 + 1_800_000 })).toContain('expired')
})

test('the second person is told who was first, and how long before', () => {
  const taken = fold(opened(), planned(0, 'cordon'), {
    ...event(0, 'StepApproved', { index: 0, digest }),
    by: 'U1',
    at: t0,
  })
  expect(because(taken, { now: t0 + 4_000 })).toBe('<@U1> approved this 4 s before you. It is running.')
})

test('where self-approval is off, the one who opened the run cannot approve it alone', () => {
  expect(because(waiting, { by: 'U1' }, { ...approvers, selfApproval: false })).toContain(
    'somebody else must approve',
  )
  expect(because(waiting, { by: 'U2' }, { ...approvers, selfApproval: false })).toBe('yes')
})

test('a run that has ended takes no approval', () => {
  const ended = fold(opened(), planned(0, 'cordon'), event(1, 'RunEnded', { outcome: 'held' }))
  expect(because(ended)).toBe('This run has ended (held).')
})
