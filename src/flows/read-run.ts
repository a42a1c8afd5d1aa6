import { runStream } from '../core/incident/incident.js'
import { foldRun, type RunEvent, type RunState } from '../core/runbook/run.js'
import type { History } from '../ports.js'

type Readable = Pick<History, 'read'>

/** undefined for a run that was never opened, or whose first job has not come yet. */
export const readRun = async (history: Readable, run: string): Promise<RunState | undefined> =>
  foldRun((await history.read<RunEvent>(runStream(run))).events)

/** In the order asked for; those without a history yet are left out. */
export const readRuns = async (history: Readable, runs: readonly string[]): Promise<RunState[]> => {
  const states = await Promise.all(runs.map(run => readRun(history, run)))
  return states.filter(state => state !== undefined)
}
