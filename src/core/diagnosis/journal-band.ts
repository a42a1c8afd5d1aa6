import type { Journal } from '../evidence/bundle.js'
import { clusters } from '../ipam/ages.js'

/** DEL failures in the journal: how many, in which unit, and the bursts they came in. */
export interface JournalBand {
  count: number
  byUnit: { unit: string; count: number }[]
  /** Bursts more than an hour apart, oldest first. */
  bursts: { from: number; to: number; count: number }[]
  first: number | undefined
  last: number | undefined
}

/** The failures among a journal's lines; what a failure is says `isDelFailure`. */
export const journalBand = (journal: Journal, isDelFailure: (text: string) => boolean): JournalBand => {
  const failures = journal.lines.filter(line => isDelFailure(line.text))
  const times = failures.map(line => line.at).sort((a, b) => a - b)
  const byUnit = journal.units.map(unit => ({
    unit,
    count: failures.filter(line => line.unit === unit).length,
  }))
  return { count: failures.length, byUnit, bursts: clusters(times), first: times[0], last: times.at(-1) }
}

/**
 * Whether the journal can tell anything about `since`: it must reach back that far and have been asked that far. One
 * that does not neither supports nor excludes a cause.
 */
export const journalCovers = (journal: Journal, since: number): boolean =>
  journal.reachesBackTo !== undefined && journal.reachesBackTo <= since && journal.since <= since
