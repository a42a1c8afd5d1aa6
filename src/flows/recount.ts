import { evaluate } from '../core/check.js'
import { foldIncident, type IncidentEvent, incidentMay, incidentStream } from '../core/incident/incident.js'
import { type CollectDeps, look } from './collect-evidence.js'
import { readRun } from './read-run.js'
import { record } from './record.js'

const again = 60 * 60_000
const aWeek = 7 * 24 * 60 * 60_000

/** The day after: the same checks again, and whether the leak has stopped or was only tidied (P-V7). */
export const recount =
  (deps: CollectDeps) =>
  async (job: { node: string; dueAt: number }, signal: AbortSignal): Promise<void> => {
    const { node } = job
    const stream = incidentStream(node)
    const fold = (events: IncidentEvent[]) => foldIncident(node, events, deps.settings.incidentWindowMs)
    const before = fold((await deps.history.read<IncidentEvent>(stream)).events)
    const due = (state: typeof before): boolean =>
      state?.recountAt === job.dueAt &&
      deps.clock.now() >= job.dueAt &&
      incidentMay[state.status].includes('Recounted')
    if (!before || !due(before)) return
    const last = before.runs.findLast(r => r.outcome === 'completed')
    const run = last && (await readRun(deps.history, last.run))
    const checks = run?.runbook.watch?.checks ?? ['allocations-match-sandboxes' as const]
    const { id, at: lookedAt, bundle, counts, verdict, reason } = await look(deps, node, before, signal)
    const results = checks.map(check => evaluate(check, { bundle, since: last?.endedAt ?? before.startedAt }))
    const at = deps.clock.now()
    const matched = results.some(r => r.holds === false)
      ? false
      : results.every(r => r.holds === true)
        ? true
        : undefined
    const says = results.map(r => r.says).join('; ')
    const first = before.recounts.every(r => r.matched === undefined)
    const nextAt = matched === undefined ? at + again : matched && first ? at + aWeek : undefined
    const written = await record<IncidentEvent>(deps.history, stream, events => {
      if (!due(fold(events))) return []
      const counted: IncidentEvent = {
        at,
        by: 'cnibot',
        type: 'Recounted',
        bundle: id,
        counts,
        matched,
        says,
        nextAt,
      }
      const opened: IncidentEvent = {
        at: lookedAt,
        by: 'cnibot',
        type: 'EvidenceCollected',
        bundle: id,
        counts,
        reason,
        verdict,
      }
      return matched === false ? [counted, opened] : [counted]
    })
    deps.log.info({ node, bundle: id, matched }, 'counted again')
    if (nextAt !== undefined)
      await deps.jobs.enqueue({ kind: 'recount', node, length: written.length, dueAt: nextAt })
    await deps.jobs.enqueue({ kind: 'publish', node, length: written.length })
  }
