import type { Bundle } from '../../../src/core/evidence/bundle.js'
import type { Verdict } from '../../../src/core/diagnosis/finding.js'
import type { Counts, IncidentEvent } from '../../../src/core/incident/incident.js'
import type { DesiredMessage } from '../../../src/view/thread.js'
import { renderThread } from '../../../src/view/thread.js'
import { minute, now } from '../leaking-node.js'
import { shown } from './shown.js'
import { collected, diagnosedEvents, incidentOf, leakVerdict, noticedEvents, openEvents } from './states.js'
import { approver, countsOf, hour, opener, storyBundle, timeZone } from './story-bundle.js'

const drawn = (events: IncidentEvent[], bundles: [string, Bundle][] = [['b-1', storyBundle()]]) =>
  renderThread({
    cluster: 'prod-eu1',
    incident: incidentOf(events),
    runs: [],
    bundles: new Map(bundles),
    approversNamed: '@sre-oncall',
    now: now + hour,
    timeZone,
  })
const find = (messages: DesiredMessage[], key: string): string => {
  const found = messages.find(each => each.key === key)
  if (!found) throw new Error(`no message ${key}`)
  return shown(found.message)
}
const keys = (messages: DesiredMessage[], prefix: string): string[] =>
  messages.map(each => each.key).filter(key => key.startsWith(prefix))

const counts = (): Counts => {
  const counted = countsOf(storyBundle())
  if (!counted) throw new Error('the node of the story can be counted')
  return counted
}
const reading = (
  at: number,
  bundle: string,
  change: Partial<Counts> = {},
  verdict: Verdict = leakVerdict,
  reason?: string,
): IncidentEvent => ({
  at,
  by: 'cnibot',
  type: 'EvidenceCollected',
  bundle,
  counts: reason === undefined ? { ...counts(), ...change } : undefined,
  reason,
  verdict,
})
const atTen = now + 10 * minute

describe('what is told anew', () => {
  const later = storyBundle({ collectedAt: atTen })

  test('a Pod more is no news: the newest reading stands in the place of the first, the file is dated', () => {
    const messages = drawn(
      [...diagnosedEvents, reading(atTen, 'b-2', { live: 42, taken: 252, young: 1 })],
      [
        ['b-1', storyBundle()],
        ['b-2', later],
      ],
    )
    expect(keys(messages, 'evidence-')).toEqual(['evidence-b-1'])
    expect(keys(messages, 'verdict-')).toEqual(['verdict-b-1'])
    expect(find(messages, 'evidence-b-1')).toContain('*Evidence, Wed 11:41:00*')
    expect(find(messages, 'evidence-b-1')).toContain('Attached, as first read Wed 11:31: every address')
  })

  test.each([
    ['one orphan more', reading(atTen, 'b-2', { orphaned: 213 })],
    ['another cause', reading(atTen, 'b-2', {}, { ...leakVerdict, cause: 'runtime-error' })],
    [
      'an address to give again',
      reading(atTen, 'b-2', {}, { ...leakVerdict, findings: leakVerdict.findings.slice(1) }),
    ],
    ['no answer', reading(atTen, 'b-2', {}, leakVerdict, 'crictl did not answer')],
  ])('%s is news', (_what, event) => {
    expect(keys(drawn([...diagnosedEvents, event]), 'verdict-')).toEqual(['verdict-b-1', 'verdict-b-2'])
  })
})

const run = (at: number, endedAt: number): IncidentEvent[] => [
  { at, by: opener, type: 'RunOpened', run: 'r-1', runbook: 'leak-reconcile' },
  {
    at: endedAt,
    by: approver,
    type: 'RunEnded',
    run: 'r-1',
    outcome: 'completed',
    says: '212 moved',
    recountAt: now + 24 * hour,
  },
]
const recounted = (matched: boolean, change: Partial<Counts>, says: string): IncidentEvent => ({
  at: now + 24 * hour,
  by: 'cnibot',
  type: 'Recounted',
  bundle: 'b-2',
  counts: { ...counts(), ...change },
  matched,
  says,
  nextAt: undefined,
})
const repaired = [...diagnosedEvents, ...run(now + 2 * minute, now + 8 * minute)]

describe('P-V7: opened again', () => {
  const leakedAgain = [
    ...repaired,
    recounted(false, { orphaned: 212 }, '212 without a sandbox'),
    reading(now + 24 * hour, 'b-2'),
  ]

  test('with the same cause after a repair: it was not fixed, and the reading is told anew', () => {
    const messages = drawn(leakedAgain)
    expect(find(messages, 'head')).toContain(
      'Opened for the 2nd time in 24 h; last repaired Wed 11:39 in a run opened by <@U0OPENER01>. The cause was not fixed.',
    )
    expect(keys(messages, 'verdict-')).toEqual(['verdict-b-1', 'verdict-b-2'])
    expect(find(messages, 'recount-0')).toContain(
      'The leak is still active: it was tidied, not repaired. Opened again',
    )
  })

  test('with another cause nothing is said of the first', () => {
    const other = [
      ...leakedAgain.slice(0, -1),
      reading(now + 24 * hour, 'b-2', {}, { ...leakVerdict, cause: 'other' }),
    ]
    expect(find(drawn(other), 'head')).toContain('Opened for the 2nd time')
    expect(find(drawn(other), 'head')).not.toContain('The cause was not fixed')
  })

  test('before it is looked at again nothing is known of the cause', () => {
    expect(find(drawn(leakedAgain.slice(0, -1)), 'head')).not.toContain('The cause was not fixed')
  })

  test('for another reason than orphans: in the words of the check', () => {
    const lost = recounted(false, { orphaned: 0 }, 'node-07: ready sandboxes without an address: 2')
    const text = find(drawn([...repaired, lost]), 'recount-0')
    expect(text).toContain(
      'ready sandboxes without an address: 2\nWhat was checked does not hold. Opened again',
    )
    expect(text).not.toContain('leak is still active')
  })

  test('a node that was noticed and found clean before its first opening is opened for the first time', () => {
    const clean: IncidentEvent = { at: now - hour, by: 'cnibot', type: 'MeasuredClean' }
    const first = drawn([
      ...noticedEvents.slice(0, 2),
      clean,
      ...openEvents.slice(2),
      collected(storyBundle(), leakVerdict),
    ])
    expect(find(first, 'head')).toContain('4 tickets')
    expect(find(first, 'head')).not.toContain('Opened for the')
  })
})
