import type { Log } from '../../ports.js'

export interface Handled {
  was(key: string): Promise<boolean>
  /** Called after the handler, never before: a repeated envelope is the only copy of what a dead process had begun. */
  mark(key: string, ttlMs: number): Promise<void>
}

const handledMs = 15 * 60_000

export type Once = <T>(key: string, handle: () => Promise<T>) => Promise<T | undefined>

/**
 * Handles a key once: a second delivery waits for the first one and answers nothing. One that was cut short by the end
 * of its process, or failed, is handled again; the histories settle what had been written by then.
 */
export const onceEach = (handled: Handled, log: Log): Once => {
  const underWay = new Map<string, Promise<unknown>>()
  return async (key, handle) => {
    const first = underWay.get(key)
    if (first) {
      await first.catch(() => undefined)
      return undefined
    }
    const handling = handled.was(key).then(was => (was ? undefined : handle()))
    underWay.set(key, handling)
    try {
      const answer = await handling
      await handled
        .mark(key, handledMs)
        .catch((error: unknown) => log.warn({ key }, `a repeat will be handled again: ${String(error)}`))
      return answer
    } finally {
      underWay.delete(key)
    }
  }
}
