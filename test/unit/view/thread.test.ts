import type { IncidentEvent } from '../../../src/core/incident/incident.js'
import type { RunEvent } from '../../../src/core/runbook/run.js'
import { characters, digestOf } from '../../../src/view/blocks.js'
import { type DesiredMessage, renderThread, type ThreadInput } from '../../../src/view/thread.js'
import { blockCharacters, blockProblems, MOST_BLOCK_CHARACTERS } from '../../lab/slack/limits/blocks.js'
import { minute, now } from '../leaking-node.js'
import { expectGolden } from './golden.js'
import {
  digestAt,
  opened,
  planned,
  removalDone,
  removalPlanned,
  removalStarted,
  runOf,
} from './run-states.js'
import { repaired as everyStepDone } from './run-repaired.js'
import { buttonsOf, shown } from './shown.js'
import { collected, diagnosedEvents, incidentOf, leakVerdict, noticedEvents, openEvents } from './states.js'
import { approver, countsOf, hour, opener, storyBundle, timeZone } from './story-bundle.js'

const thread = (
  events: IncidentEvent[],
  runs: RunEvent[][] = [],
  more: Partial<ThreadInput> = {},
): DesiredMessage[] =>
  renderThread({
    cluster: 'prod-eu1',
    incident: incidentOf(events),
    runs: runs.map(runOf),
    bundles: new Map([['b-1', storyBundle()]]),
    approversNamed: '@sre-oncall',
    now: now + hour,
    timeZone,
    ...more,
  })

const runOpened: IncidentEvent = {
  at: now + 2 * minute,
  by: opener,
  type: 'RunOpened',
  run: 'r-1',
  runbook: 'leak-reconcile',
}
const repairing = [...diagnosedEvents, runOpened]
const failed: RunEvent = {
  at: now + 6 * minute,
  by: 'cnibot',
  type: 'StepFailed',
  index: 2,
  error: {
    class: 'failed',
    message: 'the lock of the store was held for 10 s by another process; nothing was moved',
    output: 'flock: timeout\nholder: pid 4711 (host-local)\nmoved 0\nskipped 0\nexit 75\n',
  },
}
const completed: RunEvent = { at: now + 15 * minute, by: 'cnibot', type: 'RunEnded', outcome: 'completed' }
const repaired: IncidentEvent = {
  at: now + 15 * minute,
  by: 'cnibot',
  type: 'RunEnded',
  run: 'r-1',
  outcome: 'completed',
  says: '212 addresses given back, 0 living ones touched, node-exporter 18 of 18.',
  recountAt: now + 24 * hour,
}
const recounted = (matched: boolean | undefined): IncidentEvent => ({
  at: now + 24 * hour,
  by: 'cnibot',
  type: 'Recounted',
  bundle: 'b-2',
  counts: matched === false ? countsOf(storyBundle()) : undefined,
  matched,
  says: matched ? '44 addresses, 44 with a sandbox. No DEL failures in 24 h.' : 'orphans 6, yesterday 0.',
  nextAt: matched === false ? undefined : now + 8 * 24 * hour,
})

const states: Record<string, DesiredMessage[]> = {
  open: thread(openEvents),
  diagnosed: thread(diagnosedEvents),
  'prerequisites-asked': thread(repairing, [[opened, planned(0, now + 2 * minute)]]),
  'removal-awaits': thread(repairing, [removalPlanned]),
  'removal-runs': thread(repairing, [removalStarted]),
  'removal-done': thread(repairing, [removalDone]),
  'removal-failed': thread(repairing, [[...removalStarted, failed]]),
  held: thread([...diagnosedEvents, { at: now + 3 * minute, by: approver, type: 'Held' }]),
  escalated: thread([
    ...diagnosedEvents,
    {
      at: now + 3 * minute,
      by: approver,
      type: 'Escalated',
      to: '<!subteam^S0PLATFORM>',
      why: 'Leaked addresses',
    },
  ]),
  watching: thread([...repairing, repaired], [[...everyStepDone, completed]]),
  resolved: thread([...repairing, repaired, recounted(true)], [[...everyStepDone, completed]]),
  reopened: thread(
    [
      ...repairing,
      repaired,
      recounted(false),
      { ...collected(storyBundle(), leakVerdict, 'b-2'), at: now + 24 * hour },
    ],
    [[...everyStepDone, completed]],
  ),
}

const messageOf = (state: string, key: string): DesiredMessage => {
  const found = states[state]?.find(each => each.key.startsWith(key))
  if (!found) throw new Error(`no message ${key} in the state ${state}`)
  return found
}

test('a single symptom has no thread', () => {
  expect(thread(noticedEvents)).toEqual([])
})

test.each(Object.keys(states))('the thread of a node that is %s stands as written', name => {
  expectGolden(
    `thread-${name}`,
    states[name]?.map(({ file, ...rest }) => ({ ...rest, ...(file ? { file: file.name } : {}) })),
  )
})

test.each(Object.keys(states))('Slack takes every message of a node that is %s', name => {
  for (const { key, message } of states[name] ?? []) {
    expect({ key, problems: blockProblems(message.blocks, 'message') }).toEqual({ key, problems: [] })
    expect(message.text.length).toBeLessThanOrEqual(3_000)
    expect(characters(message.blocks)).toBeLessThan(10_000)
    expect(blockCharacters(message.blocks)).toBeLessThan(MOST_BLOCK_CHARACTERS)
  }
})

test('the same state gives the same blocks, whenever it is drawn', () => {
  const again = thread(repairing, [removalPlanned], { now: now + 90 * hour })
  expect(again.map(each => digestOf(each.message))).toEqual(
    states['removal-awaits']?.map(each => digestOf(each.message)),
  )
})

test('keys are in posting order and each once', () => {
  const keys = states['removal-failed']?.map(each => each.key) ?? []
  expect(keys).toEqual([
    'head',
    'tickets',
    'evidence-b-1',
    'verdict-b-1',
    'run-r-1',
    `plan-r-1-0-${digestAt(0).slice(0, 8)}`,
    `plan-r-1-1-${digestAt(1).slice(0, 8)}`,
    `plan-r-1-2-${digestAt(2).slice(0, 8)}`,
    `output-r-1-2-${failed.at}`,
  ])
})

test.each([
  ['open', ['cnibot:hold: Hold', 'cnibot:escalate: Escalate']],
  [
    'diagnosed',
    [
      'cnibot:cordon: Cordon node-07',
      'cnibot:compare: Compare repairs',
      'cnibot:hold: Hold',
      'cnibot:escalate: Escalate',
    ],
  ],
  ['removal-awaits', []],
  [
    'held',
    [
      'cnibot:cordon: Cordon node-07',
      'cnibot:compare: Compare repairs',
      'cnibot:release: Release',
      'cnibot:escalate: Escalate',
    ],
  ],
  ['escalated', ['cnibot:take-back: Take back', 'cnibot:close: Close…']],
  ['watching', ['cnibot:escalate: Escalate']],
  ['resolved', []],
])('the head of a node that is %s offers %j', (name, expected) => {
  expect(buttonsOf(messageOf(name, 'head').message)).toEqual(expected)
})

test('P-A1: hold is offered before a repair, at every pause and while a plan waits', () => {
  expect(buttonsOf(messageOf('diagnosed', 'head').message)).toContain('cnibot:hold: Hold')
  expect(buttonsOf(messageOf('removal-awaits', 'run-').message)).toContain('cnibot:hold: Hold')
  expect(buttonsOf(messageOf('removal-failed', 'run-').message)).toEqual([
    'cnibot:retry: Retry',
    'cnibot:undo: Undo',
    'cnibot:hold: Hold',
    'cnibot:escalate: Escalate',
  ])
})

test('a failed step shows what was tried, three lines of what came back, and the state of the node', () => {
  const card = messageOf('removal-failed', 'run-')
  const text = shown(card.message)
  expect(text).toContain('flock: timeout\nholder: pid 4711 (host-local)\nmoved 0')
  expect(text).not.toContain('exit 75')
  expect(text).toContain('first 3 of 5 lines')
  expect(text).toContain('node-07 is cordoned by this incident since 11:34')
  expect(text).toContain(
    "Undo puts back what the removal may have moved and is still free, then lifts this incident's cordon",
  )
  expect(messageOf('removal-failed', 'output-').file?.text).toContain('exit 75')
})

test('C3: tickets stand in order of time, with how each ended', () => {
  const text = shown(messageOf('open', 'tickets').message)
  expect(text).toMatch(
    /1\. Tue 10:31 · payments\/api \(Deployment\) · waited 31 min, deleted, its replacement started on node-04 in 4 s/,
  )
  expect(text).toMatch(
    /4\. Wed 10:50 · platform\/node-exporter \(DaemonSet\) · \*17 of 18\*, still stuck: a DaemonSet cannot move/,
  )
})

test('P-R2: that moving a Pod helped is told as evidence against the node', () => {
  expect(shown(messageOf('open', 'tickets').message)).toContain(
    'Moving a Pod helped 3 of these and repaired nothing. All 4 were on this node.',
  )
})

test('P-V7: a re-count that grew opens the incident again and says so', () => {
  expect(shown(messageOf('reopened', 'recount-0').message)).toContain(
    'The leak is still active: it was tidied, not repaired. Opened again',
  )
  expect(shown(messageOf('reopened', 'head').message)).toContain('Opened for the 2nd time')
})

test('one emoji at most, no exclamation mark, in every message', () => {
  for (const messages of Object.values(states))
    for (const { message } of messages) {
      const text = shown(message)
      expect(text.match(/\p{Emoji_Presentation}/gu)?.length ?? 0).toBeLessThanOrEqual(1)
      expect(text.replace(/<[^>]*>/g, '')).not.toContain('!')
    }
})
