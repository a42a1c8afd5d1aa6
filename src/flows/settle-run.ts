import { foldIncident, type IncidentEvent, incidentStream } from '../core/incident/incident.js'
import type { RunState } from '../core/runbook/run.js'
import { type CordonState, cordonMark, cordonState } from '../core/runbook/cordon-mark.js'
import { Failed, Refused, Unreachable } from '../ports.js'
import { outcomeWords } from '../view/outcome.js'
import { freeNode } from './fleet.js'
import { record } from './record.js'
import type { RunStepDeps } from './step-events.js'

type RunEnd = Omit<IncidentEvent & { type: 'RunEnded' }, 'at' | 'type'>

/** Every run ends in a stated cordon state, true to the node: read, not concluded from what the run did (B7). */
const cordonAtEnd = async (deps: RunStepDeps, node: string, run: string): Promise<CordonState> => {
  const incident = run.slice(0, run.lastIndexOf('-r'))
  try {
    const facts = await deps.cluster.node(node)
    if (!facts) return { whose: 'unknown', because: `${node} is not in the cluster` }
    return cordonState(facts, cordonMark({ cluster: deps.clusterName, incident }))
  } catch (error) {
    if (error instanceof Refused || error instanceof Failed || error instanceof Unreachable)
      return { whose: 'unknown', because: error.message }
    throw error
  }
}

export const endIncidentRun = async (deps: RunStepDeps, node: string, end: RunEnd): Promise<void> => {
  const at = deps.clock.now()
  const { run, recountAt } = end
  const cordon = await cordonAtEnd(deps, node, run)
  const written = await record<IncidentEvent>(deps.history, incidentStream(node), events => {
    const incident = foldIncident(node, events, deps.settings.incidentWindowMs)
    const open = incident?.status === 'repairing' && incident.runs.at(-1)?.run === run
    if (!open) return []
    const ended: IncidentEvent = { at, type: 'RunEnded', ...end, cordon }
    // The last reading is from before the run: what the thread says of the node must be read again.
    const again: IncidentEvent = { at, by: 'cnibot', type: 'EvidenceWanted', why: 'a run has ended' }
    return recountAt === undefined ? [ended, again] : [ended]
  })
  await freeNode(deps, node, run)
  if (recountAt !== undefined)
    await deps.jobs.enqueue({ kind: 'recount', node, length: written.length, dueAt: recountAt })
  if (recountAt === undefined) await deps.jobs.enqueue({ kind: 'collect', node, length: written.length })
  await deps.jobs.enqueue({ kind: 'publish', node, length: written.length })
}

/** The run is over: the incident hears of it. Repeated after a crash, it changes nothing. */
export const settle = (deps: RunStepDeps, state: RunState): Promise<void> => {
  const { watch } = state.runbook
  const { run, outcome = 'abandoned' } = state
  // A failed undo always needs a person; the runbook says whom.
  const escalateTo = state.escalateTo ?? (outcome === 'stuck' ? state.runbook.escalate_to : undefined)
  const at = state.endedAt ?? deps.clock.now()
  return endIncidentRun(deps, state.node, {
    by: state.endedBy ?? 'cnibot',
    run,
    outcome,
    says: outcomeWords(state, outcome),
    recountAt: outcome === 'completed' && watch ? at + watch.after : undefined,
    ...(escalateTo === undefined ? {} : { escalateTo }),
  })
}
