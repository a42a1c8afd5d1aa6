import { isKnown } from '../evidence/bundle.js'
import { many, moment } from './facts.js'
import { journalCovers } from './journal-band.js'
import { type Cause, hourMs, type LeakFacts } from './leak-facts.js'
import { givesUpAfterOneDel, skipsDelUntil } from './runtime-version.js'

/** What the journal says of teardown when the orphans were made, or that it cannot say. */
const journalOn = ({
  journal,
  band,
  times,
  bundle,
  now,
}: LeakFacts): { for: string[]; missing: string[] } => {
  const [oldest] = times
  if (journal === undefined || band === undefined)
    return { for: [], missing: [`the journal: ${isKnown(bundle.journal) ? 'empty' : bundle.journal.reason}`] }
  if (oldest !== undefined && !journalCovers(journal, oldest)) {
    const start =
      journal.reachesBackTo === undefined
        ? 'is empty'
        : `starts ${moment(Math.max(journal.reachesBackTo, journal.since), now)}`
    const unsaid = `the journal ${start}, the oldest orphan is from ${moment(oldest, now)}: it neither supports nor excludes a cause`
    return {
      for: band.count > 0 ? [`${many(band.count, 'DEL failure')} since the journal starts`] : [],
      missing: [unsaid],
    }
  }
  return { for: band.count > 0 ? [`${many(band.count, 'DEL failure')} in the journal`] : [], missing: [] }
}

/**
 * A runtime that restarts and has lost its records sends no DEL for the sandboxes it forgot: what leaks is older than the
 * restart, what lives is newer. Seen on a real cluster (containerd 2.1.9, killed with its state), where nothing was logged.
 */
export const lostAtRestart: Cause = facts => {
  const { bundle, times, leak, now } = facts
  if (times.length === 0) return undefined
  const runtime = isKnown(bundle.runtime) ? bundle.runtime.value : undefined
  const name = runtime?.name ?? 'the runtime'
  const seen = isKnown(bundle.restarts) ? bundle.restarts.value.runtime : []
  const starts = [
    ...new Set([...seen, ...(runtime?.startedAt === undefined ? [] : [runtime.startedAt])]),
  ].sort((a, b) => a - b)
  const near = times.filter(at => starts.some(start => Math.abs(start - at) <= hourMs)).length
  const living = leak.standings
    .filter(entry => entry.standing === 'live')
    .map(entry => entry.allocation.mtime)
  const divides = starts.findLast(
    start => living.length > 0 && times.every(at => at < start) && living.every(at => at > start),
  )
  const unknownStarts = isKnown(bundle.restarts)
    ? []
    : [`earlier restarts of ${name}: ${bundle.restarts.reason}`]
  const { missing } = journalOn(facts)
  if (near === 0 && divides === undefined) return undefined
  const around = starts.filter(start => times.some(at => Math.abs(start - at) <= hourMs))
  // What is said of older and newer holds for this restart alone.
  const shownStart = divides ?? around[0]
  const failures = failuresNear(facts, around)
  return {
    cause: 'lost-at-restart',
    says: `Teardown was lost when ${name} restarted${shownStart === undefined ? '' : ` ${moment(shownStart, now)}`}.`,
    for: [
      ...(near > 0 ? [`${near} of ${times.length} were made within an hour of a restart`] : []),
      ...(around.length > 0 ? [`${many(around.length, 'restart')} of ${name} in that time`] : []),
      ...(divides === undefined
        ? []
        : ['everything leaked is older than the restart, everything living is newer']),
      ...(failures > 0 ? [`${many(failures, 'DEL failure')} within an hour of these restarts`] : []),
    ],
    against:
      near < times.length / 2 && divides === undefined
        ? [`${times.length - near} were made at other times`]
        : [],
    missing: [
      ...missing,
      ...unknownStarts,
      failures > 0
        ? 'why the DELs failed'
        : 'whether the runtime lost its records then: it logs nothing about DELs it does not send',
    ],
    weight: (divides === undefined ? 0 : 3) + (near / times.length) * 3 + (failures > 0 ? 1 : 0),
  }
}

const failuresNear = ({ band }: LeakFacts, starts: readonly number[]): number =>
  (band?.bursts ?? [])
    .filter(burst => starts.some(start => burst.from - hourMs <= start && start <= burst.to + hourMs))
    .reduce((sum, burst) => sum + burst.count, 0)

/** Teardown failed and said so; how many of the orphans it explains is a matter of time. */
export const delFailed: Cause = facts => {
  const { band, journal, times, now } = facts
  const said = journalOn(facts)
  if (journal === undefined || band === undefined) return undefined
  const [oldest] = times
  const excluded = oldest !== undefined && journalCovers(journal, oldest) && band.count === 0
  if (band.count === 0 && !excluded) return undefined
  const near = times.filter(at =>
    band.bursts.some(({ from, to }) => at >= from - 24 * hourMs && at <= to),
  ).length
  return {
    cause: 'del-failed',
    says: excluded
      ? 'DELs that failed loudly.'
      : `DELs failed and were not repeated to their end, last ${moment(band.last ?? now, now)}.`,
    for: [
      ...said.for,
      ...(near > 0 ? [`${near} of ${times.length} were made in the day before such failures`] : []),
    ],
    against: excluded
      ? ['the journal covers the time when the orphans were made and holds no DEL failure']
      : [],
    missing: said.missing,
    weight: excluded ? -1 : 1 + (times.length === 0 ? 0 : near / times.length),
  }
}

/** containerd versions that send no DEL where the network setup left no result; CRI-O versions that try only once. */
export const runtimeSkipsDel: Cause = ({ bundle, times }) => {
  if (!isKnown(bundle.runtime) || times.length === 0) return undefined
  const { name, version } = bundle.runtime.value
  const fixed = skipsDelUntil(bundle.runtime.value)
  const once = givesUpAfterOneDel(bundle.runtime.value)
  if (fixed === undefined && !once) return undefined
  return {
    cause: 'runtime-skips-del',
    says: once
      ? `${name} ${version} gives a DEL up after one failure and forgets the network.`
      : `${name} ${version} sends no DEL for a sandbox whose network setup was cut short; fixed in ${fixed}.`,
    for: [`${name} ${version} runs there`],
    against: [],
    missing: [
      `whether ${version} was there already when they leaked`,
      'whether sandboxes were cut short then: timeouts and restarts under load do that',
    ],
    weight: 0.8,
  }
}

/** The store survives a reboot on disk; sandboxes that nobody tears down afterwards keep their addresses. */
export const lostAtBoot: Cause = ({ bundle, times, now }) => {
  if (!isKnown(bundle.host) || times.length === 0) return undefined
  const { bootedAt } = bundle.host.value
  const older = times.filter(at => at < bootedAt).length
  const close = times.filter(at => at < bootedAt && bootedAt - at <= 24 * hourMs).length
  if (close === 0) return undefined
  return {
    cause: 'lost-at-boot',
    says: `The node was booted ${moment(bootedAt, now)} and its sandboxes were never torn down.`,
    for: [`${older} of ${times.length} are older than the boot, ${close} of them by less than a day`],
    against: older < times.length ? [`${times.length - older} are newer than the boot`] : [],
    missing: ['whether it was an orderly shutdown'],
    weight: (close / times.length) * 2.5,
  }
}
