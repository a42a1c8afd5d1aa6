import type { Brakes } from '../../../src/core/brakes.js'
import type { IncidentEvent } from '../../../src/core/incident/incident.js'
import type { Comparison, MovesAway } from '../../../src/core/runbook/comparison.js'
import { movesAway, pastOf, workMs } from '../../../src/core/runbook/comparison.js'
import { compareMessage, type Shut } from '../../../src/view/compare.js'
import { blockProblems } from '../../lab/slack/limits/blocks.js'
import { fakePod } from '../../fakes/cluster.js'
import { done, event, fold, opened, planned, t0 } from '../runbook/runs.js'
import { renderThread } from '../../../src/view/thread.js'
import { buttonsOf, shown } from './shown.js'
import { diagnosedEvents, incidentOf } from './states.js'
import { timeZone } from './story-bundle.js'

const names = Array.from(
  { length: 110 },
  (_, i) => `a-rather-long-namespace-name/a-rather-long-pod-name-${i}`,
)
const why = 'PDB a-rather-long-budget-name allows 0'
const worst: Comparison = {
  readAt: t0,
  addresses: { give: 212, leave: 3 },
  pods: {
    moves: names,
    waits: names.map(pod => ({ pod, why })),
    stays: 6,
    blocks: names.map(pod => ({ pod, why: 'no controller: `<!channel>` <https://x|y>' })),
    emptyDirs: names,
    unmanaged: names,
    own: ['Pod ops/cni-worker-1 (this very process): move it'],
  },
  past: { 'leak-drain': { runs: 2, medianMs: 60_000 * 24, shortestMs: 60_000 * 20, longestMs: 60_000 * 40 } },
}
const diagnosed = incidentOf(diagnosedEvents)
const offering = {
  ...diagnosed,
  evidence: diagnosed.evidence.map(each => ({
    ...each,
    verdict: { ...each.verdict, runbooks: ['leak-reconcile', 'leak-drain'] },
  })),
}
const card = (comparison: Comparison, shut?: Shut) =>
  compareMessage({
    cluster: 'prod-eu1',
    incident: offering,
    comparison,
    shut,
    cordoned: true,
    timeZone,
  })

test('P-A2: a card at its longest keeps to what Slack takes, and text from the cluster stays text', () => {
  const message = card(worst)
  expect(blockProblems(message.blocks, 'message')).toEqual([])
  expect(JSON.stringify(message).length).toBeLessThan(13_000)
  expect(shown(message)).toContain('&lt;!channel&gt;')
  expect(shown(message)).toContain('and 102 more')
})

test('P-A2: the numbers of both repairs stand beside each other', () => {
  const text = shown(card(worst)).split('\n')
  const after = (first: string) => text.slice(text.indexOf(first) + 1, text.indexOf(first) + 3)
  expect(after('addresses given back')).toEqual(['212 (3 left, see below)', '212 (3 left, see below)'])
  expect(after('takes about')).toEqual([
    'no past run here',
    '24 min at work (median of 2 runs here, 20 min to 40 min), and what the approvals take',
  ])
  expect(after('in the way')[1]).toBe(
    'cnibot itself stands here: it is refused; 110 Pods that cannot be evicted: nothing moves; 110 Pods held back by a budget',
  )
})

const of = (pods: Comparison['pods']): MovesAway => {
  if ('own' in pods) return pods
  throw new Error(pods.unknown)
}
const quiet: Comparison = {
  ...worst,
  pods: { ...of(worst.pods), blocks: [], own: [], waits: [], moves: ['a/b'], emptyDirs: [], unmanaged: [] },
}
const cellsOf = (comparison: Comparison, first: string): string[] => {
  const text = shown(card(comparison)).split('\n')
  return text.slice(text.indexOf(first) + 1, text.indexOf(first) + 3)
}
const both = ['cnibot:reconcile: Reconcile in place…', 'cnibot:drain: Drain…', 'cnibot:hold: Hold, cordoned']
const refused = { refused: ["the node's clock is 10 min ahead: set its clock first", 'second reason'] }

describe('P-A2: neither column promises what would be refused', () => {
  test('a removal that is refused now is in the way of both, and neither is offered', () => {
    const comparison = { ...quiet, addresses: refused, drained: refused }
    expect(cellsOf(comparison, 'addresses given back')).toEqual(['none as it stands', 'none as it stands'])
    expect(cellsOf(comparison, 'in the way')).toEqual([
      'the removal is refused as it stands, see below',
      'the removal is refused as it stands, see below',
    ])
    const text = shown(card(comparison))
    expect(text).toContain(
      "*Removal refused:* the node's clock is 10 min ahead: set its clock first; second reason",
    )
    expect(text).toContain('Neither repair is offered: ')
    expect(buttonsOf(card(comparison))).toEqual(['cnibot:hold: Hold, cordoned'])
  })
  test('one that only a drain makes impossible leaves the other', () => {
    const comparison = { ...quiet, drained: refused }
    expect(cellsOf(comparison, 'addresses given back')[1]).toBe('none as it stands')
    expect(cellsOf(comparison, 'in the way')[0]).toBe('nothing')
    expect(shown(card(comparison))).toMatch(/\*Removal after a drain refused:\* the node's clock/)
    expect(shown(card(comparison))).toContain('Drain is not offered: no address could be removed afterwards.')
    expect(buttonsOf(card(comparison))).toEqual([both[0], both[2]])
  })
  test.each<[string, Partial<MovesAway>, string]>([
    ['cnibot itself', { own: ['Pod ops/cni-worker-1: move it'] }, 'cnibot itself stands here'],
    ['a Pod that cannot be evicted', { blocks: [{ pod: 'a/b', why: 'x' }] }, '1 Pod cannot be evicted'],
  ])('a drain that would be refused because of %s has no button, and the card says why', (_w, over, why) => {
    const comparison = { ...quiet, pods: { ...of(quiet.pods), ...over } }
    expect(buttonsOf(card(comparison))).toEqual([both[0], both[2]])
    expect(shown(card(comparison))).toContain(`Drain is not offered: ${why}.`)
  })
  test('where nothing speaks against either, both are offered; as where it is not known', () => {
    expect(buttonsOf(card(quiet))).toEqual(both)
    const unread = { unknown: 'no answer' }
    expect(buttonsOf(card({ ...quiet, addresses: unread, drained: unread, pods: unread }))).toEqual(both)
    expect(cellsOf({ ...quiet, addresses: unread, drained: unread }, 'in the way')).toEqual([
      'not known, see below',
      'not all is known, see below',
    ])
  })
  test('addresses that are left are named with why', () => {
    const left = [{ ip: '10.244.7.9', why: 'still held: <!channel>' }]
    const text = shown(card({ ...quiet, addresses: { give: 2, leave: 1, left } }))
    expect(text).toContain('2 (1 left, see below)')
    expect(text).toContain('*Addresses left:* 10.244.7.9 (still held: &lt;!channel&gt;)')
  })
})

describe('law 5: what is not known of a drain is in its way', () => {
  const unclear = ['where Redis runs: no answer for <!channel>']
  const comparison = { ...quiet, pods: { ...of(quiet.pods), unclear } }
  test('never "nothing"', () => {
    expect(cellsOf(comparison, 'in the way')[1]).toBe('not all is known, see below')
    expect(shown(card(comparison))).toContain('*Not known:* where Redis runs: no answer for &lt;!channel&gt;')
  })
  test('a budget that lets only some go at a time is in the way too', () => {
    const tight = { ...quiet, pods: { ...of(quiet.pods), tight: ['shop/front 1 of 9'] } }
    expect(cellsOf(tight, 'in the way')[1]).toBe('budgets that let only some go at a time: shop/front 1 of 9')
  })
})

test('the median of none is not known, of two it is the shorter one, and time at work leaves waiting out', () => {
  expect(pastOf([])).toBeUndefined()
  expect(pastOf([30, 10])).toEqual({ runs: 2, medianMs: 10, shortestMs: 10, longestMs: 30 })
  const run = fold(
    opened(),
    planned(0, 'cordon'),
    event(60_000, 'StepApproved', { index: 0, digest: 'a'.repeat(64) }),
    event(60_000, 'StepStarted', { index: 0 }),
    { ...done(0, 'cordon', true), at: t0 + 62_000 },
  )
  expect(workMs(run)).toBe(2_000)
})

test('nothing on a node is a drain of nothing', () => {
  expect(movesAway([], { here: [], unknown: ['where Redis runs'] }, [])).toEqual({
    moves: [],
    waits: [],
    stays: 0,
    blocks: [],
    emptyDirs: [],
    unmanaged: [],
    own: [],
    unclear: ['where Redis runs'],
    tight: [],
  })
})

test('P-A2: a finished Pod without a controller is not one that nothing starts again', () => {
  const bare = (name: string, phase: string) => ({
    pod: { ...fakePod('batch', name, { phase }), emptyDirs: [], graceMs: 0, finalizers: [] },
    verdict: 'evict' as const,
    why: '',
    loses: [],
  })
  const ground = { here: [], unknown: [] }
  const told = movesAway(
    [bare('runs', 'Running'), bare('over', 'Succeeded'), bare('broken', 'Failed')],
    ground,
    [],
  )
  expect(told).toMatchObject({
    moves: ['batch/runs', 'batch/over', 'batch/broken'],
    unmanaged: ['batch/runs'],
  })
})

describe('P-A2: a card on which nothing can be chosen says why, as the head does', () => {
  const compared = (readAt: number): IncidentEvent => ({
    at: readAt,
    by: 'U1',
    type: 'RepairsCompared',
    comparison: { ...worst, readAt },
  })
  const at = diagnosedEvents.at(-1)!.at + 60_000
  const drawn = (events: IncidentEvent[], brakes: Pick<Brakes, 'paused' | 'storm'>) => {
    const messages = renderThread({
      cluster: 'prod-eu1',
      incident: incidentOf([...diagnosedEvents, ...events]),
      runs: [],
      bundles: new Map(),
      approversNamed: '@sre-oncall',
      now: at + 60_000,
      timeZone,
      brakes,
    })
    const cards = messages.filter(({ key }) => key.startsWith('compare-'))
    return { head: messages[0]!.message, cards: cards.map(({ message }) => message) }
  }
  const none = { paused: undefined, storm: undefined }
  const paused = { ...none, paused: { by: 'U2', at, why: 'the network is being rebuilt' } }
  const storm = (ended?: { at: number; by: string }) => ({
    ...none,
    storm: { since: at, nodes: ['node-07', 'node-08'], ended },
  })
  const opens: IncidentEvent = { at: at + 2, by: 'U1', type: 'RunOpened', run: 'r', runbook: 'leak-drain' }

  test.each<[string, IncidentEvent[], Pick<Brakes, 'paused' | 'storm'>, RegExp]>([
    ['changes are paused', [], paused, /Changes are paused, so no repair can be chosen now/],
    ['a storm is on', [], storm(), /Many nodes broke at once.* no repair can be chosen/],
    ['both', [], { ...storm(), paused: paused.paused }, /Many nodes broke at once/],
    ['a run was opened', [opens], none, /A choice was made/],
    [
      'it was escalated',
      [{ at, by: 'U1', type: 'Escalated', to: '@p', why: 'x' }],
      none,
      /No repair can be chosen now/,
    ],
  ])('%s', (_why, events, brakes, words) => {
    const [card] = drawn([compared(at), ...events], brakes).cards
    expect(shown(card!)).toMatch(words)
    expect(shown(card!)).not.toMatch(/newer comparison|an approver chooses/)
    expect(buttonsOf(card!)).toEqual([])
  })

  test('a newer one stands below; the newest can be chosen on, also after a storm', () => {
    const { cards } = drawn([compared(at), compared(at + 1)], storm({ at, by: 'U1' }))
    expect(shown(cards[0]!)).toContain('A newer comparison stands below')
    expect(buttonsOf(cards[0]!)).toEqual([])
    expect(shown(cards[1]!)).toContain('an approver chooses')
    expect(buttonsOf(cards[1]!)).not.toEqual([])
  })
})
