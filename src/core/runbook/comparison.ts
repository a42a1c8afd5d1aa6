import type { Budget } from '../drain/budget.js'
import type { OwnGround } from '../drain/own-ground.js'
import { tightBudgets } from '../drain/tight-budgets.js'
import { goes, isFinished, nameOf, type PodVerdict } from '../evictable.js'
import { type Bundle, isKnown } from '../evidence/bundle.js'
import { allocationsWith, measure, storeInUse } from '../ipam/gap.js'
import { type KeptEntry, planRemoval, type RemovalPlan } from '../ipam/removal.js'
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
  /** What of that could not be found out; absent where an earlier version compared. */
  unclear?: string[]
  /** Budgets that let only some of the Pods go at a time: `shop/front 1 of 3`. */
  tight?: string[]
}

/** What a removal would come to, by the rules it is planned by itself; `left` names the first of those that stay. */
export type GivesBack =
  | { give: number; leave: number; left?: Pick<KeptEntry, 'ip' | 'why'>[] }
  | { refused: string[] }
  | { unknown: string }

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
  /** Of a removal in place, and of one after the drain; without the second both are the same. */
  addresses: GivesBack
  drained?: GivesBack
  pods: MovesAway | { unknown: string }
  /** By name of the runbook; one without a completed run in this cluster is left out. */
  past: Record<string, Past>
}

/** A removal as it would be planned now, were the node cordoned: every repair begins with that. */
export const inPlace = (bundle: Bundle, olderThanMs: number): RemovalPlan =>
  planRemoval({ earlier: undefined, bundle, settings: { olderThanMs }, cordoned: true })

const shownLeft = 8

/** Living addresses are none that are left, and neither is what is no address at all. */
export const givesBack = (bundle: Bundle, removal: RemovalPlan): GivesBack => {
  const gap = measure(bundle)
  if (!isKnown(gap)) return { unknown: gap.reason }
  if ('refused' in removal) return { refused: removal.refused }
  const { stores, conflist } = bundle
  const store = isKnown(stores) && isKnown(conflist) ? storeInUse(stores.value, conflist.value) : undefined
  const others = new Set([
    ...allocationsWith(gap.value, 'live').map(({ ip }) => ip),
    ...(store?.foreign ?? []).map(({ name }) => name),
  ])
  const left = removal.keep.filter(({ ip }) => !others.has(ip)).map(({ ip, why }) => ({ ip, why }))
  return { give: removal.remove.length, leave: left.length, left: left.slice(0, shownLeft) }
}

export const movesAway = (
  verdicts: readonly PodVerdict[],
  { here, unknown }: OwnGround,
  budgets: readonly Budget[],
): MovesAway => {
  const named = (of: PodVerdict['verdict']) =>
    verdicts.filter(each => each.verdict === of).map(({ pod, why }) => ({ pod: nameOf(pod), why }))
  const going = verdicts.filter(goes)
  return {
    moves: going.map(({ pod }) => nameOf(pod)),
    waits: named('waits'),
    stays: named('leave').length,
    blocks: named('blocks'),
    emptyDirs: going.filter(({ loses }) => loses.length > 0).map(({ pod }) => nameOf(pod)),
    unmanaged: going
      .filter(({ pod }) => pod.controller === undefined && !isFinished(pod))
      .map(({ pod }) => nameOf(pod)),
    own: here,
    unclear: unknown,
    tight: tightBudgets(budgets, verdicts),
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
