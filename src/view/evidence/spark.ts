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

/** How many of the times fall into each of `bins` equal parts of the window; what lies outside is left out. */
export const binned = (times: readonly number[], from: number, to: number, bins: number): number[] => {
  const counts = Array.from({ length: bins }, () => 0)
  const width = Math.max(1, to - from) / bins
  for (const time of times) {
    if (time < from || time > to) continue
    const bin = Math.min(bins - 1, Math.floor((time - from) / width))
    counts[bin] = (counts[bin] ?? 0) + 1
  }
  return counts
}

/**
 * The largest group of times with no gap longer than `gapMs` between neighbours, and how many there are beside it. Needs
 * sorted times.
 */
export const largestGroup = (
  sorted: readonly number[],
  gapMs: number,
): { from: number; to: number; count: number } | undefined => {
  const groups: { from: number; to: number; count: number }[] = []
  for (const time of sorted) {
    const last = groups.at(-1)
    if (last && time - last.to <= gapMs)
      groups[groups.length - 1] = { ...last, to: time, count: last.count + 1 }
    else groups.push({ from: time, to: time, count: 1 })
  }
  return groups.toSorted((a, b) => b.count - a.count)[0]
}
