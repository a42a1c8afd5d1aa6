import { foldIncident, type IncidentEvent, incidentStream } from '../core/incident/incident.js'
import type { Clock, History, Jobs } from '../ports.js'
import { readRun } from './read-run.js'
import { record } from './record.js'

/**
 * A step that did not work is told beside the node's state: that is read again, once for each failure. Asked for again
 * by `resume`, where a crash came between.
 */
export const readAfterFailure = async (
  deps: { history: History; jobs: Jobs; clock: Clock; settings: { incidentWindowMs: number } },
  job: { run: string; node: string },
): Promise<void> => {
  const state = await readRun(deps.history, job.run)
  const failedAt = state?.lines[state.position]?.endedAt
  if (state?.status !== 'paused' || failedAt === undefined) return
  const at = deps.clock.now()
  const why = 'a step did not work'
  const written = await record<IncidentEvent>(deps.history, incidentStream(job.node), events => {
    const incident = foldIncident(job.node, events, deps.settings.incidentWindowMs)
    const readAt = incident?.evidence.at(-1)?.at ?? 0
    const asked = incident?.evidenceWanted !== undefined && incident.evidenceWanted.at >= failedAt
    return !incident || asked || readAt > failedAt ? [] : [{ at, by: 'cnibot', type: 'EvidenceWanted', why }]
  })
  if (written.changed) await deps.jobs.enqueue({ kind: 'collect', node: job.node, length: written.length })
}
