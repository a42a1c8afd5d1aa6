import { setTimeout as pause } from 'node:timers/promises'
import { type Log, Unreachable } from '../ports.js'

/** Soon enough to be first when the store is back. Real time. */
const atLeastEveryMs = 500

interface Waiting {
  log: Log
  /** Real time. */
  settings: { lookEveryMs: number }
}

/**
 * Repeats what the store did not answer until it does: a step that is at work or done does not fail because its record
 * could not be written. `ask` must be safe to repeat. With a signal it ends when the work is no longer ours; without one
 * only with the process, which is right for a result that would be lost.
 */
export const untilAnswered = async <T>(
  { log, settings }: Waiting,
  what: string,
  ask: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      const answer = await ask()
      if (tries > 1) log.info({ tries }, `the store answers again: ${what}`)
      return answer
    } catch (error) {
      if (!(error instanceof Unreachable) || signal?.aborted) throw error
      if (tries === 1) log.warn({}, `kept until the store answers: ${error.message}`)
      await pause(Math.min(settings.lookEveryMs, atLeastEveryMs))
    }
  }
}
