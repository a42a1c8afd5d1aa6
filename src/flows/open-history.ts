import { type IncidentEvent, type IncidentState, runStream } from '../core/incident/incident.js'
import { lastFence } from '../core/runbook/fence.js'
import type { RunEvent } from '../core/runbook/run.js'
import { endIncidentRun } from './settle-run.js'
import type { RunStepDeps } from './step-events.js'

/** The last order number of the node's run before this one. Read as it stands: a history that cannot be folded counts too. */
const fenceBefore = async (deps: RunStepDeps, run: string, incident: IncidentEvent[]): Promise<number> => {
  const runs = incident.flatMap(event => (event.type === 'RunOpened' ? [event.run] : []))
  const before = runs[runs.indexOf(run) - 1]
  if (before === undefined) return 0
  return lastFence((await deps.history.read<RunEvent>(runStream(before))).events)
}

/** The incident decided that there is a run; the run's own history is opened here, and after a crash again here. */
export const openHistory = async (
  deps: RunStepDeps,
  run: string,
  incident: IncidentState,
  events: IncidentEvent[],
): Promise<void> => {
  const summary = incident.runs.find(r => r.run === run)
  const runbook = (await deps.runbooks.list()).find(r => r.name === summary?.runbook)
  const facts = await deps.cluster.node(incident.node)
  if (!summary || !runbook || !facts) {
    const why = !facts ? `${incident.node} is not in the cluster` : 'its runbook is gone'
    await endIncidentRun(deps, incident.node, {
      by: 'cnibot',
      run,
      outcome: 'abandoned',
      says: `could not begin: ${why}`,
      recountAt: undefined,
    })
    return
  }
  const { openedAt: at, openedBy: by } = summary
  const opened: RunEvent = {
    at,
    by,
    type: 'RunOpened',
    run,
    cluster: deps.clusterName,
    incident: incident.id,
    node: incident.node,
    nodeUid: facts.uid,
    bootId: facts.bootId,
    runbook,
    fence: await fenceBefore(deps, run, events),
  }
  await deps.history.append<RunEvent>(runStream(run), 0, [opened])
}
