import type { Outcome } from '../runbook/run.js'
import type { IncidentEvent, IncidentEventType, IncidentState, IncidentStatus } from './incident-events.js'
import { addSymptom, endTicket } from './ticket.js'

export type * from './incident-events.js'

const recordings: readonly IncidentEventType[] = [
  'SymptomSeen',
  'SymptomGone',
  'EvidenceWanted',
  'EvidenceCollected',
  'ComparisonWanted',
  'RepairsCompared',
]

/** What may follow in each status, beside the recordings, which change nothing by themselves (law 6). */
export const incidentMay: Record<IncidentStatus, readonly IncidentEventType[]> = {
  noticed: ['Opened', 'MeasuredClean'],
  open: ['RunOpened', 'Held', 'Escalated', 'ClosedByHand'],
  diagnosed: ['RunOpened', 'Held', 'Escalated', 'ClosedByHand'],
  repairing: ['RunEnded'],
  holding: ['RunOpened', 'Released', 'Escalated', 'ClosedByHand'],
  watching: ['Recounted', 'RunOpened', 'Escalated', 'ClosedByHand'],
  escalated: ['TakenBack', 'ClosedByHand'],
  resolved: ['Recounted', 'Opened'],
}

const begin = (node: string, episode: number, at: number): IncidentState => ({
  id: `${node}.${episode}`,
  node,
  episode,
  status: 'noticed',
  startedAt: at,
  tickets: [],
  evidence: [],
  evidenceWanted: undefined,
  opened: undefined,
  runs: [],
  comparisonWanted: undefined,
  comparisons: [],
  recounts: [],
  recountAt: undefined,
  escalated: undefined,
  held: undefined,
  resolvedAt: undefined,
  closed: undefined,
  reopened: [],
})

const afterRun: Record<Outcome, IncidentStatus> = {
  completed: 'watching',
  held: 'holding',
  undone: 'diagnosed',
  abandoned: 'diagnosed',
  stuck: 'escalated',
}

const runEnded = (state: IncidentState, event: IncidentEvent & { type: 'RunEnded' }): IncidentState => {
  const runs = state.runs.map(run =>
    run.run === event.run
      ? {
          ...run,
          outcome: event.outcome,
          says: event.says,
          endedAt: event.at,
          ...(event.cordon ? { cordon: event.cordon } : {}),
        }
      : run,
  )
  // A run without a re-count (a cordon alone) proves nothing: the incident stays as open as it was.
  const proven = event.outcome !== 'completed' || event.recountAt !== undefined
  const to = event.escalateTo ?? (event.outcome === 'stuck' ? 'platform' : undefined)
  const status = to !== undefined ? 'escalated' : proven ? afterRun[event.outcome] : 'diagnosed'
  const escalated = to === undefined ? state.escalated : { to, why: event.says, by: event.by, at: event.at }
  const held = event.outcome === 'held' ? { by: event.by, at: event.at } : state.held
  return { ...state, runs, status, escalated, held, recountAt: event.recountAt }
}

const recounted = (state: IncidentState, event: IncidentEvent & { type: 'Recounted' }): IncidentState => {
  const { at, bundle, counts, matched, says } = event
  const recounts = [...state.recounts, { at, bundle, counts, matched, says }]
  if (matched === undefined) return { ...state, recounts, recountAt: event.nextAt }
  if (matched)
    return {
      ...state,
      recounts,
      recountAt: event.nextAt,
      status: 'resolved',
      resolvedAt: state.resolvedAt ?? at,
    }
  return {
    ...state,
    recounts,
    recountAt: undefined,
    status: 'open',
    resolvedAt: undefined,
    reopened: [...state.reopened, at],
  }
}

/** Whether a resolved incident is still the same trouble: a symptom within the window opens it again in its thread. */
export const sameEpisode = (state: IncidentState, at: number, windowMs: number): boolean =>
  state.status !== 'resolved' || at - (state.resolvedAt ?? state.startedAt) <= windowMs

/** The transition table, written out: one arm for each event. */
export const applyIncident = (
  node: string,
  state: IncidentState | undefined,
  event: IncidentEvent,
  windowMs: number,
): IncidentState => {
  const fresh = !state || !sameEpisode(state, event.at, windowMs)
  const current =
    fresh && event.type !== 'Recounted' ? begin(node, (state?.episode ?? 0) + 1, event.at) : state
  if (!current) throw new Error(`incident of ${node}: ${event.type} cannot be the first event`)
  if (!recordings.includes(event.type) && !incidentMay[current.status].includes(event.type))
    throw new Error(`incident ${current.id}: ${event.type} cannot follow while it is ${current.status}`)
  switch (event.type) {
    case 'SymptomSeen':
      return { ...current, tickets: addSymptom(current.tickets, event.symptom, event.at) }
    case 'SymptomGone':
      return { ...current, tickets: endTicket(current.tickets, event.ticket, event.end, event.at) }
    case 'EvidenceWanted':
      return { ...current, evidenceWanted: { at: event.at, why: event.why } }
    case 'EvidenceCollected': {
      const { bundle, at, counts, reason, verdict } = event
      const evidence = [...current.evidence, { bundle, at, counts, reason, verdict }]
      const status = current.status === 'open' ? 'diagnosed' : current.status
      // A look answers what was asked for before it began, nothing younger.
      const wanted = current.evidenceWanted
      const evidenceWanted = wanted && wanted.at > event.at ? wanted : undefined
      return { ...current, evidence, evidenceWanted, status }
    }
    case 'Opened': {
      // A node that was only noticed and found clean had no thread: its first opening is the first.
      const again = current.opened ? [...current.reopened, event.at] : current.reopened
      const opened = current.opened ?? { at: event.at, why: event.why, by: event.by }
      // Opened by a look that has just been taken: there is nothing left to collect.
      const status = current.evidence.at(-1)?.at === event.at ? 'diagnosed' : 'open'
      const cleared = { resolvedAt: undefined, closed: undefined, recountAt: undefined }
      return { ...current, opened, status, reopened: again, ...cleared }
    }
    case 'MeasuredClean':
      return { ...current, status: 'resolved', resolvedAt: event.at }
    case 'RunOpened': {
      const { run, runbook, at, by } = event
      const summary = {
        run,
        runbook,
        openedAt: at,
        openedBy: by,
        outcome: undefined,
        says: undefined,
        endedAt: undefined,
      }
      return { ...current, status: 'repairing', runs: [...current.runs, summary], recountAt: undefined }
    }
    case 'RunEnded':
      return runEnded(current, event)
    case 'ComparisonWanted':
      return { ...current, comparisonWanted: { at: event.at, by: event.by } }
    case 'RepairsCompared':
      return {
        ...current,
        comparisonWanted: undefined,
        comparisons: [...current.comparisons, event.comparison],
      }
    case 'Held':
      return { ...current, status: 'holding', held: { by: event.by, at: event.at } }
    case 'Released':
    case 'TakenBack':
      return { ...current, status: 'diagnosed' }
    case 'Escalated':
      return {
        ...current,
        status: 'escalated',
        recountAt: undefined,
        escalated: { to: event.to, why: event.why, by: event.by, at: event.at },
      }
    case 'ClosedByHand':
      return {
        ...current,
        status: 'resolved',
        recountAt: undefined,
        resolvedAt: event.at,
        closed: { by: event.by, reason: event.reason },
      }
    case 'Recounted':
      return recounted(current, event)
  }
}

export const foldIncident = (
  node: string,
  events: IncidentEvent[],
  windowMs: number,
): IncidentState | undefined =>
  events.reduce<IncidentState | undefined>(
    (state, event) => applyIncident(node, state, event, windowMs),
    undefined,
  )

export const incidentStream = (node: string): string => `incident/${node}`
export const runStream = (run: string): string => `run/${run}`
export const threadStream = (incident: string): string => `thread/${incident}`
/** `node-07.eu.example.1` → `node-07.eu.example`. */
export const nodeOfIncident = (incident: string): string => incident.slice(0, incident.lastIndexOf('.'))
