import {
  foldIncident,
  type IncidentEvent,
  incidentMay,
  type IncidentState,
  incidentStream,
} from '../core/incident/incident.js'
import { standingComparison } from '../core/incident/standing-comparison.js'
import { shownAgo } from '../core/runbook/approval.js'
import type { Actor } from '../core/runbook/run.js'
import type { Clock, History, Job, Jobs, Runbooks } from '../ports.js'
import { freeNode, takeNode } from './fleet.js'
import { enqueueRecorded, record } from './record.js'

export interface OpenRunDeps {
  history: History
  jobs: Jobs
  runbooks: Runbooks
  clock: Clock
  settings: { incidentWindowMs: number; maxNodesUnderRepair: number; paused: boolean }
}

/** Somebody came before: who, and how long before. */
const wasOpened = (state: IncidentState | undefined, by: Actor, at: number): string | undefined => {
  const last = state?.status === 'repairing' ? state.runs.at(-1) : undefined
  if (!last) return undefined
  return last.openedBy === by
    ? `You opened this ${shownAgo(at - last.openedAt)} ago; the plan is below.`
    : `<@${last.openedBy}> was first, ${shownAgo(at - last.openedAt)} before you. The plan is below.`
}

/**
 * An old card keeps its button until it is drawn again, so what is offered is asked at the click: of the newest verdict, and
 * a repair of the leak only where both were shown side by side (P-A2).
 */
const notOffered = (state: IncidentState, runbook: string): string | undefined => {
  const verdict = state.evidence.at(-1)?.verdict
  const isRepair = runbook.startsWith('leak-')
  const offered = verdict?.runbooks ?? []
  if (isRepair ? !offered.includes(runbook) : offered.length === 0)
    return `${runbook} is not offered any more: ${verdict?.headline ?? `nothing is known of ${state.node} yet`}. Look at the newest message.`
  return isRepair && standingComparison(state) === undefined
    ? 'Compare the repairs first: a repair is chosen on the card that shows both.'
    : undefined
}

/**
 * A runbook chosen for a node → a run. One event in the incident's history decides; of two clicks at the same moment
 * one finds it there already. Answers the sentence for the person who clicked.
 */
export const openRun =
  (deps: OpenRunDeps) =>
  async (ask: { node: string; incident: string; runbook: string; by: Actor }): Promise<string> => {
    const { node, by } = ask
    const at = deps.clock.now()
    const runbook = (await deps.runbooks.list()).find(r => r.name === ask.runbook)
    if (!runbook) return `There is no runbook ${ask.runbook} here.`
    const stream = incidentStream(node)
    const state = foldIncident(
      node,
      (await deps.history.read<IncidentEvent>(stream)).events,
      deps.settings.incidentWindowMs,
    )
    if (!state || state.id !== ask.incident)
      return 'This incident is over; its buttons no longer do anything.'
    // Before a place is taken: it would be taken from the run that has it.
    const first = wasOpened(state, by, at)
    if (first) return first
    const run = `${state.id}-r${state.runs.length + 1}`
    const barred = await takeNode(deps, node, run, deps.settings.maxNodesUnderRepair)
    if (barred) return barred
    let answer = ''
    const written = await record<IncidentEvent>(deps.history, stream, events => {
      const now = foldIncident(node, events, deps.settings.incidentWindowMs)
      answer = wasOpened(now, by, at) ?? ''
      if (answer) return []
      if (
        !now ||
        now.id !== ask.incident ||
        !incidentMay[now.status].includes('RunOpened') ||
        `${now.id}-r${now.runs.length + 1}` !== run
      ) {
        answer = `The incident has moved on (${now?.status ?? 'gone'}); look at its newest message.`
        return []
      }
      answer = notOffered(now, runbook.name) ?? ''
      return answer ? [] : [{ at, by, type: 'RunOpened', run, runbook: runbook.name }]
    })
    if (!written.changed) {
      const mine = foldIncident(node, written.events, deps.settings.incidentWindowMs)?.runs.some(
        r => r.run === run && r.outcome === undefined,
      )
      if (!mine) await freeNode(deps, node, run)
      return answer
    }
    const jobs: Job[] = [
      { kind: 'step', run, node, length: 0 },
      { kind: 'publish', node, length: written.length },
    ]
    return (await enqueueRecorded(deps.jobs, jobs)) ?? ''
  }
