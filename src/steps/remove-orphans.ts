import { isKnown, type Bundle } from '../core/evidence/bundle.js'
import { encodeRemovalList } from '../core/evidence/parse/removal-report.js'
import { planRemoval, quarantineRoot, type RemovalList, stillApproved } from '../core/ipam/removal.js'
import type { Done, Plan } from '../core/runbook/plan.js'
import { Refused } from '../ports.js'
import { nodeNow } from './cordon.js'
import { refuseStrangers, refuseTruly } from './earlier-tries.js'
import { putBack } from './put-back.js'
import { earlierMoves, runScript } from './removal-script.js'
import { begunBefore, type Step, type StepContext, waitUntil } from './step.js'

interface ForRun {
  run: Pick<StepContext['run'], 'run' | 'openedAt' | 'bootId'>
  index: number
}

/**
 * Names the files' folder below the quarantine: the same for every try of one step, so that tries add up. A run's name comes
 * again once its history was lost; the time of its opening does not.
 */
export const opOf = ({
  run,
  index,
}: {
  run: Pick<ForRun['run'], 'run' | 'openedAt'>
  index: number
}): string => `${run.run}-${run.openedAt.toString(36)}-${index}`

/** In the order and form that the sudo rules on the node allow, and no other. */
export const commandArgs = (
  ctx: ForRun,
  bundle: Bundle,
  where: { dir: string; network: string; lockInode: number },
): string[] => [
  'remove',
  '--network-dir',
  where.dir,
  '--lock-inode',
  String(where.lockInode),
  '--quarantine',
  `${quarantineRoot}/${opOf(ctx)}/${where.network}`,
  '--op',
  opOf(ctx),
  '--endpoint',
  isKnown(bundle.runtime) ? bundle.runtime.value.endpoint : '',
  '--boot-id',
  ctx.run.bootId,
  // Rule 1: more than a fifth of the sandboxes gone since the plan means that the list cannot be trusted.
  '--min-sandboxes',
  String(isKnown(bundle.sandboxes) ? Math.ceil(bundle.sandboxes.value.length * 0.8) : 1),
  ...(isKnown(bundle.records) ? [] : ['--without-records']),
]

const factsOf = (bundle: Bundle, { remove, keep, cordonedBy }: RemovalList): string[] => {
  const reasons = new Map<string, number>()
  for (const { why } of keep) reasons.set(why, (reasons.get(why) ?? 0) + 1)
  return [
    `Removes ${remove.length} addresses whose sandboxes are gone: ${remove
      .slice(0, 3)
      .map(e => e.ip)
      .join(', ')}${remove.length > 3 ? ', …' : ''}.`,
    `Keeps ${keep.length}: ${[...reasons].map(([why, n]) => `${n} ${why}`).join('; ') || 'there are no others'}.`,
    // Rule 8: by whom the node was cordoned is on record with the plan.
    `The node is cordoned${cordonedBy ? ` by ${cordonedBy}` : ', not by this program'}.`,
    `Moves the files to ${quarantineRoot} first, under the plugin's own lock. Undo puts back what is still free.`,
    'Acting reads the node again and removes only what is still orphaned then: fewer is possible, more is not.',
    ...(isKnown(bundle.records)
      ? []
      : [
          `The runtime's own records could not be read (${bundle.records.reason}): only what two readings at least 15 min apart agree on is removed.`,
        ]),
  ]
}

const makePlan = async (ctx: StepContext, olderThanMs: number): Promise<Plan<'remove-orphans'>> => {
  const { bundle, id } = await ctx.measure(ctx.run.node, 'full')
  const facts = await nodeNow(ctx)
  if (facts.bootId !== ctx.run.bootId)
    throw new Refused(`${ctx.run.node} was rebooted since this run was opened: end it and open a new one`)
  const plan = planRemoval({
    earlier: undefined,
    bundle,
    settings: { olderThanMs },
    cordoned: facts.unschedulable,
  })
  if ('refused' in plan)
    throw new Refused(`no address may be removed on ${ctx.run.node}: ${plan.refused.join('; ')}`)
  const command = { script: 'remove-orphans' as const, args: commandArgs(ctx, bundle, plan) }
  return {
    kind: 'remove-orphans',
    title: `Remove ${plan.remove.length} addresses on ${ctx.run.node}`,
    facts: factsOf(bundle, plan),
    lists: [
      {
        title: 'Addresses to remove',
        rows: plan.remove.map(e => `${e.ip} owner ${e.owner || '(empty file)'}: ${e.why}`),
      },
      {
        title: 'Addresses kept',
        rows: plan.keep.map(e => `${e.ip} owner ${e.owner || '(empty file)'}: ${e.why}`),
      },
    ],
    commands: plan.remove.length > 0 ? [ctx.shell.shown(command)] : [],
    nothingToDo: plan.remove.length === 0,
    data: {
      network: plan.network,
      dir: plan.dir,
      lockInode: plan.lockInode,
      entries: plan.remove,
      olderThanMs,
      bundleId: id,
      actFrom: plan.secondReadingFrom,
      command,
    },
    readAt: bundle.collectedAt,
  }
}

/** What is both approved and still orphaned now; the rest is named with its reason. */
const stillOrphaned = async (plan: Plan<'remove-orphans'>, ctx: StepContext) => {
  const earlier = await ctx.bundle(plan.data.bundleId)
  if (!earlier) throw new Refused('the reading this plan was made from is no longer kept; plan it again')
  if (plan.data.actFrom !== undefined) await waitUntil(ctx, plan.data.actFrom)
  const { bundle } = await ctx.measure(ctx.run.node, 'count')
  const facts = await nodeNow(ctx)
  const fresh = planRemoval({
    earlier,
    bundle,
    settings: { olderThanMs: plan.data.olderThanMs },
    cordoned: facts.unschedulable,
  })
  if ('refused' in fresh)
    throw new Refused(`${ctx.run.node} has changed since the plan: ${fresh.refused.join('; ')}`)
  return stillApproved(fresh, plan.data.entries)
}

const nothing = (plan: Plan<'remove-orphans'>): Done<'remove-orphans'> => ({
  kind: 'remove-orphans',
  changed: false,
  says: 'no address to give back',
  detail: [],
  commands: [],
  data: {
    moved: [],
    skipped: [],
    network: plan.data.network,
    dir: plan.data.dir,
    quarantine: '',
    underLockMs: 0,
    command: plan.data.command,
  },
})

export const removeOrphans: Step<'remove-orphans'> = {
  plan: (spec, ctx) => makePlan(ctx, spec.older_than),
  act: async (plan, ctx) => {
    if (plan.nothingToDo && !begunBefore(ctx)) return nothing(plan)
    const still = plan.nothingToDo
      ? { remove: [], dropped: [] }
      : await stillOrphaned(plan, ctx).catch((error: unknown) => refuseTruly(plan, ctx, error))
    const { remove, dropped } = still
    // Even an empty list is sent: after a crash the node tells what an earlier try has moved already.
    const stdin = encodeRemovalList(remove, begunBefore(ctx) ? 'further' : 'first')
    const command = { ...plan.data.command, stdin }
    const { result, report } = await runScript(ctx, command).catch((error: unknown) =>
      refuseTruly(plan, ctx, error),
    )
    refuseStrangers(report, remove, plan, ctx)
    const moved = earlierMoves(report)
    const gone = new Set(moved)
    const skipped = [...dropped.filter(d => !gone.has(d.ip)), ...report.skipped]
    return {
      kind: 'remove-orphans',
      changed: moved.length > 0,
      says: `${moved.length} moved, ${skipped.length} skipped, ${(report.underLockMs / 1000).toFixed(2)} s under the lock`,
      detail: skipped.map(s => `${s.ip} skipped: ${s.why}`),
      commands: [result.shown],
      data: {
        moved,
        skipped,
        network: plan.data.network,
        dir: plan.data.dir,
        quarantine: report.quarantine,
        underLockMs: report.underLockMs,
        command: plan.data.command,
      },
    }
  },
  undo: putBack,
}
