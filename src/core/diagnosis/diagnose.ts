import { shownDuration } from '../duration.js'
import { type Bundle, isKnown } from '../evidence/bundle.js'
import { decide } from './decide.js'
import { isOfTheRange } from './decide-elsewhere.js'
import { factsOf } from './facts.js'
import type { Finding, FindingName, Verdict } from './finding.js'
import { findingsOf } from './rules.js'

/** What of a runbook decides whether it is offered. */
export interface RunbookChoice {
  name: string
  answers: FindingName[]
  forbidden_by: FindingName[]
}

/** What is remembered of the node's tickets: moving the Pod ended `moved` of `tickets` within `overMs`. */
export interface TicketHistory {
  tickets: number
  moved: number
  overMs: number
}

/** Runbooks that answer a finding and are forbidden by none, in the order given. */
export const runbooksFor = (findings: readonly Finding[], runbooks: readonly RunbookChoice[]): string[] => {
  const names = new Set(findings.map(finding => finding.name))
  return runbooks
    .filter(
      ({ answers, forbidden_by: forbidden }) =>
        answers.some(name => names.has(name)) && !forbidden.some(name => names.has(name)),
    )
    .map(({ name }) => name)
}

/** P-R2: that a Pod ran elsewhere after it was moved speaks against this node, not for it. */
const moving = (history: TicketHistory | undefined): string[] => {
  if (history === undefined || history.tickets < 2) return []
  const { tickets, moved, overMs } = history
  const ended = moved > 0 ? ` Moving the Pod ended ${moved} of them and repaired nothing here.` : ''
  return [`${tickets} tickets in ${shownDuration(overMs)} were about this node.${ended}`]
}

/** P-E8: why the trouble comes back to this node: it looks empty, and Ready says nothing about sandboxes (P-E2). */
const whyHere = ({ facts }: Bundle, running: number | undefined): string[] => {
  if (!isKnown(facts)) return []
  const ready = facts.value.conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
  if (!ready) return []
  const { maxPods, unschedulable } = facts.value
  const empty = running !== undefined && running < maxPods / 2
  const chosen =
    empty && !unschedulable
      ? `, and with ${running} of ${maxPods} Pods it looks empty, so the scheduler keeps choosing it`
      : ''
  return [
    `The node is Ready, which says that the kubelet and the plugin are up, not that a Pod can be made there${chosen}.`,
  ]
}

const podCount = ({ pods }: Bundle): number | undefined =>
  isKnown(pods)
    ? pods.value.filter(({ phase }) => phase !== 'Succeeded' && phase !== 'Failed').length
    : undefined

/**
 * One bundle → what we think of the node: findings with their evidence, the most likely cause, how sure, which runbooks
 * answer it or whom to call. Evidence that is missing lowers sureness; it never counts as a zero.
 */
export const diagnose = (
  bundle: Bundle,
  runbooks: readonly RunbookChoice[],
  history?: TicketHistory,
): Verdict => {
  const facts = factsOf(bundle)
  const findings = findingsOf(facts)
  const decision = decide(facts, findings)
  // A leak that is not why Pods fail now is told, and not repaired in the middle of the other trouble.
  const answered = isOfTheRange(decision)
    ? findings
    : findings.filter(finding => finding.name !== 'allocations-leaked')
  const offered = runbooksFor(answered, runbooks)
  const broken = decision.cause !== 'nothing-found'
  return {
    cause: decision.cause,
    headline: decision.headline,
    sure: decision.sure,
    says: [...decision.says, ...(broken ? [...whyHere(bundle, podCount(bundle)), ...moving(history)] : [])],
    findings,
    hypotheses: decision.hypotheses,
    outlook: decision.outlook,
    doNot: decision.doNot,
    next: decision.next,
    runbooks: offered,
    escalateTo: decision.escalateTo ?? (broken && offered.length === 0 ? 'platform' : undefined),
  }
}
