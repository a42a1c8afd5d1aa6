import type { Verdict } from '../../../src/core/diagnosis/finding.js'
import {
  renderAnswer,
  renderHelp,
  renderLooking,
  renderStatus,
  renderUnknownNode,
  sentence,
} from '../../../src/view/command.js'
import { nearest } from '../../../src/view/nearest.js'
import { renderTerminal } from '../../../src/view/terminal.js'
import { blockProblems } from '../../lab/slack/limits/blocks.js'
import { leakingNode, minute, now } from '../leaking-node.js'
import { expectGolden } from './golden.js'
import { removalPlanned, runOf } from './run-states.js'
import { shown } from './shown.js'
import { diagnosedEvents, incidentOf, leakVerdict } from './states.js'
import { approver, opener, storyBundle, timeZone } from './story-bundle.js'

const nodes = Array.from({ length: 18 }, (_, i) => `node-${String(i + 1).padStart(2, '0')}`)

const healthy: Verdict = {
  ...leakVerdict,
  cause: 'nothing-found',
  headline: 'Nothing found',
  findings: [{ name: 'nothing-found', says: '', evidence: [] }],
  hypotheses: [],
  outlook: undefined,
  doNot: [],
  next: [],
  runbooks: [],
}

const answerOf = (over: Partial<Parameters<typeof renderAnswer>[0]> = {}) =>
  renderAnswer({
    cluster: 'prod-eu1',
    node: 'node-07',
    askedBy: approver,
    bundle: storyBundle(),
    verdict: leakVerdict,
    link: 'https://slack.example/archives/C1/p1',
    timeZone,
    ...over,
  })

test('C7: a healthy node is answered in one line, its evidence folded into the thread', () => {
  const answer = answerOf({ node: 'node-11', bundle: leakingNode(52, 0), verdict: healthy, link: undefined })
  expect(shown(answer.message)).toContain(
    '*node-11* can give new Pods an address: 52 of 253 addresses taken, none without a sandbox.',
  )
  expect(answer.replies).toHaveLength(2)
})

test('C7: a leaking node is answered with its gap and a link to its incident', () => {
  const { message, replies, file } = answerOf()
  expectGolden('answer-leaking', message)
  expect(shown(message)).toContain('<https://slack.example/archives/C1/p1|thread of node-07>')
  for (const each of [message, ...replies]) expect(blockProblems(each.blocks, 'message')).toEqual([])
  expect(file?.name).toBe('node-07-evidence.txt')
})

test('an answer whose reading is gone keeps its verdict', () => {
  const answer = answerOf({ bundle: undefined })
  expect(answer.replies).toHaveLength(1)
  expect(answer.file).toBeUndefined()
})

test.each([
  ['node-7', 'node-07'],
  ['NODE-07', 'node-07'],
  ['nod-07', 'node-07'],
  ['mode-12', 'node-12'],
  ['database', undefined],
  ['', undefined],
])('the nearest name to %j is %j', (asked, name) => {
  expect(nearest(asked, nodes)).toBe(name)
})

test('a mistyped node is answered with the nearest name', () => {
  expect(shown(renderUnknownNode('node-7', nodes))).toContain(
    'No node `node-7`. Did you mean *node-07*? Nodes: node-01, node-02',
  )
  expect(shown(renderUnknownNode('<!here>', []))).toBe(
    'No node `&lt;!here&gt;`. The cluster has no nodes that can be seen.',
  )
})

test('help names every command, and what was typed instead', () => {
  const text = shown(renderHelp('drian node-07'))
  expect(text).toContain('`drian node-07` is no command of /cni')
  for (const each of ['/cni diagnose', '/cni explain', '/cni status', '/cni help'])
    expect(text).toContain(each)
})

test('status: open incidents, whose turn it is, and how long a plan has waited', () => {
  const incident = incidentOf([
    ...diagnosedEvents,
    { at: now + 2 * minute, by: opener, type: 'RunOpened', run: 'r-1', runbook: 'leak-reconcile' },
  ])
  const message = renderStatus({
    cluster: 'prod-eu1',
    incidents: [incident],
    runs: [runOf(removalPlanned)],
    now: now + 14 * minute,
    timeZone,
  })
  expect(shown(message)).toContain('*prod-eu1*: 1 open incident.')
  expect(shown(message)).toContain('waits 10 min for an approver: Remove 212 addresses on node-07')
  expect(shown(renderStatus({ cluster: 'c', incidents: [], runs: [], now, timeZone }))).toBe(
    '*c*: no open incident.',
  )
})

test('one sentence keeps our own marks and escapes the rest', () => {
  expect(shown(sentence('You are not on the list for *medium* steps. <@U0APPROVE1> <!here>'))).toBe(
    'You are not on the list for *medium* steps. <@U0APPROVE1> &lt;!here&gt;',
  )
  expect(shown(renderLooking('node-07'))).toContain('read only')
})

test('a terminal gets the same evidence and verdict, without colour codes unless asked', () => {
  const bare = renderTerminal(storyBundle(), leakVerdict, { colour: false })
  expectGolden('terminal-story', bare.split('\n'))
  expect(bare).not.toContain('\u001b')
  for (const each of ['253 of 253 taken', '14× in 41 min', 'node-04', 'Leaked addresses · sure', 'Do not'])
    expect(bare).toContain(each)
  const coloured = renderTerminal(storyBundle(), leakVerdict, { colour: true })
  expect(coloured).toContain('\u001b[1mAddresses:\u001b[22m')
})

test('P-V7: status of a repaired node says what was given back, not what was counted before', () => {
  const at = now + 9 * minute
  const says = '212 moved, 0 skipped'
  const repaired = incidentOf([
    ...diagnosedEvents,
    { at: now + 2 * minute, by: opener, type: 'RunOpened', run: 'r-1', runbook: 'leak-reconcile' },
    { at, by: 'cnibot', type: 'RunEnded', run: 'r-1', outcome: 'completed', says, recountAt: at + minute },
  ])
  const text = shown(
    renderStatus({ cluster: 'prod-eu1', incidents: [repaired], runs: [], now: at, timeZone }),
  )
  expect(text).toContain(says)
  expect(text).not.toContain('sandboxes that no longer exist')
})
