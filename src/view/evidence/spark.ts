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

/** Where most of them lie: the shortest stretch with at least nine tenths of the times. Needs sorted times. */
export const band = (sorted: readonly number[]): { from: number; to: number; count: number } | undefined => {
  const count = Math.ceil(sorted.length * 0.9)
  let best: { from: number; to: number; count: number } | undefined
  for (let i = 0; i + count <= sorted.length; i++) {
    const from = sorted[i]
    const to = sorted[i + count - 1]
    if (from === undefined || to === undefined) continue
    if (!best || to - from < best.to - best.from) best = { from, to, count }
  }
  return best && { ...best, count: sorted.filter(time => time >= best.from && time <= best.to).length }
}
