import { journalCovers } from '../diagnosis/journal-band.js'
import { type Facts, factsOf } from '../diagnosis/facts.js'
import { diagnose } from '../diagnosis/diagnose.js'
import type { Sureness, Verdict } from '../diagnosis/finding.js'
import { leakFactsOf } from '../diagnosis/leak-facts.js'
import { outlookOf } from '../diagnosis/leak-verdict.js'
import { hypothesesOf } from '../diagnosis/causes.js'
import { findingsOf } from '../diagnosis/rules.js'
import { type Answer as Evidence, type Bundle, isKnown } from '../evidence/bundle.js'
import { orphanTimes } from '../ipam/ages.js'
import { reportOf } from '../report/read-bundle.js'
import { type Answer, explain, unique } from './explain.js'

/** One known way in which addresses leak, with what the bundle says on it; the best supported first. */
export interface LeakClass {
  /** lost-at-restart, runtime-skips-del, broken-chain, … (`core/diagnosis/causes.ts`). */
  class: string
  says: string
  for: string[]
  against: string[]
  missing: string[]
}

/** An answer from a bundle: where addresses leak, with how that came about. Both keys are absent where none do. */
export interface BundleAnswer extends Answer {
  leak_classes?: LeakClass[]
  /** Whether it comes back, and with which version it is fixed. */
  outlook?: string
}

/**
 * A teardown that was never sent leaves no line, on no runtime: a journal without a failure is no proof of either. Undefined
 * where failures are in it, which the classes name.
 */
const journalSays = ({ bundle, journal, band, gap }: Facts): string | undefined => {
  const open = 'it neither supports nor excludes any way of leaking'
  if (journal === undefined || band === undefined)
    return `The journal was not read${isKnown(bundle.journal) ? '' : ` (${bundle.journal.reason})`}: ${open}.`
  if (band.count > 0) return undefined
  const [oldest] = isKnown(gap) ? orphanTimes(gap.value) : []
  if (oldest !== undefined && !journalCovers(journal, oldest))
    return `The journal does not reach back to when the oldest leaked: ${open}.`
  return 'The journal holds no failed teardown: a teardown that was never sent leaves no line, so it neither supports nor excludes a silent leak.'
}

const aboutAddresses = new Set<string>(['ipam-leak', 'ipam-full-no-leak'])
const order: Sureness[] = ['low', 'medium', 'high']
const lower = (a: Sureness, b: Sureness): Sureness => (order.indexOf(a) < order.indexOf(b) ? a : b)

/** Parts of a bundle that a comparison by id, and what is offered after it, need; those that it has no answer on. */
const unread = (bundle: Bundle): string[] => {
  const { facts, host, conflist, stores, sandboxes, records, held, journal, restarts } = bundle
  const parts: [string, Evidence<unknown>][] = [
    ['the node in the API', facts],
    ["the node's clock and boot", host],
    ['the network configuration', conflist],
    ['the address files', stores],
    ['the sandboxes of every state', sandboxes],
    ["the runtime's own records", records],
    ['which addresses something on the node still uses', held],
    ['the journal', journal],
    ['earlier starts of the runtime', restarts],
  ]
  return parts.flatMap(([what, answer]) => (isKnown(answer) ? [] : [`${what}: ${answer.reason}`]))
}

/** Both look at the same bundle: the one that is less sure is right about how sure. Counts alone prove nothing. */
const confidenceOf = (answer: Answer, verdict: Verdict, facts: Facts): Sureness => {
  if (!aboutAddresses.has(answer.cause)) return answer.confidence
  if (!isKnown(facts.gap)) return lower(answer.confidence, 'medium')
  return verdict.cause === answer.cause ? lower(answer.confidence, verdict.sure) : answer.confidence
}

const leakPart = (answer: Answer, facts: Facts): Pick<BundleAnswer, 'leak_classes' | 'outlook'> => {
  if (answer.cause !== 'ipam-leak' && !answer.also.includes('ipam-leak')) return {}
  const hypotheses = isKnown(facts.gap) ? hypothesesOf(leakFactsOf(facts, facts.gap.value)) : []
  const outlook = isKnown(facts.gap)
    ? outlookOf(facts, findingsOf(facts), hypotheses)
    : 'Whether it comes back is not known, since what leaked could not be told.'
  const said = journalSays(facts)
  return {
    leak_classes: hypotheses.map(({ cause, ...rest }) => ({ class: cause, ...rest })),
    outlook: said === undefined ? outlook : `${outlook} ${said}`,
  }
}

/** What a saved bundle shows: `explain` on it and, where addresses leak, the class it supports. Pure; throws nothing. */
export const explainBundle = (bundle: Bundle): BundleAnswer => {
  const answer = explain(reportOf(bundle))
  const facts = factsOf(bundle)
  const part = leakPart(answer, facts)
  const [main] = answer.hypotheses
  // By id what the general advice asks for was compared already: only what this bundle lacks is left to ask for.
  const asks =
    answer.cause === 'ipam-leak'
      ? {
          ask_for: unique([
            ...(main?.missing ?? []),
            ...unread(bundle),
            ...(part.leak_classes?.[0]?.missing ?? []),
          ]),
        }
      : {}
  return { ...answer, confidence: confidenceOf(answer, diagnose(bundle, []), facts), ...asks, ...part }
}
