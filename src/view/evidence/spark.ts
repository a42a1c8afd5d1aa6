const levels = '▁▂▃▄▅▆▇█'

/** The lowest bar is nothing at all; anything more than nothing is higher than that. */
export const sparkline = (counts: readonly number[]): string => {
  const most = Math.max(0, ...counts)
  return counts
    .map(count =>
      count <= 0 ? levels[0] : levels[Math.max(1, Math.round((count / most) * (levels.length - 1)))],
    )
    .join('')
}

/** The largest of some bursts; the earliest of equals. */
export const largest = <T extends { count: number }>(groups: readonly T[]): T | undefined =>
  groups.reduce<T | undefined>((best, each) => (best && best.count >= each.count ? best : each), undefined)
