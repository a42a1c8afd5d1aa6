import type { RunEvent } from '../../../src/core/runbook/run.js'
import { minute, now } from '../leaking-node.js'
import { drawnWith } from './drawn.js'
import { cordoned, digestAt, opened, planned, ticked } from './run-states.js'
import { buttonsOf, shown } from './shown.js'
import { approver } from './story-bundle.js'

const second = 'U0APPROVE2'
const said = (run: RunEvent[], key: string): string =>
  shown(drawnWith(run).findLast(each => each.key.startsWith(key))!.message)

const plan = { ...planned(2, now + 4 * minute), approvals: 2 } as RunEvent
const approved = (by: string, at: number): RunEvent => ({
  at,
  by,
  type: 'StepApproved',
  index: 2,
  digest: digestAt(2),
})
const waiting = [opened, ...ticked, ...cordoned, plan]
const once = [...waiting, approved(approver, now + 5 * minute)]
const twice = [...once, approved(second, now + 6 * minute)]

test('B2: a plan that two must approve says so before the first click', () => {
  expect(said(waiting, 'plan-r-1-2')).toContain(
    '*Waiting* for 2 different people of @sre-oncall to approve or refuse, until',
  )
})

test('B2: after the first click it says how many, by whom, and that one more is waited for; the buttons stay', () => {
  expect(said(once, 'plan-r-1-2')).toContain(
    '1 of 2 approved, by <@U0APPROVE1> 11:36:00. *Waiting* for one more of @sre-oncall to approve or refuse',
  )
  expect(said(once, 'head')).toMatch(
    /\*Waiting for an approver\* .* 1 of 2 approved, by <@U0APPROVE1> 11:36:00\./,
  )
  expect(said(once, 'run-r-1')).toMatch(/waiting for approval.*1 of 2 approved, by <@U0APPROVE1> 11:36:00\./)
  expect(buttonsOf(drawnWith(once).findLast(each => each.key.startsWith('plan-r-1-2'))!.message)).toEqual([
    'cnibot:approve: Approve',
    'cnibot:refuse: Refuse',
  ])
})

test('B2: when it runs, both are named', () => {
  expect(said(twice, 'plan-r-1-2')).toContain(
    'Approved by <@U0APPROVE1> 11:36:00 and <@U0APPROVE2> 11:37:00. It runs now',
  )
  expect(said(twice, 'run-r-1')).toContain('approved by <@U0APPROVE1> and <@U0APPROVE2>')
})

test('B2: an approval that lapsed with its plan stays to be read, and nothing of it ran', () => {
  const lapsed: RunEvent = {
    at: now + 40 * minute,
    by: 'cnibot',
    type: 'PlanOutdated',
    index: 2,
    why: 'This plan has expired.',
  }
  expect(said([...once, lapsed], 'plan-r-1-2')).toContain(
    '1 of 2 approved, by <@U0APPROVE1> 11:36:00. Nothing of it was done. Given up: This plan has expired.',
  )
})

describe('B2: a refusal names who refused, as a mention', () => {
  const refused: RunEvent = {
    at: now + 5 * minute,
    by: second,
    type: 'StepRefused',
    index: 2,
    digest: digestAt(2),
  }
  const again: RunEvent[] = [
    ...waiting,
    refused,
    { at: now + 6 * minute, by: approver, type: 'RetryAsked', index: 2 },
    planned(2, now + 7 * minute),
  ]

  test('on the plan and on the card', () => {
    expect(said([...waiting, refused], 'plan-r-1-2')).toContain(
      'Refused by <@U0APPROVE2> 11:36:00. Nothing of it was done.',
    )
    const card = said([...waiting, refused], 'run-r-1')
    expect(card).toMatch(/✗ \*Remove 212 addresses on node-07\* — refused by <@U0APPROVE2> 11:36:00/)
    expect(card).toContain('*Refused:* Remove 212 addresses on node-07. Nothing of this plan was done.')
    expect(card).not.toContain('Tried:')
  })

  test('after another plan was made, too', () => {
    const plans = drawnWith(again).filter(each => each.key.startsWith('plan-r-1-2'))
    expect(plans).toHaveLength(2)
    expect(shown(plans[0]!.message)).toContain('Refused by <@U0APPROVE2> 11:36:00. Nothing of it was done.')
    expect(said(again, 'run-r-1')).toContain('tried 1 time before, last: refused by <@U0APPROVE2>')
  })
})

test('B2: where a risk has a list of its own, its plans name that list', () => {
  const approversFor = { low: '@low', medium: '<!subteam^SMEDIUM>', high: '@high' }
  const messages = drawnWith(waiting, { approversFor })
  expect(shown(messages.findLast(each => each.key.startsWith('plan-r-1-2'))!.message)).toContain(
    'for 2 different people of <!subteam^SMEDIUM> to approve',
  )
  expect(shown(messages[0]!.message)).toContain('*Waiting for an approver* (<!subteam^SMEDIUM>)')
})
