import type { RemovalReport } from '../core/evidence/parse/removal-report.js'
import type { RemovalEntry } from '../core/ipam/removal.js'
import type { Plan } from '../core/runbook/plan.js'
import { Failed, Refused } from '../ports.js'
import { earlierMoves, runScript } from './removal-script.js'
import { begunBefore, type StepContext } from './step.js'

/** An empty list moves nothing: the node answers with what earlier tries of this step have moved. */
const movedEarlier = async (
  plan: Plan<'remove-orphans'>,
  ctx: StepContext,
): Promise<string[] | undefined> => {
  try {
    const { report } = await runScript(ctx, { ...plan.data.command, stdin: '' })
    return earlierMoves(report)
  } catch {
    return undefined
  }
}

/** A refusal is "nothing was done" only where no earlier try did something. */
export const refuseTruly = async (
  plan: Plan<'remove-orphans'>,
  ctx: StepContext,
  error: unknown,
): Promise<never> => {
  if (!(error instanceof Refused) || !begunBefore(ctx)) throw error
  const moved = await movedEarlier(plan, ctx)
  if (moved?.length === 0) throw error
  const earlier = moved
    ? `an earlier try had moved ${moved.length} files`
    : 'whether an earlier try moved files could not be asked'
  throw new Failed(`${error.message}; ${earlier}: undo puts them back`, (moved ?? []).join('\n'))
}

const isRemoval = (plan: Plan): plan is Plan<'remove-orphans'> => plan.kind === 'remove-orphans'

/** What this plan and those of earlier tries of the step name. */
export const plannedByAnyTry = (
  plan: Plan<'remove-orphans'>,
  ctx: Pick<StepContext, 'run' | 'index'>,
): RemovalEntry[] =>
  [plan, ...(ctx.run.lines[ctx.index]?.attempts ?? []).map(attempt => attempt.plan)]
    .filter(isRemoval)
    .flatMap(({ data }) => data.entries)

/** Law of the step: more than approved, never. A node that says it did more, now or in an earlier try, is broken, or lies. */
export const refuseStrangers = (
  { moved, already }: RemovalReport,
  list: readonly RemovalEntry[],
  plan: Plan<'remove-orphans'>,
  ctx: StepContext,
): void => {
  const given = new Set(list.map(({ ip }) => ip))
  const earlier = new Set(begunBefore(ctx) ? plannedByAnyTry(plan, ctx).map(({ ip }) => ip) : [])
  const strangers = [...moved.filter(ip => !given.has(ip)), ...already.filter(ip => !earlier.has(ip))]
  refuse(strangers, 'moved that were not on the list it was given')
}

/** The same for an undo: only what this step has moved can be put back. */
export const refuseStrangersBack = ({ moved, already }: RemovalReport, taken: ReadonlySet<string>): void => {
  const strangers = [...moved, ...already].filter(ip => !taken.has(ip))
  refuse(strangers, 'put back that this step never moved')
}

const refuse = (strangers: readonly string[], what: string): void => {
  if (strangers.length === 0) return
  throw new Failed(
    `the node reports ${strangers.length} addresses as ${what} (${strangers.slice(0, 3).join(', ')}): look at the node before anything else is done there`,
    strangers.join('\n'),
  )
}
