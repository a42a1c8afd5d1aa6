import { theirs } from '../core/runbook/cordon-mark.js'
import { Refused } from '../ports.js'
import { lifted, markOf, nodeNow, shownPatch } from './cordon.js'
import type { Step } from './step.js'

export const uncordon: Step<'uncordon'> = {
  plan: async (_spec, ctx) => {
    const facts = await nodeNow(ctx)
    const ours = facts.cordonedBy === markOf(ctx)
    const left = facts.unschedulable && !ours
    return {
      kind: 'uncordon',
      title: left ? `Leave ${ctx.run.node} cordoned` : `Uncordon ${ctx.run.node}`,
      facts: [
        !facts.unschedulable
          ? 'The node is schedulable already.'
          : ours
            ? 'The cordon is this incident’s own; lifting it lets new Pods land there again.'
            : `The cordon is of ${theirs(facts)}, not this incident's: it stays, and they must lift it.`,
      ],
      lists: [],
      commands: facts.unschedulable && ours ? [shownPatch(ctx, lifted(ctx))] : [],
      nothingToDo: !facts.unschedulable || left,
      data: { cordonedBy: facts.cordonedBy },
      readAt: ctx.clock.now(),
    }
  },
  act: async (plan, ctx) => {
    const facts = await nodeNow(ctx)
    const none = (says: string) => ({
      kind: 'uncordon' as const,
      changed: false,
      says,
      detail: [],
      commands: [],
      data: { changed: false, previousOwner: facts.cordonedBy },
    })
    if (!facts.unschedulable) return none('schedulable')
    if (facts.cordonedBy !== markOf(ctx)) {
      if (plan.nothingToDo) return none(`left cordoned: the cordon is of ${theirs(facts)}`)
      throw new Refused(
        `somebody else has taken over the cordon of ${ctx.run.node} (${theirs(facts)}); it was not lifted`,
      )
    }
    if (plan.nothingToDo)
      throw new Refused(
        `the cordon of ${ctx.run.node} has changed hands since this was planned: plan it again`,
      )
    await ctx.cluster.setSchedulable(ctx.run.node, lifted(ctx))
    return {
      kind: 'uncordon',
      changed: true,
      says: 'schedulable again',
      detail: [],
      commands: plan.commands,
      data: { changed: true, previousOwner: facts.cordonedBy },
    }
  },
  undo: async (_plan, done, ctx) => {
    const facts = await nodeNow(ctx)
    if (facts.unschedulable) return 'already cordoned'
    await ctx.cluster.setSchedulable(ctx.run.node, {
      unschedulable: true,
      cordonedBy: done?.data.previousOwner ?? markOf(ctx),
      expectUid: ctx.run.nodeUid,
    })
    return 'cordoned again'
  },
}
