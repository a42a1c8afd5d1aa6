import type { Step } from './step.js'

/** Sentences a person ticks before anything changes (R-P); their tick is the record. */
export const confirm: Step<'confirm'> = {
  plan: async (spec, ctx) => ({
    kind: 'confirm',
    title: `Confirm before anything changes on ${ctx.run.node}`,
    facts: spec.sentences,
    lists: [],
    commands: [],
    nothingToDo: false,
    data: { sentences: spec.sentences },
    readAt: ctx.clock.now(),
  }),
  act: async (plan, ctx) => {
    const tickedBy = ctx.run.lines[ctx.index]?.approved?.by ?? 'nobody'
    return {
      kind: 'confirm',
      changed: false,
      says: `confirmed: ${plan.data.sentences.join('; ')}`,
      detail: [],
      commands: [],
      data: { tickedBy },
    }
  },
  undo: { impossible: 'confirming changes nothing' },
}
