import { isKnown } from '../evidence/bundle.js'
import { orphanTimes } from '../ipam/ages.js'
import { type Gap, isExhausted } from '../ipam/gap.js'
import { eventLine, type Facts, many, moment } from './facts.js'
import type { Finding } from './finding.js'

/** One rule: what it found, or nothing. Missing evidence is never a finding of absence. */
export type FindingRule = (facts: Facts) => Finding | undefined

/** Findings about the gap; without one there is nothing to say. */
const onGap =
  (rule: (gap: Gap, facts: Facts) => Finding | undefined): FindingRule =>
  facts =>
    isKnown(facts.gap) ? rule(facts.gap.value, facts) : undefined

/**
 * Every address of a range set is taken; or, where the store could not be counted, the plugin says so right now
 * (host-local's "no IP addresses available in range set").
 */
export const rangeExhausted: FindingRule = ({ gap, fresh }) => {
  const told = fresh.filter(({ reading }) => reading.kind === 'exhausted')
  const full = isKnown(gap) ? isExhausted(gap.value) : undefined
  if (full === false) return undefined
  if (full === undefined && told.length === 0) return undefined
  const counted =
    isKnown(gap) && full ? `${gap.value.taken} of ${gap.value.usable} addresses are taken` : undefined
  return {
    name: 'range-exhausted',
    says: `${counted ?? 'The plugin says that no address is left'}. The plugin runs and answers: it has nothing left to give.`,
    evidence: [
      ...(isKnown(gap)
        ? gap.value.sets.map(
            ({ index, subnets, taken, usable }) =>
              `range ${index} (${subnets.join(', ')}): ${taken} of ${usable}`,
          )
        : [`not counted: ${gap.reason}`]),
      ...told.map(eventLine),
    ],
  }
}

/** Address files whose owner is no sandbox and no record of the runtime; empty files are nobody's either (plugins#498). */
export const allocationsLeaked: FindingRule = onGap((gap, { emptyFiles, bundle }) => {
  if (gap.orphaned + emptyFiles === 0) return undefined
  const empty = emptyFiles > 0 ? `, ${many(emptyFiles, 'file')} without any owner` : ''
  const checked = isKnown(bundle.records)
    ? `checked against ${bundle.records.value.source} too`
    : `the runtime's own records were not read: ${bundle.records.reason}`
  const asked = isKnown(bundle.owners) ? bundle.owners.value : []
  return {
    name: 'allocations-leaked',
    says: `${many(gap.orphaned, 'address', 'addresses')} of sandboxes that no longer exist${empty}; ${gap.live} of living ones.`,
    evidence: [
      `${gap.sandboxes.total} sandboxes (${gap.sandboxes.notReady} NotReady count as owners); ${checked}`,
      ...asked
        .filter(answer => !answer.known)
        .map(answer => `${answer.ip} → ${answer.owner.slice(0, 13)}…: ${answer.said}`),
    ],
  }
})

const activeMs = 60 * 60_000

/** An orphan made within the last hour: whatever leaks may still be going on, and giving back only buys time. */
export const leakActive: FindingRule = onGap((gap, { bundle }) => {
  const now = isKnown(bundle.host) ? bundle.host.value.now : bundle.collectedAt
  const recent = orphanTimes(gap).filter(at => now - at <= activeMs)
  const last = recent.at(-1)
  if (last === undefined) return undefined
  return {
    name: 'leak-active',
    says: `${many(recent.length, 'address', 'addresses')} made within the last hour leaked: it may be going on now.`,
    evidence: [`the newest was made ${moment(last, now)}`],
  }
})

/** Less than a tenth left, or fewer than ten addresses, while addresses are leaked. */
export const exhaustionNear: FindingRule = onGap((gap, { emptyFiles }) => {
  if (gap.usable === undefined || gap.orphaned + emptyFiles === 0) return undefined
  const left = gap.usable - gap.taken
  if (left <= 0 || left > Math.max(10, gap.usable / 10)) return undefined
  return {
    name: 'exhaustion-near',
    says: `${many(left, 'address is', 'addresses are')} left of ${gap.usable}.`,
    evidence: [`${gap.taken} taken, ${gap.orphaned} of them leaked`],
  }
})

/** Full with living owners: no leak, the range is smaller than what runs or may run there. */
export const rangeTooSmall: FindingRule = onGap((gap, { bundle, emptyFiles }) => {
  if (isExhausted(gap) !== true || gap.orphaned + emptyFiles > 0 || gap.unreadable > 0 || gap.young > 0)
    return undefined
  const maxPods = isKnown(bundle.facts) ? bundle.facts.value.maxPods : undefined
  return {
    name: 'range-too-small',
    says: `All ${gap.usable} addresses belong to living sandboxes: nothing is leaked, the range is too small for this node.`,
    evidence: [
      `${gap.live} owners live, ${gap.sandboxes.notReady} sandboxes are NotReady`,
      ...(maxPods === undefined ? [] : [`maxPods is ${maxPods}, the range gives ${gap.usable}`]),
    ],
  }
})

/** A ready Pod-network sandbox that owns no file: its address can be given to another Pod (real-cluster: it was, silently). */
export const podWithoutAddress: FindingRule = onGap(gap => {
  if (!gap.withoutAddress) return undefined
  return {
    name: 'pod-without-address',
    says: `${many(gap.withoutAddress, 'ready sandbox owns', 'ready sandboxes own')} no address file: the plugin may give the address to another Pod.`,
    evidence: [],
  }
})

/** The runtime's and the kubelet's lines about failed teardown, within the journal's window. */
export const delFailures: FindingRule = ({ band, bundle }) => {
  if (band === undefined || band.count === 0 || band.first === undefined || band.last === undefined)
    return undefined
  const units = band.byUnit.filter(unit => unit.count > 0).map(({ unit, count }) => `${unit} ${count}`)
  return {
    name: 'del-failures',
    says: `${many(band.count, 'DEL failure')} in the journal, the last ${moment(band.last, bundle.collectedAt)}.`,
    evidence: [
      units.join(', '),
      ...band.bursts.map(
        ({ from, to, count }) =>
          `${count} from ${moment(from, bundle.collectedAt)} to ${moment(to, bundle.collectedAt)}`,
      ),
    ],
  }
}

/**
 * libcni's cache is empty while sandboxes live. A fact worth knowing, never a cause: libcni ignores that an entry is
 * missing, and host-local finds its files by container id.
 */
export const resultCacheMissing: FindingRule = onGap((gap, { bundle }) => {
  if (!isKnown(bundle.leftovers) || bundle.leftovers.value.cachedResults !== 0 || gap.live === 0)
    return undefined
  return {
    name: 'result-cache-missing',
    says: 'The result cache is empty although sandboxes live. That alone leaks nothing: a DEL works without its entry.',
    evidence: [`0 entries for ${gap.live} addresses of living sandboxes`],
  }
})

export const addressRules: FindingRule[] = [
  rangeExhausted,
  allocationsLeaked,
  leakActive,
  exhaustionNear,
  rangeTooSmall,
  podWithoutAddress,
  delFailures,
  resultCacheMissing,
]
