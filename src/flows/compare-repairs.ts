import { isKnown, type NodeFacts } from '../core/evidence/bundle.js'
import { foldIncident, type IncidentEvent, incidentStream, runStream } from '../core/incident/incident.js'
import { measure } from '../core/ipam/gap.js'
import { type Comparison, movesAway, type Past, pastOf, workMs } from '../core/runbook/comparison.js'
import type { StepSpec } from '../core/runbook/schema.js'
import { Failed, type Log, Refused, Unreachable } from '../ports.js'
import { type DrainReach, readGround, readVerdicts } from '../steps/drain-facts.js'
import { gather } from '../steps/gather.js'
import type { CollectDeps } from './collect-evidence.js'
import { readRun } from './read-run.js'
import { record } from './record.js'

export interface CompareDeps extends CollectDeps {
  settings: CollectDeps['settings'] & DrainReach['settings']
}

const readable = async <T>(read: () => Promise<T>): Promise<T | { unknown: string }> => {
  try {
    return await read()
  } catch (error) {
    if (error instanceof Refused || error instanceof Failed || error instanceof Unreachable)
      return { unknown: error.message }
    throw error
  }
}

type DrainStep = StepSpec & { kind: 'drain' }

const isDrain = (step: StepSpec): step is DrainStep => step.kind === 'drain'

const podsOf = async (deps: CompareDeps, node: NodeFacts, drain: DrainStep): Promise<Comparison['pods']> => {
  const pods = await deps.cluster.podsToDrain(node.name)
  const [{ verdicts }, { here }] = await Promise.all([
    readVerdicts(deps, node.name, pods, drain),
    readGround(deps, node, pods),
  ])
  return movesAway(verdicts, here)
}

/** Runs that are read to say how long the next one takes. */
const mostRuns = 20

/** A history that another version wrote, or that was damaged, is logged and left out: other nodes go on without it. */
const unlessUnreadable = async <T>(
  log: Log,
  stream: string,
  read: () => Promise<T>,
): Promise<T | undefined> => {
  try {
    return await read()
  } catch (error) {
    if (error instanceof Unreachable) throw error
    log.error({}, `${stream} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
}

/** Completed runs of every node, newest first, by runbook. */
const completedRuns = async ({ history, log }: CompareDeps): Promise<Map<string, string[]>> => {
  const ended: { at: number; run: string; runbook: string }[] = []
  for (const stream of await history.streams(incidentStream(''))) {
    const events = await unlessUnreadable(log, stream, async () => {
      const read = await history.read<IncidentEvent>(stream)
      return read.events
    })
    if (!events) continue
    const runbooks = new Map(
      events.flatMap(e => (e.type === 'RunOpened' ? [[e.run, e.runbook] as const] : [])),
    )
    for (const event of events) {
      const runbook = event.type === 'RunEnded' ? runbooks.get(event.run) : undefined
      if (event.type === 'RunEnded' && event.outcome === 'completed' && runbook)
        ended.push({ at: event.at, run: event.run, runbook })
    }
  }
  const byRunbook = new Map<string, string[]>()
  for (const { runbook, run } of ended.toSorted((a, b) => b.at - a.at))
    byRunbook.set(runbook, [...(byRunbook.get(runbook) ?? []), run])
  return byRunbook
}

const pastRuns = async (deps: CompareDeps): Promise<Record<string, Past>> => {
  const past: Record<string, Past> = {}
  for (const [runbook, runs] of await completedRuns(deps)) {
    const states = await Promise.all(
      runs
        .slice(0, mostRuns)
        .map(run => unlessUnreadable(deps.log, runStream(run), () => readRun(deps.history, run))),
    )
    const found = pastOf(states.flatMap(state => (state ? [workMs(state)] : [])))
    if (found) past[runbook] = found
  }
  return past
}

const addressesOf = async (
  deps: CompareDeps,
  node: string,
  signal: AbortSignal,
): Promise<Comparison['addresses']> => {
  const gap = measure(await gather(deps, node, 'count', signal))
  if (!isKnown(gap)) return { unknown: gap.reason }
  const { orphaned, young, foreign, outside, unreadable } = gap.value
  return { give: orphaned, leave: young + foreign + outside + unreadable }
}

const compare = async (deps: CompareDeps, node: string, signal: AbortSignal): Promise<Comparison> => {
  const readAt = deps.clock.now()
  const drain = (await deps.runbooks.list()).find(each => each.name === 'leak-drain')?.steps.find(isDrain)
  const [addresses, pods, past] = await Promise.all([
    addressesOf(deps, node, signal),
    readable(async () => {
      const facts = await deps.cluster.node(node)
      if (!facts) return { unknown: `${node} is not in the cluster` }
      if (!drain) return { unknown: 'no runbook leak-drain with a drain in it is loaded' }
      return podsOf(deps, facts, drain)
    }),
    pastRuns(deps),
  ])
  return { readAt, addresses, pods, past }
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
