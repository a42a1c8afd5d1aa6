import type { Comparison } from '../runbook/comparison.js'
import type { IncidentState } from './incident.js'

/**
 * The comparison on which a repair may be chosen now: the newest, as long as no repair was begun since it was read. What a
 * repair has changed makes its numbers old; a cordon changes none of them.
 */
export const standingComparison = ({
  comparisons,
  runs,
}: Pick<IncidentState, 'comparisons' | 'runs'>): Comparison | undefined => {
  const newest = comparisons.at(-1)
  const begun = runs.some(
    run => newest !== undefined && run.runbook !== 'cordon' && run.openedAt >= newest.readAt,
  )
  return begun ? undefined : newest
}
