import { isKnown } from '../evidence/bundle.js'
import { causeWords } from '../explain/cause-words.js'
import { type Answer, explain } from '../explain/explain.js'
import { isExhausted } from '../ipam/gap.js'
import { reportOf } from '../report/read-bundle.js'
import type { CauseCode } from './cause.js'
import { type Decision, type DecisionRule, plain } from './decision.js'
import { eventLine, type Facts, many } from './facts.js'
import type { Finding, Hypothesis, Verdict } from './finding.js'
import { otherTrouble } from './plugin-rules.js'
import { has } from './rules.js'

/** Decided by counts and owner ids (`decide`): only for these is a repair of the store ever offered. */
const ofTheRange = new Set<string>(['ipam-leak', 'ipam-full-no-leak'] satisfies CauseCode[])

export const isOfTheRange = ({ cause }: Pick<Verdict, 'cause'>): boolean => ofTheRange.has(cause)

const said = (cause: CauseCode): string => causeWords[cause].replace(/\.$/, '')

const hypothesis = ({ cause, ...rest }: Answer['hypotheses'][number]): Hypothesis => ({
  cause,
  says: said(cause),
  ...rest,
})

const pressed = ({ bundle }: Facts): boolean =>
  isKnown(bundle.facts) &&
  bundle.facts.value.conditions.some(({ type, status }) => type.endsWith('Pressure') && status === 'True')

/** What is true of the range although it is not why Pods fail now. */
const ofAddresses = ({ gap }: Facts, findings: readonly Finding[]): string[] => {
  if (!isKnown(gap)) return []
  const { orphaned } = gap.value
  if (!has(findings, 'allocations-leaked'))
    return isExhausted(gap.value) === false ? ['The address range is not the trouble here.'] : []
  const left = isExhausted(gap.value) === true ? ', and none is left' : ''
  const retries = has(findings, 'plugin-not-running')
    ? ' Failed ADDs leave their addresses behind: each retry leaks one until the plugin runs again.'
    : ''
  return [
    `Beside it ${many(orphaned, 'address', 'addresses')} leaked${left}: to be given back once Pods fail for no other reason.${retries}`,
  ]
}

const decided = (facts: Facts, findings: readonly Finding[], answer: Answer): Decision => {
  const trouble = otherTrouble(facts)
  const [main] = answer.hypotheses
  return plain({
    cause: answer.cause,
    headline: `${said(answer.cause)} (${facts.bundle.node})`,
    sure: answer.confidence,
    says: [
      ...(main?.for.slice(0, 1) ?? []),
      ...ofAddresses(facts, findings),
      ...(trouble === undefined ? [] : [eventLine(trouble)]),
    ],
    hypotheses: answer.hypotheses.slice(0, 3).map(hypothesis),
    doNot: answer.warnings,
    next: answer.actions.map(({ why }) => why),
    escalateTo: answer.escalate_to ?? undefined,
  })
}

/**
 * Pods fail here, or the node is not well, for another reason than the range: what the cause rules say of the same
 * bundle, in their words, so that nobody touches the store for it.
 */
export const elsewhere: DecisionRule = (facts, findings) => {
  if (otherTrouble(facts) === undefined && !has(findings, 'node-not-ready') && !pressed(facts))
    return undefined
  const answer = explain(reportOf(facts.bundle))
  if (answer.cause === 'other' || isOfTheRange(answer)) return undefined
  return decided(facts, findings, answer)
}

/** Sandboxes fail with a message that points at no cause: said as it is, before anything is said to be well. */
export const unknownTrouble: DecisionRule = facts => {
  const trouble = otherTrouble(facts)
  if (trouble === undefined) return undefined
  return plain({
    cause: 'other',
    headline: `Sandboxes cannot be made (${facts.bundle.node})`,
    sure: 'low',
    says: [trouble.reading.says, 'No lack of addresses is seen here.', eventLine(trouble)],
    next: ['Read the newest message in the evidence; no repair of the address store is called for.'],
    escalateTo: 'platform',
  })
}
