import type { CauseCode } from '../diagnosis/cause.js'
import type { Report } from '../report/report.js'

/**
 * How much one observation says. `proves`: nothing else makes it. `supports`: it is what this cause does, and a few others
 * do it too. `hints`: it goes along with it.
 */
export type Weight = 'proves' | 'supports' | 'hints'

export interface Clue {
  /** One sentence: what was seen. Text of the cluster in it is quoted and cut (`quoted`). */
  says: string
  weight: Weight
}

export const clue = (says: string, weight: Weight): Clue => ({ says, weight })

/** What one rule thinks of one cause. */
export interface Suspicion {
  cause: CauseCode
  /** Which kind of it, where that decides what to do: `empty-files`, `reboot`, … (`advice`). */
  way?: string
  for: Clue[]
  /** What speaks against; `proves` here rules the cause out. */
  against?: Clue[]
  /** What was not looked at and would make it surer: "owner ids inside the address files". */
  missing?: string[]
}

export interface CauseRule {
  /** In kebab-case; the test's row has the same name. */
  name: string
  /** Where the rule comes from: documentation, a project's issue, arithmetic. */
  source: string
  read: (report: Report) => Suspicion[]
}

/** What is done about one cause, and what would hurt. */
export interface Advice {
  cause: CauseCode
  /** Undefined: for every way of the cause that has none of its own. */
  way?: string
  /** First the one to begin with. */
  actions: Action[]
  warnings: string[]
  askFor: string[]
  escalateTo: string | undefined
}

/**
 * A step kind, the name of a runbook, or what only people do: `look` (read more), `wait`, `fix` (a setting or object
 * outside this node's repair), `ask` (an owner).
 */
export type ActionKind =
  | 'look'
  | 'wait'
  | 'fix'
  | 'ask'
  | 'cordon'
  | 'uncordon'
  | 'drain'
  | 'remove-orphans'
  | 'test-pod'
  | 'restart-rollout'
  | 'recreate-pod'
  | 'restore-route'
  | 'restart-unit'
  | 'leak-reconcile'
  | 'leak-drain'

export interface Action {
  kind: ActionKind
  /** What to do and why, one sentence. */
  why: string
}
