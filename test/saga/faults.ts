import type { Ports } from './world.js'

/** One call that a worker makes to the world outside: which, and the how many-th of its life. */
export interface Point {
  n: number
  port: keyof Ports
  method: string
}

export type Around = (point: Point, call: () => Promise<unknown>) => Promise<unknown>

const isCall = (value: unknown): value is (...args: unknown[]) => Promise<unknown> =>
  typeof value === 'function'

/** Asks nobody and waits for nothing. */
const plain = new Set(['shown'])

/**
 * The ports with `around` at every call. A guard that is handed to a change is followed by a point of its own: after it
 * was asked and before the change is made is where a worker can be held up longest.
 */
export const between = (ports: Ports, around: Around): Ports => {
  let n = 0
  const wrapped = <T extends object>(port: keyof Ports, target: T): T =>
    new Proxy(target, {
      get: (from, key): unknown => {
        const value: unknown = Reflect.get(from, key)
        if (!isCall(value) || typeof key !== 'string' || plain.has(key)) return value
        return (...args: unknown[]): Promise<unknown> => {
          const handed = args.map(arg => {
            if (!isCall(arg)) return arg
            return async (): Promise<void> => {
              await arg()
              await around({ n: n++, port, method: `${key} after its guard` }, async () => undefined)
            }
          })
          return around({ n: n++, port, method: key }, () => value.apply(from, handed))
        }
      },
    })
  return {
    history: wrapped('history', ports.history),
    jobs: wrapped('jobs', ports.jobs),
    cluster: wrapped('cluster', ports.cluster),
    shell: wrapped('shell', ports.shell),
  }
}

export class Died extends Error {
  override name = 'Died'
}

/** From this call on nothing that this worker does has an effect, as if it had been killed; `after` lets the call itself be. */
export const dies = (at: number, when: 'before' | 'after'): Around => {
  let dead = false
  return async ({ n }, call) => {
    if (dead) throw new Died('killed')
    if (n === at) {
      // What the call itself asks in between, its guard, still has an answer.
      if (when === 'after') await call()
      dead = true
      throw new Died('killed')
    }
    const answer = await call()
    if (dead) throw new Died('killed')
    return answer
  }
}

/**
 * Held up at this call until `go`, like a process that is stopped and continued; `reached` tells when it stands there. Some
 * while after it goes on it learns through `lock` that its job is no longer its own.
 */
export const stops = (at: number) => {
  let go = (): void => undefined
  let arrived = (): void => undefined
  const gate = new Promise<void>(resolve => (go = resolve))
  const reached = new Promise<void>(resolve => (arrived = resolve))
  const lock = new AbortController()
  let later = 0
  const around: Around = async ({ n }, call) => {
    if (n === at) {
      arrived()
      await gate
    }
    if (n > at) later += 1
    if (later === 50) lock.abort(new Error('lock lost'))
    return call()
  }
  return { around, reached, lock: lock.signal, go: () => go() }
}

/** The calls from the `at`-th on that `of` says yes to throw, `times` of them; the first may have had its effect. */
export const fails = (
  at: number,
  times: number,
  of: (point: Point) => boolean,
  error: () => Error,
  took: boolean,
): Around => {
  let left = times
  return async (point, call) => {
    if (point.n < at || left === 0 || !of(point)) return call()
    left -= 1
    if (took && left === times - 1) await call()
    throw error()
  }
}
