import { type Bundle, isKnown, known } from '../../../src/core/evidence/bundle.js'
import type { IncidentEvent } from '../../../src/core/incident/incident.js'
import type { RunEvent } from '../../../src/core/runbook/run.js'
import { renderThread } from '../../../src/view/thread.js'
import { minute, now } from '../leaking-node.js'
import { cordoned, opened, planned, removalDone, removalStarted, runOf, ticked } from './run-states.js'
import { repaired } from './run-repaired.js'
import { buttonsOf, shown } from './shown.js'
import { diagnosedEvents, incidentOf } from './states.js'
import { approver, hour, opener, storyBundle, timeZone } from './story-bundle.js'

const ours = 'prod-eu1/node-07.1'
const cordonButton = 'cnibot:cordon: Cordon node-07'

/** The node as the API showed it at that time. */
const readAt = (at: number, unschedulable: boolean, cordonedBy?: string): Bundle => {
  const { facts, ...bundle } = storyBundle()
  if (!isKnown(facts)) throw new Error('the node of the story has facts')
  return { ...bundle, facts: known({ ...facts.value, unschedulable, cordonedBy }, at) }
}

const runOpened: IncidentEvent = {
  at: now + 2 * minute,
  by: opener,
  type: 'RunOpened',
  run: 'r-1',
  runbook: 'cordon',
}
const runEnded = (outcome: 'abandoned' | 'completed', recountAt?: number): IncidentEvent => ({
  at: now + 6 * minute,
  by: approver,
  type: 'RunEnded',
  run: 'r-1',
  outcome,
  says: 'cordon done',
  recountAt,
})
const abandoned = [...diagnosedEvents, runOpened, runEnded('abandoned')]
const cordonRun: RunEvent[] = [
  opened,
  ...ticked,
  ...cordoned,
  { at: now + 6 * minute, by: approver, type: 'RunEnded', outcome: 'abandoned' },
]
const byHand = (event: 'Held' | 'ClosedByHand' | 'Escalated'): IncidentEvent => {
  const base = { at: now + 7 * minute, by: approver }
  if (event === 'Held') return { ...base, type: 'Held' }
  return event === 'ClosedByHand'
    ? { ...base, type: 'ClosedByHand', reason: 'the node is replaced tomorrow' }
    : { ...base, type: 'Escalated', to: '@platform', why: 'Leaked addresses' }
}

const drawn = (events: IncidentEvent[], run: RunEvent[], reading?: Bundle) =>
  renderThread({
    cluster: 'prod-eu1',
    incident: incidentOf(events),
    runs: [runOf(run)],
    bundles: new Map([['b-1', storyBundle()], ...(reading ? [['b-2', reading] as const] : [])]),
    approversNamed: '@sre-oncall',
    now: now + hour,
    timeZone,
  })
const message = (key: string, ...input: Parameters<typeof drawn>) => {
  const found = drawn(...input).find(each => each.key === key)
  if (!found) throw new Error(`no message ${key}`)
  return found.message
}
const head = (...input: Parameters<typeof drawn>) => message('head', ...input)

test('a cordon that a run set is said and not offered again', () => {
  expect(shown(head(abandoned, cordonRun))).toContain('Cordoned Wed 11:34. *Waiting for an approver*')
  expect(shown(head(abandoned, cordonRun))).not.toContain('the scheduler keeps choosing it')
  expect(buttonsOf(head(abandoned, cordonRun))).not.toContain(cordonButton)
})

test('B7: lifted by a person since: the newer reading counts, and the button is back', () => {
  const now20 = readAt(now + 20 * minute, false, ours)
  expect(shown(head(abandoned, cordonRun, now20))).not.toContain('Cordoned')
  expect(shown(head(abandoned, cordonRun, now20))).toContain('cordon it now, then choose a repair')
  expect(buttonsOf(head(abandoned, cordonRun, now20))).toContain(cordonButton)
})

test('a newer reading that agrees is dated', () => {
  expect(shown(head(abandoned, cordonRun, readAt(now + 20 * minute, true, ours)))).toContain(
    'Cordoned Wed 11:34 (as read Wed 11:51). *Waiting for an approver*',
  )
})

test.each([
  [undefined, 'Cordoned by somebody else (as read Wed 11:51). *Waiting'],
  ['prod-eu1/node-07.0', 'Cordoned by prod-eu1/node-07.0 (as read Wed 11:51). *Waiting'],
  ['<!here>', 'Cordoned by &lt;!here&gt; (as read'],
])('B7: a cordon marked %j is not ours and is not offered again', (mark, words) => {
  const theirs = head(diagnosedEvents, [opened], readAt(now + 20 * minute, true, mark))
  expect(shown(theirs)).toContain(words)
  expect(buttonsOf(theirs)).not.toContain(cordonButton)
})

test('what a run did after the newest reading counts', () => {
  expect(shown(head(abandoned, cordonRun, readAt(now + minute, false)))).toContain('Cordoned Wed 11:34. ')
})

describe('P-A1: held', () => {
  test('with our cordon: release does not lift it, and who can is named', () => {
    expect(shown(head([...abandoned, byHand('Held')], cordonRun))).toMatch(
      /Held by <@U0APPROVE1> since Wed 11:38; node-07 stays cordoned until a repair run ends or somebody runs `kubectl uncordon node-07`\. Release ends the hold and does not lift the cordon\.$/m,
    )
  })
  test('without one: Pods still land there', () => {
    const held = head([...abandoned, byHand('Held')], cordonRun, readAt(now + 20 * minute, false))
    expect(shown(held)).toContain('node-07 is schedulable (as read Wed 11:51), so Pods still land there')
    expect(buttonsOf(held)).toContain(cordonButton)
  })
})

describe('our cordon outlives the incident and says so', () => {
  const lifts = 'somebody runs `kubectl uncordon node-07`'
  test.each([
    [
      'closed by hand',
      [...abandoned, byHand('Escalated'), { ...byHand('ClosedByHand'), at: now + 8 * minute }],
    ],
    ['escalated', [...abandoned, byHand('Escalated')]],
    ['watched', [...diagnosedEvents, runOpened, runEnded('completed', now + 24 * hour)]],
  ])('%s', (_what, events) => {
    const text = shown(head(events, cordonRun))
    expect(text).toContain(
      '*node-07* is cordoned by this incident since Wed 11:34: no new Pod is scheduled there',
    )
    expect(text).toContain(lifts)
    expect(text).not.toContain('Nothing more to do')
    expect(text).not.toContain('🟢')
  })

  test('in the first line, too', () => {
    const closed = [...abandoned, byHand('Escalated'), { ...byHand('ClosedByHand'), at: now + 8 * minute }]
    expect(shown(head(closed, cordonRun))).toMatch(/^🟠 \*node-07 closed by hand, still cordoned\*/)
    const lifted = shown(head(closed, cordonRun, readAt(now + 20 * minute, false)))
    expect(lifted).toMatch(/^🟢 \*node-07 closed by hand\*[\s\S]*Nothing more to do\./)
  })
})

test('a plan says how its node stood when it was made', () => {
  const cards = drawn(diagnosedEvents, repaired)
    .filter(each => each.key.startsWith('plan-'))
    .map(each => /risk · (.*)/.exec(shown(each.message))?.[1])
  expect(cards).toEqual([
    undefined,
    'node not cordoned',
    'cordoned by this incident since 11:34',
    'cordoned by this incident since 11:34',
    'cordoned by this incident since 11:34',
    'node not cordoned',
  ])
})

test('the card of a run that ended says how it left the node, whatever was read since', () => {
  const later = readAt(now + 20 * minute, false)
  expect(shown(message('run-r-1', abandoned, cordonRun, later))).toContain(
    '*At its end*: node-07 was cordoned by this incident since 11:34',
  )
  const ended: RunEvent = { at: now + 16 * minute, by: 'cnibot', type: 'RunEnded', outcome: 'completed' }
  expect(shown(message('run-r-1', abandoned, [...repaired, ended]))).toContain(
    '*At its end*: node-07 was schedulable since 11:42',
  )
})

describe('a step whose end is not on record', () => {
  const failed = (index: number, type: 'StepFailed' | 'UndoFailed' = 'StepFailed'): RunEvent => ({
    at: now + 5 * minute,
    by: 'cnibot',
    type,
    index,
    error: { class: 'unreachable', message: 'the API server did not answer', output: '' },
  })
  const words = 'perhaps cordoned by this incident: how that step ended is not known'

  test('a cordon that may have been set is offered again', () => {
    const run = [opened, ...ticked, ...cordoned.slice(0, -1), failed(1)]
    expect(shown(message('run-r-1', [...diagnosedEvents, runOpened], run))).toContain(
      `*Now*: node-07 is ${words}`,
    )
    expect(buttonsOf(head(abandoned, run))).toContain(cordonButton)
    expect(buttonsOf(message('run-r-1', [...diagnosedEvents, runOpened], run))).toContain('cnibot:undo: Undo')
  })

  test('an undo of the cordon that failed leaves it perhaps standing', () => {
    const undoing: RunEvent[] = [
      ...removalDone.slice(0, 8),
      { ...failed(2), at: now + 4 * minute },
      { at: now + 5 * minute, by: approver, type: 'UndoAsked' },
      { at: now + 5 * minute, by: 'cnibot', type: 'UndoStarted', index: 1 },
      failed(1, 'UndoFailed'),
      { at: now + 6 * minute, by: 'cnibot', type: 'RunEnded', outcome: 'stuck' },
    ]
    expect(shown(message('run-r-1', abandoned, undoing))).toContain(`*At its end*: node-07 was ${words}`)
  })

  test('a newer reading settles it', () => {
    const run = [opened, ...ticked, ...cordoned.slice(0, -1), failed(1)]
    expect(shown(head(abandoned, run, readAt(now + 20 * minute, true, ours)))).toContain(
      'Cordoned Wed 11:34 (as read Wed 11:51)',
    )
  })
})

test('the head of a repair is its title and one line of progress', () => {
  const text = shown(head([...diagnosedEvents, runOpened], removalStarted)).split('\n')
  expect(text).toEqual([
    '🔴 *node-07 cannot give new Pods an address* · prod-eu1',
    '*Repairing*, step 3 of 9: Remove 212 addresses on node-07.',
    'incident node-07.1',
  ])
  expect(shown(head([...diagnosedEvents, runOpened], [opened, planned(0, now + 2 * minute)]))).not.toContain(
    'tickets',
  )
})
