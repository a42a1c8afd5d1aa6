import type { Comparison } from '../../../src/core/runbook/comparison.js'
import { movesAway, pastOf, workMs } from '../../../src/core/runbook/comparison.js'
import { compareMessage } from '../../../src/view/compare.js'
import { blockProblems } from '../../lab/slack/limits/blocks.js'
import { done, event, fold, opened, planned, t0 } from '../runbook/runs.js'
import { shown } from './shown.js'
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
const card = (comparison: Comparison, open = true) =>
  compareMessage({
    cluster: 'prod-eu1',
    incident: incidentOf(diagnosedEvents),
    comparison,
    open,
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
  expect(after('addresses given back')).toEqual([
    '212 (3 left: too young, foreign or not readable)',
    '212 (3 left: too young, foreign or not readable)',
  ])
  expect(after('takes about')).toEqual([
    'no past run here',
    '24 min at work (median of 2 runs here, 20 min to 40 min), and what the approvals take',
  ])
  expect(after('in the way')[1]).toBe(
    'cnibot itself stands here: it is refused; 110 Pods that cannot be evicted: nothing moves; 110 Pods held back by a budget',
  )
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
  expect(movesAway([], [])).toEqual({
    moves: [],
    waits: [],
    stays: 0,
    blocks: [],
    emptyDirs: [],
    unmanaged: [],
    own: [],
  })
})
