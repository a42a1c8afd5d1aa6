import type { PodFacts } from '../core/evidence/bundle.js'
import type { RemovalReport } from '../core/evidence/parse/removal-report.js'
import type { Plan, Undone } from '../core/runbook/plan.js'
import { Failed, type NodeCommand, Refused, Unreachable } from '../ports.js'
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

/**
 * Puts back what was moved and is still free. What is not stays in quarantine: its address is somebody else's now, and
 * the file is only a record of the old owner. Repeated after a crash, it tells the whole of it again.
 */
export const putBack = async (plan: Plan<'remove-orphans'>, ctx: StepContext): Promise<Undone> => {
  const command = { ...plan.data.command, args: restoreArgs(plan.data.command.args) }
  const report = await restore(ctx, command)
  const back = earlierMoves(report).length
  const left = await leftBehind(ctx, report.skipped)
  const put = `${back} ${back === 1 ? 'address' : 'addresses'} put back`
  return {
    says:
      left.length === 0
        ? put
        : `${put}; ${left.length} could not be: ${left.length === 1 ? 'its file stays' : 'their files stay'} in ${quarantineOf(command.args)}`,
    left,
  }
}
