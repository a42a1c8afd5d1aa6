import { isKnown, valueIn } from '../evidence/bundle.js'
import { type Gap, isExhausted } from '../ipam/gap.js'
import { hypothesesOf } from './causes.js'
import type { Decision } from './decision.js'
import { type Facts, many } from './facts.js'
import type { Finding, Hypothesis, Sureness } from './finding.js'
import { leakFactsOf } from './leak-facts.js'
import { has } from './rules.js'
import { givesUpAfterOneDel, skipsDelUntil } from './runtime-version.js'

/** A restart makes nothing better and is one of the events that lose addresses (P-A6). */
const doNot = [
  'Do not restart the kubelet or the runtime: that frees no address and can lose more.',
  'Do not delete the stuck Pods: they start elsewhere, the node stays as it is.',
  'Do not empty the folder: that gives the addresses of living Pods away.',
]

/** How sure that they are leaked; not how sure of why. */
const sureness = ({ bundle }: Facts, gap: Gap): Sureness => {
  if (!isKnown(bundle.records)) return 'medium'
  return gap.unreadable > 0 ? 'medium' : 'high'
}

/** Will it come back, and what fixes it. */
export const outlookOf = (
  facts: Facts,
  findings: readonly Finding[],
  hypotheses: readonly Hypothesis[],
): string => {
  const { bundle } = facts
  const runtime = isKnown(bundle.runtime) ? bundle.runtime.value : undefined
  const fixed = runtime && skipsDelUntil(runtime)
  const version = !runtime
    ? ''
    : fixed !== undefined
      ? ` ${runtime.name} ${runtime.version} sends no DEL for a sandbox that was cut short; fixed in ${fixed}.`
      : givesUpAfterOneDel(runtime)
        ? ` ${runtime.name} ${runtime.version} gives a DEL up after one failure.`
        : ''
  if (has(findings, 'leak-active'))
    return `It may be going on now: some leaked within the last hour.${version}`
  const cause = hypotheses[0]?.cause
  if (cause === undefined) return `Not known, since the cause is not: the second count tells.${version}`
  if (cause === 'lost-at-restart' || cause === 'runtime-skips-del')
    return `Not by itself; after the next restart under load it can.${version}`
  if (cause === 'lost-at-boot') return `Not by itself; after the next boot it can.${version}`
  return `As long as its cause is there: see above.${version}`
}

/** The verdict for addresses that belong to sandboxes that are gone; full or not yet full. */
export const leakVerdict = (facts: Facts, gap: Gap, findings: readonly Finding[]): Decision => {
  const { bundle, emptyFiles } = facts
  const leaked = gap.orphaned + emptyFiles
  const full = isExhausted(gap)
  // Full with living Pods and a few orphans beside them: giving those back does not make room for long.
  const mostlyLiving = full === true && gap.usable !== undefined && leaked < gap.usable / 10
  const hypotheses = hypothesesOf(leakFactsOf(facts, gap))
  const cordoned = valueIn(bundle.facts)?.unschedulable === true
  const left = gap.usable === undefined ? undefined : gap.usable - gap.taken
  return {
    cause: mostlyLiving ? 'ipam-full-no-leak' : 'ipam-leak',
    headline: mostlyLiving
      ? `All ${gap.usable} addresses are taken, only ${leaked} of them leaked`
      : `${many(leaked, 'address', 'addresses')} leaked on ${bundle.node}${full ? ', none left' : left === undefined ? '' : `, ${left} left`}`,
    sure: sureness(facts, gap),
    says: [
      `The store counts ${many(leaked, 'address', 'addresses')} for sandboxes that are gone, and ${gap.live} for living ones.`,
      ...(full === true ? ['The plugin runs and answers: it has nothing left to give.'] : []),
      ...(mostlyLiving
        ? ['Most owners live: the range is too small for this node, with or without the leak.']
        : []),
      ...(hypotheses.length === 0 ? ['Why they leaked, no evidence tells.'] : []),
    ],
    hypotheses,
    outlook: outlookOf(facts, findings, hypotheses),
    doNot,
    next: [
      cordoned
        ? `Give the ${leaked} back in place; ${bundle.node} is cordoned already.`
        : `Cordon ${bundle.node}, then give the ${leaked} back in place.`,
      'Prove it: a test Pod, and a second count a day later.',
    ],
    escalateTo: mostlyLiving ? 'capacity planning' : undefined,
  }
}
