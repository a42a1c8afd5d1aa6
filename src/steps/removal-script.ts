import { plain } from '../core/evidence/parse/text.js'
import { type RemovalReport, readRemovalReport } from '../core/evidence/parse/removal-report.js'
import { type CommandResult, Failed, type NodeCommand, Refused } from '../ports.js'
import { nodeNow } from './cordon.js'
import type { StepContext } from './step.js'

const limits = { timeoutMs: 60_000, maxBytes: 16 * 1024 * 1024 }

const target = async (ctx: StepContext) => {
  const facts = await nodeNow(ctx)
  return { name: facts.name, address: facts.internalIp }
}

/**
 * Exit codes from 64 to 78 are the script's own refusals, and a sudo that refuses never started it. Anything else was cut
 * off, and what it moved is not known.
 */
const ownRefusal = ({ exitCode, stdout, stderr }: CommandResult): boolean =>
  (exitCode !== undefined && exitCode >= 64 && exitCode <= 78) ||
  (exitCode === 1 && stdout === '' && stderr.startsWith('sudo: '))

/** Refused only where the node itself said that no file was touched; anything else may have moved some. */
export const runScript = async (
  ctx: StepContext,
  command: NodeCommand,
  /** What is not known when the node did not report to the end, and what to do. */
  unknown = 'files may have been moved. Retry finds out which, undo puts them back',
): Promise<{ result: CommandResult; report: RemovalReport }> => {
  const result = await ctx.shell.run(await target(ctx), command, { ...limits, signal: ctx.signal })
  const report = readRemovalReport(result.stdout)
  if (result.exitCode === 0 && report.complete) return { result, report }
  const said =
    plain(result.stderr.trim().split('\n').at(-1) ?? '') || `exit status ${result.exitCode ?? 'none'}`
  const did = command.args[0] === 'restore' ? 'put no file back' : 'moved no file'
  // Of an earlier try this says nothing.
  if (ownRefusal(result)) throw new Refused(`the node refused, and this try ${did}: ${said}`)
  throw new Failed(`the node did not report to the end (${said}); ${unknown}`, result.stderr)
}

/** For a restore: put back. */
export const earlierMoves = (before: RemovalReport): string[] => [...before.moved, ...before.already]

/** The same files, the other way. */
export const restoreArgs = (args: readonly string[]): string[] => ['restore', ...args.slice(1)]
