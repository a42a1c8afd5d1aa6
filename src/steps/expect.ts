import { evaluate, type CheckResult } from '../core/check.js'
import { shownDuration } from '../core/duration.js'
import { Failed } from '../ports.js'
import { lookUntil, type Step, type StepContext } from './step.js'

const atOnce = 4

/** Asks the nodes a few at a time; a node that cannot be asked stays "not known", never "fine". */
const measureAll = async (
  ctx: StepContext,
  nodes: string[],
  one: (node: string) => Promise<CheckResult>,
): Promise<CheckResult[]> => {
  const results: CheckResult[] = []
  for (let from = 0; from < nodes.length; from += atOnce) {
    if (ctx.signal.aborted) throw new Error('stopped')
    results.push(...(await Promise.all(nodes.slice(from, from + atOnce).map(one))))
  }
  return results
}

const together = (results: CheckResult[], nodes: string[]): CheckResult => {
  const bad = results.filter(r => r.holds === false)
  const silent = results.filter(r => r.holds === undefined)
  const holds = bad.length > 0 ? false : silent.length > 0 ? undefined : true
  const says =
    holds === true
      ? `${nodes.length} of ${nodes.length} nodes: every address has its sandbox`
      : [...bad, ...silent]
          .map(r => r.says)
          .slice(0, 5)
          .join('; ')
  return { holds, says, detail: results.flatMap(r => [r.says, ...r.detail]) }
}

/** Reads back to the start of the run at most: older failures do not count against the repair. */
const since = (ctx: StepContext, withinMs: number | undefined): number =>
  Math.max(ctx.run.openedAt, withinMs === undefined ? 0 : ctx.clock.now() - withinMs)

export const expect: Step<'expect'> = {
  plan: async (spec, ctx) => ({
    kind: 'expect',
    title: `Check: ${spec.check}${spec.on === 'every-node' ? ' on every node' : ''}`,
    facts:
      spec.within === undefined ? [] : [`Looks back ${shownDuration(spec.within)}, but not before this run.`],
    lists: [],
    commands: [],
    nothingToDo: false,
    data: { check: spec.check, on: spec.on, withinMs: spec.within },
    readAt: ctx.clock.now(),
  }),
  act: async (plan, ctx) => {
    const { check, on, withinMs } = plan.data
    const one = async (node: string): Promise<CheckResult> => {
      const { bundle } = await ctx.measure(node, check === 'no-new-del-failures' ? 'full' : 'light')
      return evaluate(check, { bundle, since: since(ctx, withinMs) })
    }
    let last: CheckResult = { holds: undefined, says: 'not asked yet', detail: [] }
    const held = await lookUntil(ctx, async () => {
      const nodes =
        on === 'every-node' ? (await ctx.cluster.nodes()).map(n => n.name).toSorted() : [ctx.run.node]
      const results = await measureAll(ctx, nodes, one)
      last = on === 'every-node' ? together(results, nodes) : (results[0] ?? last)
      return last.holds === true ? last : undefined
    })
    if (!held) throw new Failed(`${check} does not hold: ${last.says}`, last.detail.join('\n'))
    return {
      kind: 'expect',
      changed: false,
      says: held.says,
      detail: held.detail,
      commands: [],
      data: { holds: true },
    }
  },
  undo: { impossible: 'looking changes nothing' },
}
