import type { RunEvent } from './run-events.js'

/** The highest order number that this run has given out or was told to stay above; 0 where there is none. */
export const lastFence = (events: readonly RunEvent[]): number =>
  events.reduce((highest, event) => Math.max(highest, 'fence' in event ? (event.fence ?? 0) : 0), 0)

/**
 * The number of the next order on this node: higher than every one before it, on this node and in this run. It follows
 * the clock, so that an installation whose store was lost still goes on above what its nodes remember; a clock that
 * went back or that of another worker does not matter.
 */
export const nextFence = (events: readonly RunEvent[], now: number): number =>
  Math.max(now, lastFence(events) + 1)

/**
 * Whether the order with this number is the one in charge: nothing was begun after it, and it has not ended. Notes of
 * progress do not count.
 */
export const inCharge = (events: readonly RunEvent[], fence: number): boolean => {
  const at = events.findLastIndex(({ type }) => type === 'StepStarted' || type === 'UndoStarted')
  const started = events[at]
  if (!started || !('fence' in started) || started.fence !== fence) return false
  return !events.slice(at + 1).some(({ type }) => ends.has(type))
}

const ends: ReadonlySet<RunEvent['type']> = new Set([
  'StepDone',
  'StepFailed',
  'PlanOutdated',
  'UndoDone',
  'UndoFailed',
  'RunEnded',
])
