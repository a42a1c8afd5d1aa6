import { allocationsWith, type Gap } from './gap.js'

/** File times that lie together: one burst. */
export interface AgeCluster {
  from: number
  to: number
  count: number
}

/** When the orphans were made, oldest first (P-E9). A file's time is that of its ADD: the plugin never touches it again. */
export const orphanTimes = (gap: Gap): number[] =>
  allocationsWith(gap, 'orphaned')
    .map(allocation => allocation.mtime)
    .sort((a, b) => a - b)

/** Splits times wherever more than `apartMs` lies between two; oldest cluster first. */
export const clusters = (times: readonly number[], apartMs = 3_600_000): AgeCluster[] => {
  const found: AgeCluster[] = []
  for (const at of times.toSorted((a, b) => a - b)) {
    const last = found.at(-1)
    if (last !== undefined && at - last.to <= apartMs) {
      last.to = at
      last.count += 1
    } else found.push({ from: at, to: at, count: 1 })
  }
  return found
}

/** How many of `times` fall into each of `count` equal parts of from…to, both ends included; for a sparkline. */
export const bars = (times: readonly number[], from: number, to: number, count: number): number[] => {
  const result = Array<number>(count).fill(0)
  const width = (to - from) / count
  for (const at of times) {
    if (at < from || at > to) continue
    const index = width > 0 ? Math.min(count - 1, Math.floor((at - from) / width)) : 0
    result[index] = (result[index] ?? 0) + 1
  }
  return result
}
