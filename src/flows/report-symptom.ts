import {
  foldIncident,
  type IncidentEvent,
  type IncidentState,
  incidentStream,
  sameEpisode,
} from '../core/incident/incident.js'
import type { Symptom } from '../core/incident/symptom.js'
import { type TicketEnd, ticketId } from '../core/incident/ticket.js'
import type { Clock, History, Jobs } from '../ports.js'
import { record } from './record.js'

export interface ReportDeps {
  history: History
  jobs: Jobs
  clock: Clock
  settings: { incidentWindowMs: number; measureAgainAfterMs: number }
}

const worthRecording = (state: IncidentState | undefined, symptom: Symptom): boolean => {
  const ticket = state?.tickets.findLast(t => t.id === ticketId(symptom))
  if (!ticket || ticket.ended) return true
  // The same trouble told again adds nothing unless it now says that the range is used up, or the rollout moved.
  const exhausted = symptom.kind === 'stuck-sandbox' && symptom.exhausted && !ticket.exhausted
  const moved = symptom.kind === 'stuck-rollout' && symptom.ready !== ticket.ready
  return exhausted || moved
}

/** The first symptom asks for one look; later ones for another only when the last is old. */
const wantsLook = (state: IncidentState | undefined, now: number, againAfterMs: number): boolean => {
  if (!state || state.status === 'resolved') return true
  if (state.evidenceWanted) return false
  if (!['noticed', 'open', 'diagnosed', 'watching'].includes(state.status)) return false
  return now - (state.evidence.at(-1)?.at ?? 0) >= againAfterMs
}

/** A symptom → the node's history → a look at the node. */
export const reportSymptom =
  ({ history, jobs, clock, settings }: ReportDeps) =>
  async (symptom: Symptom): Promise<void> => {
    const stream = incidentStream(symptom.node)
    const at = clock.now()
    const written = await record<IncidentEvent>(history, stream, events => {
      const state = foldIncident(symptom.node, events, settings.incidentWindowMs)
      if (!worthRecording(state, symptom)) return []
      const more: IncidentEvent[] = [{ at, by: 'cnibot', type: 'SymptomSeen', symptom }]
      if (wantsLook(state, at, settings.measureAgainAfterMs))
        more.push({ at, by: 'cnibot', type: 'EvidenceWanted', why: 'a symptom was seen' })
      return more
    })
    if (!written.changed) return
    await jobs.enqueue({ kind: 'collect', node: symptom.node, length: written.length })
    await jobs.enqueue({ kind: 'publish', node: symptom.node, length: written.length })
  }

/** A symptom that vanished is written beside its ticket; it closes nothing (law 6). */
export const reportGone =
  ({ history, jobs, clock, settings }: ReportDeps) =>
  async ({ node, ticket: id, end }: { node: string; ticket: string; end: TicketEnd }): Promise<void> => {
    const written = await record<IncidentEvent>(history, incidentStream(node), events => {
      const state = foldIncident(node, events, settings.incidentWindowMs)
      // Late news of a resolved incident must not begin another one.
      if (!state || !sameEpisode(state, clock.now(), settings.incidentWindowMs)) return []
      const ticket = state.tickets.findLast(t => t.id === id)
      const news = ticket && (!ticket.ended || (end.replacement && !ticket.ended.replacement))
      return news ? [{ at: clock.now(), by: 'cnibot', type: 'SymptomGone', ticket: id, end }] : []
    })
    if (written.changed) await jobs.enqueue({ kind: 'publish', node, length: written.length })
  }
