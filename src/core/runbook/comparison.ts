import { isFinished, nameOf, type PodVerdict } from '../evictable.js'
import type { RunState } from './run-events.js'

/** What a drain would do to the Pods of one node, by name. */
export interface MovesAway {
  moves: string[]
  /** Those of them that a budget does not let go now. */
  waits: { pod: string; why: string }[]
  stays: number
  /** Nothing is evicted while there is one. */
  blocks: { pod: string; why: string }[]
  /** Pods whose emptyDir data is lost. */
  emptyDirs: string[]
  /** Moving Pods that nothing starts again. */
  unmanaged: string[]
  /** Parts of this program and its store that stand on the node: it is not drained under them. */
  own: string[]
}

/** How long completed runs of one runbook were at work, without the time they waited for people. */
export interface Past {
  runs: number
  medianMs: number
  shortestMs: number
  longestMs: number
}

/** Both repairs of one node, looked at before either starts; what could not be read says why. */
export interface Comparison {
  readAt: number
  /** Leaked addresses that either repair gives back, and those it has to leave for now. */
  addresses: { give: number; leave: number } | { unknown: string }
  pods: MovesAway | { unknown: string }
  /** By name of the runbook; one without a completed run in this cluster is left out. */
  past: Record<string, Past>
}

export const movesAway = (verdicts: readonly PodVerdict[], own: readonly string[]): MovesAway => {
  const named = (of: PodVerdict['verdict']) =>
    verdicts.filter(each => each.verdict === of).map(({ pod, why }) => ({ pod: nameOf(pod), why }))
  const going = verdicts.filter(({ verdict }) => verdict === 'evict' || verdict === 'waits')
  return {
    moves: going.map(({ pod }) => nameOf(pod)),
    waits: named('waits'),
    stays: named('leave').length,
    blocks: named('blocks'),
    emptyDirs: going.filter(({ loses }) => loses.length > 0).map(({ pod }) => nameOf(pod)),
    unmanaged: going
      .filter(({ pod }) => pod.controller === undefined && !isFinished(pod))
      .map(({ pod }) => nameOf(pod)),
    own: [...own],
  }
}

/** Time at work of all tries: from the first start of each plan to its end, without what people took. */
export const workMs = ({ lines }: RunState): number => lines.reduce((sum, { workedMs }) => sum + workedMs, 0)

/** undefined where there is none: nothing is guessed. */
export const pastOf = (durations: readonly number[]): Past | undefined => {
  const sorted = durations.toSorted((a, b) => a - b)
  const [shortestMs] = sorted
  const longestMs = sorted.at(-1)
  const medianMs = sorted[Math.floor((sorted.length - 1) / 2)]
  if (shortestMs === undefined || longestMs === undefined || medianMs === undefined) return undefined
  return { runs: sorted.length, medianMs, shortestMs, longestMs }
}
