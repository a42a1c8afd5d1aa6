import {
  type IncidentEvent,
  foldIncident,
  incidentStream,
  runStream,
} from '../../src/core/incident/incident.js'
import { foldRun, type Outcome, type RunEvent } from '../../src/core/runbook/run.js'
import { endIncidentRun, settle } from '../../src/flows/settle-run.js'
import { type NodeShell, Unreachable } from '../../src/ports.js'
import { renderThread } from '../../src/view/thread.js'
import { fakeCluster, fakeNode } from '../fakes/cluster.js'
import { fakeLog } from '../fakes/log.js'
import { digest, done, event, opened, planned, runbook, t0 } from '../unit/runbook/runs.js'
import { shown } from '../unit/view/shown.js'
import { clickWorld } from './click-world.js'
import { workerSettings } from '../fakes/settings.js'

const run = 'node-07.1-r1'
const mark = 'prod-eu1/node-07.1'
const windowMs = 3 * 86_400_000

const cordoned = [
  opened(runbook({ watch: { after: '24h', checks: ['allocations-match-sandboxes'] } })),
  planned(0, 'cordon'),
  event(1, 'StepApproved', { index: 0, digest }),
  event(2, 'StepStarted', { index: 0 }),
  done(0, 'cordon', true),
]
const checked = [planned(1, 'expect'), event(3, 'StepStarted', { index: 1 }), done(1, 'expect', false)]
const failed = [
  planned(1, 'expect'),
  event(3, 'StepFailed', { index: 1, error: { class: 'failed', message: 'no', output: '' } }),
]
const undoing = [...failed, event(4, 'UndoAsked'), event(5, 'UndoStarted', { index: 0 })]

/** One way to each end; what the run itself believes of the cordon is the same or not as what the node says. */
const ways: Record<Outcome, RunEvent[]> = {
  completed: [
    ...cordoned,
    ...checked,
    planned(2, 'uncordon'),
    event(4, 'StepApproved', { index: 2, digest }),
    done(2, 'uncordon', true),
  ],
  held: [...cordoned, ...failed],
  undone: [...cordoned, ...undoing, event(6, 'UndoDone', { index: 0, says: 'schedulable again' })],
  stuck: [
    ...cordoned,
    ...undoing,
    event(6, 'UndoFailed', { index: 0, error: { class: 'failed', message: 'no', output: '' } }),
  ],
  abandoned: [...cordoned, ...failed],
}
const outcomes = Object.keys(ways) as Outcome[]

const truths = {
  schedulable: { node: { unschedulable: false }, card: 'schedulable', head: undefined },
  ours: {
    node: { unschedulable: true, cordonedBy: mark },
    card: 'cordoned by this incident',
    head: 'ordoned',
  },
  'of somebody with kubectl': {
    node: { unschedulable: true, cordonedWith: 'kubectl' },
    card: 'cordoned by somebody else (with kubectl)',
    head: 'ordoned by somebody else (with kubectl)',
  },
} as const

const shell: NodeShell = {
  shown: () => '',
  run: async () => {
    throw new Unreachable('no node in this test')
  },
}

const ended = async (outcome: Outcome, node: Parameters<typeof fakeNode>[1] | 'unreachable') => {
  const { deps, history } = await clickWorld()
  const over = node === 'unreachable' ? {} : node
  const cluster = fakeCluster({ nodes: [fakeNode('node-07', over)] })
  if (node === 'unreachable') cluster.failing.set('node', new Unreachable('the API server did not answer'))
  const end: RunEvent = { at: t0 + 600_000, by: 'U1', type: 'RunEnded', outcome }
  const events = [...ways[outcome], end]
  const state = foldRun(events)!
  await history.append<RunEvent>(runStream(run), 0, events)
  const openedRun: IncidentEvent = { at: t0, by: 'U1', type: 'RunOpened', run, runbook: 'leak-reconcile' }
  await history.append<IncidentEvent>(incidentStream('node-07'), 3, [openedRun])
  const settings = { ...workerSettings, incidentWindowMs: windowMs }
  const settling: Parameters<typeof settle>[0] = { ...deps, cluster, shell, log: fakeLog(), settings }
  await settle(settling, state)
  await settle(settling, state)
  const incident = foldIncident(
    'node-07',
    (await history.read<IncidentEvent>(incidentStream('node-07'))).events,
    windowMs,
  )!
  const thread = renderThread({
    cluster: 'prod-eu1',
    incident,
    runs: [state],
    bundles: new Map(),
    approversNamed: '@sre',
    now: t0 + 700_000,
    timeZone: 'UTC',
  })
  const message = (key: string) => shown(thread.find(each => each.key === key)!.message)
  return { incident, card: message(`run-${run}`), head: message('head'), settling }
}

describe.each(outcomes)('B7: a run that ended %s states the cordon as the node itself says it', outcome => {
  test.each(Object.entries(truths))('%s', async (_what, { node, card, head }) => {
    const thread = await ended(outcome, node)
    expect(thread.incident.runs[0]?.outcome).toBe(outcome)
    expect(thread.card).toMatch(
      new RegExp(`At its end\\*: node-07 was ${card.replace(/[()]/g, '\\$&')}( since|[;.])`),
    )
    if (head === undefined) expect(thread.head).not.toMatch(/ordoned by|still cordoned|stays cordoned/)
    else expect(thread.head).toContain(head)
  })

  test('when the node could not be asked, the card says that, and why', async () => {
    const { card } = await ended(outcome, 'unreachable')
    expect(card).toMatch(
      /as far as this run knows; the node itself could not be asked \(the API server did not/,
    )
  })
})

test('B7: a run that could not even begin states the cordon too', async () => {
  const { settling } = await ended('held', {})
  const history = settling.history
  const again: IncidentEvent = {
    at: t0 + 800_000,
    by: 'U1',
    type: 'RunOpened',
    run: 'node-07.1-r2',
    runbook: 'gone',
  }
  const { length } = await history.read(incidentStream('node-07'))
  await history.append<IncidentEvent>(incidentStream('node-07'), length, [again])
  const end = {
    by: 'cnibot',
    run: 'node-07.1-r2',
    outcome: 'abandoned' as const,
    says: 'no',
    recountAt: undefined,
  }
  await endIncidentRun(settling, 'node-07', end)
  const { events } = await history.read<IncidentEvent>(incidentStream('node-07'))
  expect(foldIncident('node-07', events, windowMs)?.runs[1]?.cordon).toEqual({ whose: 'nobody' })
})
