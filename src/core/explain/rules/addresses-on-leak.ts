import { addressesOf } from '../../report/addresses.js'
import type { Report } from '../../report/report.js'
import type { CauseRule, Clue, Suspicion } from '../rule.js'

/** Why addresses leak is only asked where some do, or may. */
export const leaking = (report: Report): boolean => {
  const sum = addressesOf(report)
  return (
    sum.manager === 'host-local' &&
    !sum.outside &&
    ((sum.unowned ?? 0) >= 4 || (sum.said && sum.by === undefined) || sum.emptyFiles > 0)
  )
}

export const leak = (way: string, clues: Clue[], missing: string[] = []): Suspicion => ({
  cause: 'ipam-leak',
  way,
  for: clues,
  missing,
})

/** A rule on how a leak came about; silent where nothing leaks. */
export const onLeak = (name: string, source: string, read: (report: Report) => Suspicion[]): CauseRule => ({
  name,
  source,
  read: report => (leaking(report) ? read(report) : []),
})
