import { runStream } from '../core/incident/incident.js'
import { inCharge } from '../core/runbook/fence.js'
import type { EvictedPod, RunEvent, RunState } from '../core/runbook/run.js'
import { type Clock, type History, type Jobs, type Log, Unreachable } from '../ports.js'
import { type Order, Overtaken } from './fenced.js'
import { record } from './record.js'

export interface NoteDeps {
  history: History
  jobs: Jobs
  clock: Clock
  log: Log
}

/** Slack takes about one edit of a message a second; people read slower than that. Real time. */
const everyMs = 3_000

/** After so many notes of one start the step is one that waits for long, and half a minute is soon enough. */
const oftenAtMost = 100
const seldomMs = 30_000

/**
 * Writes down how far a step is: only other words than before, only now and then, and never as a reason for the step to
 * fail. Evictions are no mere words: they are written at once, and kept for the next note where that did not work. Without
 * an order nothing is at work, and nothing is written.
 */
export const progressNotes = (
  { history, jobs, clock, log }: NoteDeps,
  { run, node }: Pick<RunState, 'run' | 'node'>,
  index: number,
  order: Pick<Order, 'fence'> | undefined,
): ((says: string, evicted?: readonly EvictedPod[]) => Promise<void>) => {
  let last: { says: string; at: number } | undefined
  let written = 0
  const unwritten: EvictedPod[] = []
  return async (says, evicted = []) => {
    if (!order) return
    unwritten.push(...evicted)
    const real = performance.now()
    const pauseMs = written < oftenAtMost ? everyMs : seldomMs
    const due = says !== last?.says && (last === undefined || real - last.at >= pauseMs)
    if (!due && unwritten.length === 0) return
    if (due) {
      last = { says, at: real }
      written += 1
    }
    const more = unwritten.length > 0 ? { evicted: [...unwritten] } : {}
    const note: RunEvent = { at: clock.now(), by: 'cnibot', type: 'StepProgressed', index, says, ...more }
    try {
      const noted = await record<RunEvent>(history, runStream(run), events =>
        inCharge(events, order.fence) ? [note] : [],
      )
      if (!noted.changed) throw new Overtaken('another worker has begun this meanwhile; this one stops here')
      unwritten.length = 0
      if (due) await jobs.enqueue({ kind: 'publish', node, length: noted.length })
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
      log.warn({ run, node }, `how far the step is could not be written down: ${error.message}`)
    }
  }
}
