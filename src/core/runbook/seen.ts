import type { Plan } from './plan.js'
import type { Actor, Decision, RunEvent } from './run-events.js'

/** One plan as it was put before people, and what became of it. */
export interface SeenPlan {
  index: number
  plan: Plan
  digest: string
  plannedAt: number
  expiresAt: number
  needs: number
  approvals: Decision[]
  ticked: Decision | undefined
  refused: Decision | undefined
  startedAt: number | undefined
  /** What the step came to; undefined while it waits or runs. */
  end: { how: 'done' | 'failed' | 'given up' | 'not decided'; at: number; says: string } | undefined
  /** What became of it afterwards, where it was undone. */
  undo: { how: 'undone' | 'undo failed'; at: number; says: string } | undefined
}

type Step = Extract<RunEvent, { index: number }>

const onStep = (seen: SeenPlan, event: Step): SeenPlan => {
  const { at, by } = event
  switch (event.type) {
    case 'StepApproved':
      return { ...seen, approvals: [...seen.approvals, { by, at }] }
    case 'InputGiven':
      return { ...seen, ticked: { by, at } }
    case 'StepRefused':
      return { ...seen, refused: { by, at } }
    case 'StepStarted':
      return { ...seen, startedAt: at }
    case 'StepDone':
      return { ...seen, end: { how: 'done', at, says: event.done.says } }
    case 'StepFailed':
      return { ...seen, end: { how: 'failed', at, says: event.error.message } }
    case 'PlanOutdated':
      return { ...seen, end: { how: 'given up', at, says: event.why } }
    case 'UndoDone':
      return { ...seen, undo: { how: 'undone', at, says: event.says } }
    case 'UndoFailed':
      return { ...seen, undo: { how: 'undo failed', at, says: event.error.message } }
    case 'StepPlanned':
    case 'StepProgressed':
    case 'RetryAsked':
    case 'UndoStarted':
      return seen
  }
}

const lapsed = (seen: SeenPlan, at: number): SeenPlan =>
  seen.end || seen.refused || seen.startedAt !== undefined
    ? seen
    : { ...seen, end: { how: 'not decided', at, says: 'the run ended before it was decided' } }

/**
 * Every plan of a run in the order people saw them: those that expired, were refused or given up too. A plan that asked
 * nobody is left out, unless it was begun.
 */
export const plansSeen = (events: readonly RunEvent[]): SeenPlan[] => {
  const plans: SeenPlan[] = []
  for (const event of events) {
    if (event.type === 'StepPlanned') {
      const { index, plan, digest, expiresAt, at: plannedAt, approvals: needs = 1 } = event
      const undecided = { approvals: [], ticked: undefined, refused: undefined, startedAt: undefined }
      plans.push({
        index,
        plan,
        digest,
        plannedAt,
        expiresAt,
        needs,
        ...undecided,
        end: undefined,
        undo: undefined,
      })
    } else if (event.type === 'RunEnded') {
      const last = plans.at(-1)
      if (last) plans[plans.length - 1] = lapsed(last, event.at)
    } else if ('index' in event) {
      const n = plans.findLastIndex(each => each.index === event.index)
      const seen = plans[n]
      if (seen) plans[n] = onStep(seen, event)
    }
  }
  return plans
}

/** Everybody who decided on it, for a list. */
export const deciders = ({ approvals, ticked, refused }: SeenPlan): Actor[] => [
  ...approvals.map(({ by }) => by),
  ...(ticked ? [ticked.by] : []),
  ...(refused ? [refused.by] : []),
]
