import type { Done, Plan, Undone } from '../core/runbook/plan.js'
import type { StepKind, StepSpec } from '../core/runbook/schema.js'
import { confirm } from './confirm.js'
import { cordon } from './cordon.js'
import { drain } from './drain.js'
import { expect } from './expect.js'
import { removeOrphans } from './remove-orphans.js'
import type { Step, StepContext } from './step.js'
import { testPod } from './test-pod.js'
import { uncordon } from './uncordon.js'
import { triedAgain } from './undo-tries.js'

type Steps = { [K in StepKind]: Step<K> }

const steps: Steps = {
  confirm,
  expect,
  cordon,
  uncordon,
  drain,
  'remove-orphans': removeOrphans,
  'test-pod': testPod,
}

export const planStep = <K extends StepKind>(
  spec: StepSpec & { kind: K },
  ctx: StepContext,
): Promise<Plan<K>> => steps[spec.kind as K].plan(spec, ctx)

export const actStep = <K extends StepKind>(plan: Plan<K>, ctx: StepContext): Promise<Done<K>> =>
  steps[plan.kind].act(plan, ctx)

/** What was reversed and what could not be, tried more than once, or why this kind of step cannot be. */
export const undoStep = async <K extends StepKind>(
  plan: Plan<K>,
  done: Done<K> | undefined,
  ctx: StepContext,
): Promise<Undone> => {
  const { undo } = steps[plan.kind]
  if (typeof undo !== 'function') return { says: `nothing to undo: ${undo.impossible}`, left: [] }
  const undone = await triedAgain(ctx, () => undo(plan, done, ctx))
  return typeof undone === 'string' ? { says: undone, left: [] } : undone
}
