import type { Done, Plan } from './plan.js'
import type { Runbook, StepSpec } from './schema.js'

/** `cnibot` for what the program did by itself, else the person's Slack id. */
export type Actor = string

export type Outcome = 'completed' | 'held' | 'undone' | 'abandoned' | 'stuck'

export interface StepError {
  /** Nothing was done · it was tried and did not work · the node or the API could not be reached · a bug. */
  class: 'refused' | 'failed' | 'unreachable' | 'bug'
  message: string
  output: string
}

/** A Pod whose eviction the server has accepted; `pod` is `namespace/name`. */
export interface EvictedPod {
  pod: string
  uid: string
}

export type RunEvent = { at: number; by: Actor } & (
  | {
      type: 'RunOpened'
      run: string
      cluster: string
      incident: string
      node: string
      nodeUid: string
      bootId: string
      runbook: Runbook
      /** The last order number of the node's run before this one: all of this run's are higher. */
      fence?: number
    }
  | {
      type: 'StepPlanned'
      index: number
      plan: Plan
      digest: string
      expiresAt: number
      /** How many different people must approve it; without it one. */
      approvals?: number
    }
  | { type: 'StepApproved'; index: number; digest: string }
  | { type: 'StepRefused'; index: number; digest: string }
  | { type: 'InputGiven'; index: number }
  /** `fence`: number of this order; whoever began later on the same node has a higher one. */
  | { type: 'StepStarted'; index: number; fence?: number }
  /**
   * How far a long step is, for people; an old one means nothing. `evicted`: since the note before. It leads to no other
   * status.
   */
  | { type: 'StepProgressed'; index: number; says: string; evicted?: EvictedPod[] }
  | { type: 'StepDone'; index: number; done: Done }
  | { type: 'StepFailed'; index: number; error: StepError }
  | { type: 'RetryAsked'; index: number }
  | { type: 'PlanOutdated'; index: number; why: string }
  | { type: 'UndoAsked' }
  | { type: 'UndoStarted'; index: number; fence?: number }
  /** `left`: what could not be reversed, a line each with the reason. */
  | { type: 'UndoDone'; index: number; says: string; left?: string[] }
  | { type: 'UndoFailed'; index: number; error: StepError }
  | { type: 'RunEnded'; outcome: Outcome; escalateTo?: string }
)
export type RunEventType = RunEvent['type']

export type LineStatus =
  | 'pending'
  | 'awaiting'
  | 'approved'
  | 'acting'
  | 'done'
  | 'failed'
  | 'undoing'
  | 'undone'
  | 'undo-failed'

/** Who decided, and when. */
export interface Decision {
  by: Actor
  at: number
}

/** A plan of this line that somebody decided on or that was begun, and then given up: its card stays as it was seen. */
export interface Attempt {
  plan: Plan
  digest: string
  plannedAt: number | undefined
  needs: number
  approvals: Decision[]
  approved: Decision | undefined
  refused: Decision | undefined
  startedAt: number | undefined
  error: StepError | undefined
  why: string
}

export interface Line {
  spec: StepSpec
  status: LineStatus
  plan: Plan | undefined
  digest: string | undefined
  plannedAt: number | undefined
  expiresAt: number | undefined
  /** How many different people must approve this plan. */
  needs: number
  /** Of this very plan, in order; each person once. */
  approvals: Decision[]
  /** The one that completed the approval, or the tick. */
  approved: Decision | undefined
  refused: Decision | undefined
  /** The last start of this plan; undefined until it begins, whatever plans before it did. */
  startedAt: number | undefined
  /** The first start of this plan: `startedAt` is a later one where another worker took over. */
  begunAt: number | undefined
  /** From first start to end, of all plans of this line that were begun. */
  workedMs: number
  /** The newest note of the start that is at work. */
  progress: { at: number; says: string } | undefined
  /** By any start of any plan of this line, each once. */
  evicted: EvictedPod[]
  endedAt: number | undefined
  done: Done | undefined
  error: StepError | undefined
  undone: string | undefined
  /** What the undo could not reverse, a line each. */
  leftBehind: string[]
  /** Why plans were given up before anybody approved them. */
  outdated: string[]
  /** Oldest first. */
  attempts: Attempt[]
  /** The plan that was begun last: what undo goes by, whatever was planned since. */
  startedPlan: Plan | undefined
  /** How often it was begun; more than once after a crash or a retry. */
  starts: number
}

export interface RunState {
  run: string
  cluster: string
  incident: string
  node: string
  nodeUid: string
  bootId: string
  runbook: Runbook
  openedBy: Actor
  openedAt: number
  status: 'planning' | 'awaiting' | 'acting' | 'paused' | 'undoing' | 'ended'
  position: number
  lines: Line[]
  outcome: Outcome | undefined
  endedAt: number | undefined
  endedBy: Actor | undefined
  /** Whom the person who ended it handed the node to. */
  escalateTo: string | undefined
}
