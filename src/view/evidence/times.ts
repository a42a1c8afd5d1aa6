import type { Answer, Bundle, Journal, JournalLine } from '../../core/evidence/bundle.js'
import { isKnown, valueIn } from '../../core/evidence/bundle.js'
import { isDelFailure } from '../../core/evidence/parse/journal.js'
import { bars, clusters, orphanTimes } from '../../core/ipam/ages.js'
import type { Gap } from '../../core/ipam/gap.js'
import { code, joined, many, oneLine, strong, type Text, t } from '../text.js'
import { ago, near, span } from '../time.js'
import { type Row, row, rowOf } from './row.js'
import { largest, sparkline } from './spark.js'

const bins = 24
const hour = 3_600_000
/** Bursts closer together than this are one band to a reader. */
const burstGap = hour / 2

const timesOf = (gap: Answer<Gap>): number[] => {
  const value = valueIn(gap)
  return value ? orphanTimes(value) : []
}

interface Axis {
  from: number
  to: number
}

/** Orphans, restarts and DEL failures stand on one axis, so that the eye can lay them over each other. */
const axisOf = (bundle: Bundle, gap: Answer<Gap>): Axis => {
  const oldest = timesOf(gap)[0] ?? valueIn(bundle.journal)?.since ?? bundle.collectedAt - 24 * hour
  const to = bundle.collectedAt
  return { from: oldest - Math.max(hour, (to - oldest) * 0.05), to }
}

const barsOn = (times: readonly number[], { from, to }: Axis): Text =>
  t`${code(sparkline(bars(times, from, to, bins)))}`

/** P-E9: when the orphans were made. */
export const orphanAgeRow = (bundle: Bundle, gap: Answer<Gap>, timeZone: string): Row =>
  rowOf('When the orphans were made', gap, () => {
    const times = timesOf(gap)
    if (times.length === 0) return [t`no orphans`]
    const axis = axisOf(bundle, gap)
    const most = largest(clusters(times, burstGap))
    const read = bundle.collectedAt
    const where = most
      ? `${ago(most.from, read)}, ${span(most.from, most.to, read, timeZone)} (${most.count} of ${times.length})`
      : ''
    return [
      t`${barsOn(times, axis)} ${strong(where)}; the axis runs from ${near(axis.from, read, timeZone)} to the reading`,
    ]
  })

/** P-E9: restarts beside them. */
export const restartRow = (bundle: Bundle, timeZone: string): Row =>
  rowOf('Restarts', bundle.restarts, ({ runtime, kubelet, boots }) => {
    const read = bundle.collectedAt
    const shown = (times: readonly number[]): string => {
      if (times.length === 0) return 'none seen'
      const newest = times.slice(-4).map(at => near(at, read, timeZone))
      return `${newest.join(', ')}${times.length > 4 ? ` (${times.length} in all)` : ''}`
    }
    const name = oneLine(valueIn(bundle.runtime)?.name ?? 'runtime')
    const first = runtime[0]
    const days = first === undefined ? '' : `, the first of them ${ago(first, read)}`
    return [
      t`${name} ${strong(shown(runtime))}${days} · kubelet ${shown(kubelet)} · node ${shown(boots)}`,
      t`as far as the journal was read`,
    ]
  })

const unitLine = (
  unit: string,
  lines: readonly JournalLine[],
  axis: Axis,
  read: number,
  timeZone: string,
): Text => {
  const times = lines.map(line => line.at).toSorted((a, b) => a - b)
  const last = times.at(-1)
  if (last === undefined) return t`${unit}: none`
  const most = largest(clusters(times, burstGap))
  const where = most ? span(most.from, most.to, read, timeZone) : ''
  return t`${unit}: ${strong(many(times.length, 'line'))} ${barsOn(times, axis)} ${where}, the last ${near(last, read, timeZone)}`
}

const reach = (journal: Journal, orphans: readonly number[], read: number, timeZone: string): Text => {
  const { reachesBackTo } = journal
  if (reachesBackTo === undefined)
    return t`The journal of these units is empty: it neither supports nor excludes a cause.`
  const oldest = orphans[0]
  const from = Math.max(journal.since, reachesBackTo)
  // It may reach further back than it was asked for: what is said of it holds for what was read.
  const whole = oldest === undefined ? from === reachesBackTo : from <= oldest || from === reachesBackTo
  const back = whole
    ? `The journal reaches back to ${near(reachesBackTo, read, timeZone)} (${ago(reachesBackTo, read)})`
    : `The journal was read from ${near(from, read, timeZone)} (${ago(from, read)}) on`
  if (oldest === undefined) return t`${back}.`
  const older = orphans.filter(time => time < from).length
  return older > 0
    ? t`${back}; ${older} of ${orphans.length} orphans are older: for those it neither supports nor excludes a cause.`
    : t`${back}, further than the oldest orphan.`
}

/** P-E7: DEL failures by unit, with their band, and how far back the journal could have told. */
export const delRow = (bundle: Bundle, gap: Answer<Gap>, timeZone: string): Row =>
  rowOf('DEL failures', bundle.journal, journal => {
    const axis = axisOf(bundle, gap)
    const failures = journal.lines.filter(line => isDelFailure(line.text))
    const units = journal.units.map(unit =>
      unitLine(
        oneLine(unit),
        failures.filter(line => line.unit === unit),
        axis,
        bundle.collectedAt,
        timeZone,
      ),
    )
    const dropped = journal.dropped > 0 ? t` ${many(journal.dropped, 'further line')} not kept.` : t``
    return [
      failures.length === 0
        ? t`${strong('none')} in ${journal.units.map(oneLine).join(', ')}`
        : joined(units, ' · '),
      t`${reach(journal, timesOf(gap), bundle.collectedAt, timeZone)}${dropped}`,
    ]
  })

/** The node's start, for the attached list: files older than it belong to nobody's running sandbox. */
export const bootLine = (bundle: Bundle, timeZone: string): Row =>
  isKnown(bundle.host)
    ? row(
        'Booted',
        t`${near(bundle.host.value.bootedAt, bundle.collectedAt, timeZone)} (boot id ${bundle.host.value.bootId})`,
      )
    : { label: 'Booted', lines: [], unknown: oneLine(bundle.host.reason) }
