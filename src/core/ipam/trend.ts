/** One measurement of a node: headline numbers and when they were taken. */
export interface Measurement {
  at: number
  orphans: number
  usable: number
  taken: number
}
export interface Trend {
  /** Orphans gained a day; negative after a repair. */
  perDay: number
  /** When the range is used up if it goes on like this and the living stay as many; undefined where it does not grow. */
  exhaustedAt: number | undefined
}

const day = 86_400_000
/** Fewer points, or all within an hour, say nothing about days. */
const leastPoints = 3
const leastSpanMs = 3_600_000
/** Pairs grow with the square; older points than this are left out. */
const mostPoints = 200

const median = (values: number[]): number => {
  const ordered = values.toSorted((a, b) => a - b)
  const middle = Math.floor(ordered.length / 2)
  const upper = ordered[middle] ?? 0
  return ordered.length % 2 === 1 ? upper : ((ordered[middle - 1] ?? 0) + upper) / 2
}

/**
 * How fast orphans grow: the median of the slopes between all pairs of measurements (Theil–Sen), so that one burst or
 * one repair among many points does not decide. Times are milliseconds; the order of the measurements does not matter.
 */
export const trend = (measurements: readonly Measurement[]): Trend | 'too few to say' => {
  const points = measurements.toSorted((a, b) => a.at - b.at).slice(-mostPoints)
  const first = points[0]
  const last = points.at(-1)
  if (first === undefined || last === undefined || points.length < leastPoints) return 'too few to say'
  if (last.at - first.at < leastSpanMs) return 'too few to say'
  const slopes: number[] = []
  for (const [index, from] of points.entries()) {
    for (const to of points.slice(index + 1)) {
      if (to.at > from.at) slopes.push((to.orphans - from.orphans) / (to.at - from.at))
    }
  }
  const perMs = median(slopes)
  const left = Math.max(0, last.usable - last.taken)
  return { perDay: perMs * day, exhaustedAt: perMs > 0 ? last.at + left / perMs : undefined }
}
