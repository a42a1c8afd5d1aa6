import {
  foldIncident,
  type IncidentEvent,
  incidentMay,
  type IncidentState,
  nodeOfIncident,
} from '../../../src/core/incident/incident.js'
import { leaked } from '../../fakes/verdict.js'

const t0 = Date.UTC(2026, 10, 17, 10, 14)
const day = 86_400_000
const windowMs = 3 * day
const symptom = (at: number, name = 'api', podUid = 'p1'): IncidentEvent => ({
  at,
  by: 'cnibot',
  type: 'SymptomSeen',
  symptom: {
    kind: 'stuck-sandbox',
    node: 'node-07',
    workload: { namespace: 'payments', kind: 'Deployment', name },
    pod: `${name}-x`,
    podUid,
    since: at - 300_000,
    message: undefined,
    exhausted: true,
  },
})
const collected = (at: number): IncidentEvent => ({
  at,
  by: 'cnibot',
  type: 'EvidenceCollected',
  bundle: `b${at}`,
  counts: undefined,
  reason: undefined,
  verdict: leaked,
})
const opened = (at: number): IncidentEvent => ({ at, by: 'cnibot', type: 'Opened', why: 'full' })
const runOpened = (at: number): IncidentEvent => ({
  at,
  by: 'U1',
  type: 'RunOpened',
  run: 'node-07.1-r1',
  runbook: 'leak-reconcile',
})
const runEnded = (
  at: number,
  outcome: 'completed' | 'held' | 'undone' | 'stuck',
  recountAt?: number,
): IncidentEvent => ({
  at,
  by: 'cnibot',
  type: 'RunEnded',
  run: 'node-07.1-r1',
  outcome,
  says: 'x',
  recountAt,
})
const recounted = (at: number, matched: boolean | undefined): IncidentEvent => ({
  at,
  by: 'cnibot',
  type: 'Recounted',
  bundle: 'b',
  counts: undefined,
  matched,
  says: 'x',
  nextAt: undefined,
})
const fold = (...events: IncidentEvent[]): IncidentState => {
  const state = foldIncident('node-07', events, windowMs)
  if (!state) throw new Error('no events')
  return state
}
const diagnosed = [symptom(t0), collected(t0 + 1), opened(t0 + 1)]

test('C3: the first symptom is only noticed; the look that finds the node full opens it diagnosed', () => {
  expect(fold(symptom(t0)).status).toBe('noticed')
  expect(fold(...diagnosed)).toMatchObject({ id: 'node-07.1', status: 'diagnosed' })
})

test('P-R2: a symptom that vanishes closes nothing', () => {
  const [first] = fold(symptom(t0)).tickets
  const gone: IncidentEvent = {
    at: t0 + 60_000,
    by: 'cnibot',
    type: 'SymptomGone',
    ticket: first?.id ?? '',
    end: { at: t0 + 60_000, how: 'deleted', replacement: { pod: 'api-y', node: 'node-04', afterMs: 4_000 } },
  }
  const state = fold(...diagnosed, gone)
  expect(state.status).toBe('diagnosed')
  expect(state.tickets[0]?.ended).toMatchObject({ how: 'deleted', replacement: { node: 'node-04' } })
})

test('no event leads from a vanished symptom to resolved', () => {
  for (const [status, may] of Object.entries(incidentMay))
    expect({ status, gone: may.includes('SymptomGone') }).toEqual({ status, gone: false })
})

test('P-V7: after a completed run the node is watched until the re-count matched', () => {
  const watching = [...diagnosed, runOpened(t0 + 2), runEnded(t0 + 3, 'completed', t0 + day)]
  expect(fold(...watching)).toMatchObject({ status: 'watching', recountAt: t0 + day })
  expect(fold(...watching, recounted(t0 + day, true)).status).toBe('resolved')
  expect(fold(...watching, recounted(t0 + day, undefined)).status).toBe('watching')
  expect(fold(...watching, recounted(t0 + day, false))).toMatchObject({
    status: 'open',
    reopened: [t0 + day],
  })
})

test('a completed run that proves nothing (a cordon alone) leaves the incident as open as it was', () => {
  expect(fold(...diagnosed, runOpened(t0 + 2), runEnded(t0 + 3, 'completed')).status).toBe('diagnosed')
})

test.each([
  ['held', 'holding'],
  ['undone', 'diagnosed'],
  ['stuck', 'escalated'],
] as const)('a run that ended %s leaves the incident %s', (outcome, status) => {
  expect(fold(...diagnosed, runOpened(t0 + 2), runEnded(t0 + 3, outcome)).status).toBe(status)
})

test('P-R2: a later symptom within the window reopens the same incident, after it another one begins', () => {
  const resolved = [
    ...diagnosed,
    runOpened(t0 + 2),
    runEnded(t0 + 3, 'completed', t0 + day),
    recounted(t0 + day, true),
  ]
  const soon = fold(
    ...resolved,
    symptom(t0 + 2 * day, 'query', 'p2'),
    collected(t0 + 2 * day),
    opened(t0 + 2 * day),
  )
  expect(soon).toMatchObject({ id: 'node-07.1', status: 'diagnosed', reopened: [t0 + 2 * day] })
  expect(soon.tickets).toHaveLength(2)
  expect(fold(...resolved, symptom(t0 + 9 * day, 'query', 'p2'))).toMatchObject({
    id: 'node-07.2',
    status: 'noticed',
  })
})

test('P-P6: closing by hand carries its reason', () => {
  const state = fold(...diagnosed, {
    at: t0 + 5,
    by: 'U1',
    type: 'ClosedByHand',
    reason: 'node was replaced',
  })
  expect(state).toMatchObject({ status: 'resolved', closed: { by: 'U1', reason: 'node was replaced' } })
})

test('an event that cannot follow is an error', () => {
  expect(() => fold(...diagnosed, runEnded(t0, 'completed'))).toThrow(
    'RunEnded cannot follow while it is diagnosed',
  )
})

test('the node is read from the incident, even when its name has dots', () => {
  expect(nodeOfIncident('node-07.eu.example.12')).toBe('node-07.eu.example')
})

test('a paused run handed to somebody leaves the incident with them', () => {
  const ended: IncidentEvent = {
    at: t0 + 3,
    by: 'U1',
    type: 'RunEnded',
    run: 'node-07.1-r1',
    outcome: 'held',
    says: 'x',
    recountAt: undefined,
    escalateTo: '@platform',
  }
  expect(fold(...diagnosed, runOpened(t0 + 2), ended)).toMatchObject({
    status: 'escalated',
    escalated: { to: '@platform', by: 'U1' },
  })
})

test.each([
  ['escalated while watched', { at: t0 + 4, by: 'U1', type: 'Escalated', to: '@x', why: 'y' }],
  [
    'repaired again while watched',
    { at: t0 + 4, by: 'U1', type: 'RunOpened', run: 'node-07.1-r2', runbook: 'cordon' },
  ],
] as [string, IncidentEvent][])(
  '%s: no re-count is due any more, so none can break the history',
  (_what, next) => {
    const state = fold(...diagnosed, runOpened(t0 + 2), runEnded(t0 + 3, 'completed', t0 + day), next)
    expect(state.recountAt).toBeUndefined()
  },
)

test('a node that was only noticed and found clean is opened for the first time later', () => {
  const state = fold(
    symptom(t0),
    collected(t0 + 1),
    { at: t0 + 2, by: 'cnibot', type: 'MeasuredClean' },
    symptom(t0 + day, 'query', 'p2'),
    collected(t0 + day),
    opened(t0 + day),
  )
  expect(state).toMatchObject({ status: 'diagnosed', reopened: [] })
})
