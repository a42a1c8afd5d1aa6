import { planDigest, planSubject } from '../core/runbook/plan.js'
import type { Risk } from '../core/runbook/approval.js'
import { changes, type RunEvent, type RunState, type StepError } from '../core/runbook/run.js'
import { Failed, type History, type Jobs, type Log, Refused, type Runbooks, Unreachable } from '../ports.js'
import { type GatherDeps, gather, type How } from '../steps/gather.js'
import { actStep, planStep, undoStep } from '../steps/index.js'
import type { StepContext, StepSettings } from '../steps/step.js'
import { fenced, type Order } from './fenced.js'
import { progressNotes } from './progress-notes.js'
import { untilAnswered } from './until-answered.js'

export interface RunStepDeps extends GatherDeps {
  history: History
  jobs: Jobs
  runbooks: Runbooks
  log: Log
  /** Asked right before a step begins: what is written instead of its start, or undefined where nothing speaks against it. */
  mayAct?: (state: RunState, index: number) => Promise<RunEvent | undefined>
  /** Asked before each change of a step that has begun: why it must not be made, or undefined. Never asked in an undo. */
  stopped?: (node: string) => Promise<string | undefined>
  settings: GatherDeps['settings'] &
    StepSettings & {
      approvalTtlMs: number
      /** How long a step that another worker has begun is left to that one. Real time; default 3 s. */
      takeOverAfterMs?: number
      bundleTtlMs: number
      incidentWindowMs: number
      /** How many different people must approve a change, by risk; without it one. */
      approvals?: Record<Risk, number>
    }
}

/** The only place where what a step throws becomes an event. */
const errorOf = (error: unknown): StepError => {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Refused) return { class: 'refused', message, output: error.output }
  if (error instanceof Unreachable) return { class: 'unreachable', message, output: '' }
  if (error instanceof Failed) return { class: 'failed', message, output: error.output }
  return { class: 'bug', message: `unexpected: ${message}`, output: '' }
}

/** Without an order the step can only look. */
export const contextOf = (
  deps: RunStepDeps,
  state: RunState,
  index: number,
  signal: AbortSignal,
  order?: Order,
): StepContext => ({
  run: state,
  index,
  ...fenced(deps, order),
  clock: deps.clock,
  settings: deps.settings,
  signal,
  bundle: id => untilAnswered(deps, `read bundle ${id}`, () => deps.history.bundle(id), signal),
  measure: async (node: string, how: How) => {
    const bundle = await gather(deps, node, how, signal)
    const id = `${node}-${bundle.collectedAt}`
    const keep = () => deps.history.keepBundle(id, bundle, deps.settings.bundleTtlMs)
    if (how === 'full') await untilAnswered(deps, `keep bundle ${id}`, keep, signal)
    return { bundle, id }
  },
  progress: progressNotes(deps, state, index, order),
})

export const plan = async (deps: RunStepDeps, state: RunState, ctx: StepContext): Promise<RunEvent> => {
  const { index } = ctx
  const line = state.lines[index]
  if (!line) throw new Error(`run ${state.run} has no step ${index}`)
  try {
    const made = await planStep(line.spec, ctx)
    const at = deps.clock.now()
    const approvals = changes[made.kind] ? (deps.settings.approvals?.[state.runbook.risk] ?? 1) : 1
    const digest = planDigest(made, planSubject(state, index))
    return {
      at,
      by: 'cnibot',
      type: 'StepPlanned',
      index,
      plan: made,
      digest,
      expiresAt: at + deps.settings.approvalTtlMs,
      approvals,
    }
  } catch (error) {
    if (ctx.signal.aborted) throw error
    return { at: deps.clock.now(), by: 'cnibot', type: 'StepFailed', index, error: errorOf(error) }
  }
}

export const act = async (deps: RunStepDeps, state: RunState, ctx: StepContext): Promise<RunEvent> => {
  const { index } = ctx
  const line = state.lines[index]
  if (!line?.plan) throw new Error(`run ${state.run} has no plan for step ${index}`)
  try {
    const done = await actStep(line.plan, ctx)
    return { at: deps.clock.now(), by: 'cnibot', type: 'StepDone', index, done }
  } catch (error) {
    if (ctx.signal.aborted) throw error
    return { at: deps.clock.now(), by: 'cnibot', type: 'StepFailed', index, error: errorOf(error) }
  }
}

export const undo = async (deps: RunStepDeps, state: RunState, ctx: StepContext): Promise<RunEvent> => {
  const { index } = ctx
  const line = state.lines[index]
  const plan = line?.startedPlan ?? line?.plan
  if (!line || !plan)
    return { at: deps.clock.now(), by: 'cnibot', type: 'UndoDone', index, says: 'it had not begun' }
  try {
    const { says, left } = await undoStep(plan, line.done, ctx)
    const more = left.length > 0 ? { left } : {}
    return { at: deps.clock.now(), by: 'cnibot', type: 'UndoDone', index, says, ...more }
  } catch (error) {
    if (ctx.signal.aborted) throw error
    return { at: deps.clock.now(), by: 'cnibot', type: 'UndoFailed', index, error: errorOf(error) }
  }
}
