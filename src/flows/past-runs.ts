import { type IncidentEvent, incidentStream, runStream } from '../core/incident/incident.js'
import { type Past, pastOf, workMs } from '../core/runbook/comparison.js'
import { type History, type Log, Unreachable } from '../ports.js'
import { readRun } from './read-run.js'

export interface PastDeps {
  history: History
  log: Log
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
const completedRuns = async ({ history, log }: PastDeps): Promise<Map<string, string[]>> => {
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

/** How long the newest completed runs of each runbook took in this cluster, on whatever node. */
export const pastRuns = async (deps: PastDeps): Promise<Record<string, Past>> => {
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
