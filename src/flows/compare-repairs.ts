import { foldIncident, type IncidentEvent, incidentStream } from '../core/incident/incident.js'
import type { Comparison } from '../core/runbook/comparison.js'
import type { StepSpec } from '../core/runbook/schema.js'
import type { DrainReach } from '../steps/drain-facts.js'
import { gather } from '../steps/gather.js'
import type { CollectDeps } from './collect-evidence.js'
import { addressesOf } from './compare-addresses.js'
import { lookAtDrain } from './compare-pods.js'
import { pastRuns } from './past-runs.js'
import { record } from './record.js'

export interface CompareDeps extends CollectDeps {
  settings: CollectDeps['settings'] & DrainReach['settings']
}

const isDrain = (step: StepSpec): step is StepSpec & { kind: 'drain' } => step.kind === 'drain'

const compare = async (deps: CompareDeps, node: string, signal: AbortSignal): Promise<Comparison> => {
  const readAt = deps.clock.now()
  const runbooks = await deps.runbooks.list()
  const named = (name: string) => runbooks.find(each => each.name === name)
  const [reconcile, drain] = [named('leak-reconcile'), named('leak-drain')]
  // As much as the plan of a removal reads, but for the peers, which no rule of it asks.
  const alone = { ...deps, settings: { ...deps.settings, peers: 0 } }
  const [bundle, look, past] = await Promise.all([
    gather(alone, node, 'full', signal),
    lookAtDrain(deps, node, drain?.steps.find(isDrain)),
    pastRuns(deps),
  ])
  const pods = 'pods' in look ? look.pods : look
  return { readAt, ...addressesOf(bundle, { reconcile, drain }, look), pods, past }
}

/** Somebody wants to see both repairs → one read-only look → the incident's history; publish draws the card. */
export const compareRepairs =
  (deps: CompareDeps) =>
  async ({ node }: { node: string }, signal: AbortSignal): Promise<void> => {
    const stream = incidentStream(node)
    const fold = (events: IncidentEvent[]) => foldIncident(node, events, deps.settings.incidentWindowMs)
    const wanted = fold((await deps.history.read<IncidentEvent>(stream)).events)?.comparisonWanted
    if (!wanted) return
    const comparison = await compare(deps, node, signal)
    if (signal.aborted) throw new Error('stopped')
    const written = await record<IncidentEvent>(deps.history, stream, events =>
      fold(events)?.comparisonWanted?.at === wanted.at
        ? [{ at: deps.clock.now(), by: wanted.by, type: 'RepairsCompared', comparison }]
        : [],
    )
    await deps.jobs.enqueue({ kind: 'publish', node, length: written.length })
  }
