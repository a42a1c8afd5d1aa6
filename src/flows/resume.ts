import {
  foldIncident,
  type IncidentEvent,
  type IncidentState,
  incidentStream,
  runStream,
} from '../core/incident/incident.js'
import { foldRun, nextOfRun, type RunEvent, settledLength } from '../core/runbook/run.js'
import type { Clock, History, Jobs, Log } from '../ports.js'
import { type FleetEvent, fleetStream, freeNode, underRepair } from './fleet.js'
import { readAfterFailure } from './read-after-failure.js'
import { record } from './record.js'
import { answeredKeptMs, type RequestEvent, requestStream, unanswered } from './request.js'

export interface ResumeDeps {
  log: Log
  history: History
  jobs: Jobs
  clock: Clock
  settings: { incidentWindowMs: number; measureAgainAfterMs: number }
}

/** How long a resolved incident's thread is still compared with its history. */
const drawnForMs = 60 * 60_000

const resumeRun = async (deps: ResumeDeps, incident: IncidentState): Promise<void> => {
  const { node } = incident
  const run = incident.runs.at(-1)?.run
  if (!run) return
  const { events } = await deps.history.read<RunEvent>(runStream(run))
  const state = foldRun(events)
  const waiting = state && state.status !== 'ended' && nextOfRun(state).do === 'wait'
  if (waiting) await readAfterFailure(deps, { run, node })
  if (!waiting) await deps.jobs.enqueue({ kind: 'step', run, node, length: settledLength(events) })
}

/** Open ones, held ones too; and one that was only noticed as long as nobody could count the node (law 5). */
const wantsFresh = (state: IncidentState): boolean =>
  ['open', 'diagnosed', 'holding', 'escalated'].includes(state.status) ||
  (state.status === 'noticed' &&
    state.evidence.at(-1)?.counts === undefined &&
    state.tickets.some(t => !t.ended))

/** An open incident's evidence is kept fresh, so that what the thread says of the node is never long out of date. */
const refresh = async (deps: ResumeDeps, node: string): Promise<void> => {
  const at = deps.clock.now()
  await record<IncidentEvent>(deps.history, incidentStream(node), events => {
    const state = foldIncident(node, events, deps.settings.incidentWindowMs)
    if (!state || state.evidenceWanted || !wantsFresh(state)) return []
    if (at - (state.evidence.at(-1)?.at ?? 0) < deps.settings.measureAgainAfterMs) return []
    return [{ at, by: 'cnibot', type: 'EvidenceWanted', why: 'the last reading is old' }]
  })
}

const resumeIncident = async (deps: ResumeDeps, node: string): Promise<IncidentState | undefined> => {
  await refresh(deps, node)
  const { events, length } = await deps.history.read<IncidentEvent>(incidentStream(node))
  const incident = foldIncident(node, events, deps.settings.incidentWindowMs)
  if (!incident) return undefined
  if (incident.evidenceWanted) await deps.jobs.enqueue({ kind: 'collect', node, length })
  if (incident.comparisonWanted) await deps.jobs.enqueue({ kind: 'compare', node, length })
  if (incident.status === 'repairing') await resumeRun(deps, incident)
  if (incident.recountAt !== undefined)
    await deps.jobs.enqueue({ kind: 'recount', node, length, dueAt: incident.recountAt })
  const settled = incident.resolvedAt !== undefined && deps.clock.now() - incident.resolvedAt > drawnForMs
  if (incident.opened && !settled) await deps.jobs.enqueue({ kind: 'publish', node, length })
  return incident
}

/** A click takes its place a moment before the incident says so; younger places are left alone. */
const settledAfterMs = 60_000

/** A place in the fleet whose incident has no run any more was left by a crash. */
const freePlaces = async (deps: ResumeDeps, incidents: Map<string, IncidentState>): Promise<void> => {
  const { events } = await deps.history.read<FleetEvent>(fleetStream)
  for (const [node, { run, at }] of underRepair(events)) {
    const incident = incidents.get(node)
    if (deps.clock.now() - at < settledAfterMs) continue
    if (incident?.status !== 'repairing' || incident.runs.at(-1)?.run !== run) await freeNode(deps, node, run)
  }
}

const resumeRequests = async (deps: ResumeDeps): Promise<void> => {
  for (const stream of await deps.history.streams(requestStream(''))) {
    const { events } = await deps.history.read<RequestEvent>(stream)
    const open = unanswered(events)
    if (open?.wants === 'look') await deps.jobs.enqueue({ kind: 'answer', request: open.id, node: open.node })
    if (open?.wants === 'post') await deps.jobs.enqueue({ kind: 'publish-answer', request: open.id })
    // Left by a crash between the answer and this.
    if (!open) await deps.history.forget(stream, answeredKeptMs)
  }
}

/**
 * For all that is unfinished: ask the core what is next and enqueue it. Runs at start and every minute, and mends a
 * crash between "recorded" and "enqueued" as well as a delayed job that was lost.
 */
export const resume = (deps: ResumeDeps) => async (): Promise<void> => {
  const incidents = new Map<string, IncidentState>()
  for (const stream of await deps.history.streams('incident/')) {
    const node = stream.slice('incident/'.length)
    try {
      const incident = await resumeIncident(deps, node)
      if (incident) incidents.set(node, incident)
    } catch (error) {
      // One node's trouble must not keep the others from being picked up.
      deps.log.error(
        { node },
        `could not be resumed: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }
  await freePlaces(deps, incidents)
  await resumeRequests(deps)
}
