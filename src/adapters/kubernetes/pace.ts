import type { Clock } from '../../ports.js'

/** Real milliseconds between two questions to the server that time alone is a reason for. */
export interface LoadTimings {
  /** Between two lists of the Pods of one DaemonSet. */
  listPodsMs: number
  /** Between two reads of one Pod, doubled each time that nothing has changed. */
  readPodMs: number
  longestReadPodMs: number
}

export const loadTimings: LoadTimings = { listPodsMs: 15_000, readPodMs: 2_000, longestReadPodMs: 30_000 }

/** When something was asked for: by a clock that cannot be set, which load is counted by, and by the shown one. */
export interface Asked {
  real: number
  shown: number
  pauseMs: number
}

/** The shown clock has run ahead of real time by this much: what waits is judged by it and must be looked at anew. */
const jumpMs = 1_000

export const asked = (clock: Clock, pauseMs: number): Asked => ({
  real: performance.now(),
  shown: clock.now(),
  pauseMs,
})

export const isDue = (last: Asked | undefined, clock: Clock): boolean => {
  if (last === undefined) return true
  const real = performance.now() - last.real
  return real >= last.pauseMs || clock.now() - last.shown - real >= jumpMs
}
