import { cordonMark, fieldManager, theirs } from '../core/runbook/cordon-mark.js'
import { type SchedulableChange, schedulablePatch, shownRequest } from '../core/requests.js'
import type { NodeFacts } from '../core/evidence/bundle.js'
import { Refused } from '../ports.js'
import type { Step, StepContext } from './step.js'

/** Who is written into the node's annotation, so that only our own cordon is lifted (B7). */
export const markOf = ({ run }: Pick<StepContext, 'run'>): string => cordonMark(run)

export const nodeNow = async (ctx: StepContext) => {
  const facts = await ctx.cluster.node(ctx.run.node)
  if (!facts) throw new Refused(`${ctx.run.node} is no longer in the cluster`)
  if (facts.uid !== ctx.run.nodeUid)
    throw new Refused(`${ctx.run.node} is another node than at the start of this run (same name, other uid)`)
  return facts
}

const change = (ctx: StepContext) => ({
  unschedulable: true,
  cordonedBy: markOf(ctx),
  expectUid: ctx.run.nodeUid,
})

/** Only this incident's own cordon is lifted; the server is asked again for whose it is right before. */
export const lifted = (ctx: StepContext) => ({
  unschedulable: false,
  cordonedBy: undefined,
  lifts: markOf(ctx),
  expectUid: ctx.run.nodeUid,
})

/** The request as it is sent; the adapter only adds the resourceVersion it has just read, as a guard. */
export const shownPatch = (ctx: StepContext, patch: SchedulableChange): string =>
  shownRequest('PATCH', `/api/v1/nodes/${ctx.run.node}?fieldManager=${fieldManager}`, schedulablePatch(patch))

const others = (facts: NodeFacts, mark: string): string =>
  !facts.unschedulable
    ? 'The node is schedulable now.'
    : facts.cordonedBy === mark
      ? 'This incident has cordoned it already.'
      : `It is cordoned already, by ${theirs(facts)}; that cordon stays theirs and will not be lifted here.`

/** An earlier try of this run found the node schedulable and may have cordoned it before its answer was lost. */
const begunByThisRun = ({ run, index }: StepContext): boolean =>
  (run.lines[index]?.attempts ?? []).some(
    ({ startedAt, plan }) =>
      startedAt !== undefined && 'wasUnschedulable' in plan.data && !plan.data.wasUnschedulable,
  )

export const cordon: Step<'cordon'> = {
  plan: async (_spec, ctx) => {
    const facts = await nodeNow(ctx)
    const mark = markOf(ctx)
    return {
      kind: 'cordon',
      title: `Cordon ${ctx.run.node}`,
      facts: [
        others(facts, mark),
        'No new Pod will be scheduled there. Running Pods are not touched; DaemonSet Pods still land there.',
      ],
      lists: [],
      commands: facts.unschedulable ? [] : [shownPatch(ctx, change(ctx))],
      nothingToDo: facts.unschedulable,
      data: {
        wasUnschedulable: facts.unschedulable,
        wasCordonedBy: facts.unschedulable ? theirs(facts) : undefined,
      },
      readAt: ctx.clock.now(),
    }
  },
  act: async (plan, ctx) => {
    const facts = await nodeNow(ctx)
    const mark = markOf(ctx)
    if (!facts.unschedulable && plan.nothingToDo)
      throw new Refused(`${ctx.run.node} was cordoned when this was planned and is not now: plan it again`)
    if (facts.unschedulable)
      return {
        kind: 'cordon',
        changed: facts.cordonedBy === mark && (!plan.data.wasUnschedulable || begunByThisRun(ctx)),
        says: facts.cordonedBy === mark ? 'cordoned by this incident' : others(facts, mark),
        detail: [],
        commands: [],
        data: { changed: facts.cordonedBy === mark, wasUnschedulable: plan.data.wasUnschedulable },
      }
    await ctx.cluster.setSchedulable(ctx.run.node, change(ctx))
    return {
      kind: 'cordon',
      changed: true,
      says: 'cordoned (was schedulable)',
      detail: [],
      commands: plan.commands,
      data: { changed: true, wasUnschedulable: false },
    }
  },
  undo: async (_plan, _done, ctx) => {
    const facts = await nodeNow(ctx)
    if (!facts.unschedulable) return 'already schedulable'
    if (facts.cordonedBy !== markOf(ctx)) {
      const whose = `the cordon is of ${theirs(facts)}, not this incident's`
      return { says: `left cordoned: ${whose}`, left: [`${ctx.run.node} stays cordoned: ${whose}`] }
    }
    await ctx.cluster.setSchedulable(ctx.run.node, lifted(ctx))
    return 'schedulable again, as it was before'
  },
}
