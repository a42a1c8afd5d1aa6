import type { Facts } from './facts.js'
import type { Finding, Verdict } from './finding.js'

/** A verdict without what is the same for every cause. */
export type Decision = Omit<Verdict, 'findings' | 'runbooks'>

/** A decision with the empty parts filled in. */
export const plain = (
  decision: Partial<Decision> & Pick<Decision, 'cause' | 'headline' | 'sure' | 'says'>,
): Decision => ({
  hypotheses: [],
  outlook: undefined,
  doNot: [],
  next: [],
  escalateTo: undefined,
  ...decision,
})

/** A rule of the decision: the first that answers wins. */
export type DecisionRule = (facts: Facts, findings: readonly Finding[]) => Decision | undefined
