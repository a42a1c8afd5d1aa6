import { readFileSync } from 'node:fs'
import type { Clock } from '../../ports.js'

/** At real time `real` the shown time was `virtual`; since then it runs `rate` times as fast. Milliseconds. */
export interface TimeBase {
  real: number
  virtual: number
  rate: number
}

export const fileTime = (base: TimeBase, real: number): number =>
  Math.round(base.virtual + (real - base.real) * base.rate)

export const systemClock: Clock = { now: () => Date.now() }

/** A clock that another process can move forward: for practice runs, never for a real cluster. */
export const fileClock = (path: string): Clock => ({
  now: () => fileTime(JSON.parse(readFileSync(path, 'utf8')) as TimeBase, Date.now()),
})

export const clockFrom = (file: string | undefined): Clock =>
  file === undefined ? systemClock : fileClock(file)
