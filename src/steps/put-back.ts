import { isKnown, type PodFacts } from '../core/evidence/bundle.js'
import type { RemovalReport } from '../core/evidence/parse/removal-report.js'
import type { RemovalEntry } from '../core/ipam/removal.js'
import type { Done, Plan, Undone } from '../core/runbook/plan.js'
import { Failed, type NodeCommand, Refused, Unreachable } from '../ports.js'
import { plannedByAnyTry, refuseStrangersBack } from './earlier-tries.js'
import { earlierMoves, restoreArgs, runScript } from './removal-script.js'
import type { StepContext } from './step.js'

const quarantineOf = (args: readonly string[]): string => args[args.indexOf('--quarantine') + 1] ?? ''

/** How a person at the node does the same; the order's number is the one that the node has seen last. */
const byHand = (ctx: StepContext, command: NodeCommand, quarantine: string): string => {
  const fence = `${quarantine.split('/').slice(0, -2).join('/')}/fence`
  return `(printf 'fence '; sudo cat ${fence}) | ${ctx.shell.shown(command)}`
}

const restore = async (ctx: StepContext, command: NodeCommand): Promise<RemovalReport> => {
  const quarantine = quarantineOf(command.args)
  try {
    const unknown = `files that are not back yet are in ${quarantine}`
    return (await runScript(ctx, command, unknown)).report
  } catch (error) {
    if (ctx.signal.aborted) throw error
    if (!(error instanceof Failed || error instanceof Refused || error instanceof Unreachable)) throw error
    const output = 'output' in error ? error.output : ''
    throw new Failed(
      `${error.message}. The addresses it had moved may still be missing on ${ctx.run.node}`,
      [`On ${ctx.run.node}, this puts back what is left:`, byHand(ctx, command, quarantine), output]
        .filter(line => line !== '')
        .join('\n'),
    )
  }
}

/** The node's words for an address that was given out since; without an owner where that one has gone again meanwhile. */
const givenOut = /^the address has a new owner:(?: (\S+))?$/

/** Who has it now: the sandbox says the node, the Pod says the API, where it knows. */
const holderOf = (ip: string, owner: string, pods: PodFacts[] | undefined): string => {
  const pod = pods?.find(
    each => each.ips.includes(ip) && !each.hostNetwork && !['Succeeded', 'Failed'].includes(each.phase),
  )
  const sandbox = owner === '' ? 'a sandbox that has gone again' : `sandbox ${owner}`
  if (pod) return `Pod ${pod.namespace}/${pod.name} (${sandbox})`
  return pods
    ? `${sandbox}, of no Pod that the API knows by this address`
    : `${sandbox}; its Pod could not be asked`
}

const leftBehind = async (ctx: StepContext, skipped: RemovalReport['skipped']): Promise<string[]> => {
  const anyGiven = skipped.some(({ why }) => givenOut.test(why))
  const pods = anyGiven ? await ctx.cluster.podsOnNode(ctx.run.node).catch(() => undefined) : undefined
  return skipped.map(({ ip, why }) => {
    const given = givenOut.exec(why)
    return given === null
      ? `${ip}: ${why}`
      : `${ip}: given out since, to ${holderOf(ip, given[1] ?? '', pods)}`
  })
}

/** Files of these addresses that lie in the store, as the plan has them; or why that is not known. */
const inStore = async (
  ctx: StepContext,
  dir: string,
  wanted: readonly RemovalEntry[],
): Promise<Set<string> | string> => {
  try {
    const { stores } = (await ctx.measure(ctx.run.node, 'count')).bundle
    if (!isKnown(stores)) return stores.reason
    const files = stores.value.filter(store => store.dir === dir).flatMap(({ allocations }) => allocations)
    const there = new Map(files.map(({ ip, inode }) => [ip, inode]))
    return new Set(wanted.filter(({ ip, inode }) => there.get(ip) === inode).map(({ ip }) => ip))
  } catch (error) {
    if (ctx.signal.aborted || !(error instanceof Failed || error instanceof Unreachable)) throw error
    return error.message
  }
}

/**
 * What must be back and is not told of: the quarantine may be lost, and the node then tells of nothing. Where the answer
 * of the removal is not on record, the node's own list of what it moved is; where that is lost too, whatever was
 * approved is looked for, and what lies in the store was never moved, or is back.
 */
const untold = async (
  plan: Plan<'remove-orphans'>,
  moved: readonly string[] | undefined,
  report: RemovalReport,
  ctx: StepContext,
): Promise<{ back: number; lines: string[] }> => {
  const told = new Set([...earlierMoves(report), ...report.skipped.map(({ ip }) => ip)])
  const planned = plannedByAnyTry(plan, ctx)
  const expected = moved ?? (told.size === 0 ? planned.map(({ ip }) => ip) : [])
  const missing = [...new Set(expected)].filter(ip => !told.has(ip))
  if (missing.length === 0) return { back: 0, lines: [] }
  const there = await inStore(ctx, plan.data.dir, planned)
  if (typeof there === 'string') {
    const words = `the node does not tell that it is back, and the store could not be read: ${there}`
    return { back: 0, lines: missing.map(ip => `${ip}: ${words}`) }
  }
  const lost = missing.filter(ip => !there.has(ip))
  const back = moved === undefined ? 0 : missing.length - lost.length
  return { back, lines: lost.map(ip => `${ip}: its file is neither in the quarantine nor in the store`) }
}

/**
 * Puts back what was moved and is still free, and names what is not: the address is somebody else's now and the file in
 * quarantine only a record of the old owner, or the file is lost. Repeated after a crash, it tells the whole of it again.
 */
export const putBack = async (
  plan: Plan<'remove-orphans'>,
  done: Done<'remove-orphans'> | undefined,
  ctx: StepContext,
): Promise<Undone> => {
  const command = { ...plan.data.command, args: restoreArgs(plan.data.command.args) }
  const report = await restore(ctx, command)
  const moved = done?.data.moved
  refuseStrangersBack(report, new Set(moved ?? plannedByAnyTry(plan, ctx).map(({ ip }) => ip)))
  const missing = await untold(plan, moved, report, ctx)
  const back = earlierMoves(report).length + missing.back
  const left = [...(await leftBehind(ctx, report.skipped)), ...missing.lines]
  const put = `${back} ${back === 1 ? 'address' : 'addresses'} put back`
  const kept = report.skipped.filter(({ why }) => givenOut.test(why)).length
  const where = `${kept === 1 ? 'its file stays' : 'their files stay'} in ${quarantineOf(command.args)}`
  return {
    says:
      left.length === 0
        ? put
        : `${put}; ${left.length} could not be${kept === left.length ? `: ${where}` : ''}`,
    left,
  }
}
