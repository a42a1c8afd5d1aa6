import { departureWords } from '../core/drain/progress.js'
import { type DrainPod, nameOf, podCount, staysOnNode, staysWord } from '../core/evictable.js'
import { shownDuration } from '../core/duration.js'
import type { Done, Plan } from '../core/runbook/plan.js'
import { Failed, Refused, Unreachable } from '../ports.js'
import { departuresOf, firstStuck, type Leaving, round, see, stoppedShort } from './departures.js'
import { nodeNow } from './cordon.js'
import { barredNow, onOtherGround, planDrain, readyToDrain } from './drain-plan.js'
import { begunBefore, lookUntil, type Step, type StepContext, workedBeforeMs } from './step.js'

/** Pods that nobody approved: they came after the plan, and are named, not evicted. */
const refuseNewcomers = (plan: Plan<'drain'>, ctx: StepContext, pods: readonly DrainPod[]): void => {
  const approved = new Set(plan.data.pods.map(({ uid }) => uid))
  const came = pods.filter(pod => !approved.has(pod.uid) && !staysOnNode(pod)).map(nameOf)
  if (came.length === 0) return
  throw new Failed(
    `what was approved is gone, but since the plan ${podCount(came.length)} came to ${ctx.run.node}: ${came.slice(0, 5).join(', ')}. Not touched; Retry makes a plan with them`,
    came.join('\n'),
  )
}

/** "Nothing was done" would be untrue once a Pod was evicted, in this try or in an earlier one. */
const truly = (error: unknown, all: readonly Leaving[], ctx: StepContext): unknown => {
  const earlier = begunBefore(ctx)
  const begun = all.some(
    ({ evicted, state }) => evicted !== 'no' || state === 'gone' || (earlier && state === 'leaving'),
  )
  return (error instanceof Refused || error instanceof Failed) && begun
    ? stoppedShort(ctx.run.node, all, error.message)
    : error
}

/** What keeps a later start from going on is no refusal once an earlier one has evicted: it says what has left. */
const toldTruly = async (error: unknown, all: Leaving[], ctx: StepContext): Promise<unknown> => {
  if (!(error instanceof Refused) || !begunBefore(ctx)) return error
  const pods = await ctx.cluster.podsToDrain(ctx.run.node).catch(() => undefined)
  if (pods) see(ctx, all, pods)
  return truly(error, all, ctx)
}

type Ended = { pods: DrainPod[] } | { barred: string }

const lookOnce = async (
  plan: Plan<'drain'>,
  ctx: StepContext,
  all: Leaving[],
): Promise<Ended | undefined> => {
  try {
    // A cordon that somebody lifted meanwhile sends the replacements back here.
    const barred = barredNow(await nodeNow(ctx), ctx)
    if (barred !== undefined) return { barred }
    const seen = await round(ctx, all, plan.data.podDeadlineMs)
    return seen.over ? { pods: seen.pods } : undefined
  } catch (error) {
    if (!(error instanceof Unreachable)) throw truly(error, all, ctx)
    await ctx.progress(`${departureWords(all)}; ${error.message}`)
    return undefined
  }
}

const drainAll = async (plan: Plan<'drain'>, ctx: StepContext, all: Leaving[]): Promise<DrainPod[]> => {
  const { deadlineMs } = plan.data
  const left = Math.max(0, deadlineMs - workedBeforeMs(ctx))
  const patient = { ...ctx, settings: { ...ctx.settings, deadlineMs: left } }
  const ended = await lookUntil(patient, () => lookOnce(plan, ctx, all))
  if (ended && 'barred' in ended) throw stoppedShort(ctx.run.node, all, ended.barred)
  if (ended && all.every(({ state }) => state === 'gone')) return ended.pods
  const why = ended ? firstStuck(all) : `not all within ${shownDuration(deadlineMs)}; ${departureWords(all)}`
  throw stoppedShort(ctx.run.node, all, why)
}

const takenOver = 'before this worker took over'
const notByUs = 'gone or going when it was looked at'

/** Whom somebody else deleted, or an eviction that nobody lived to write down, cannot be told apart: neither is claimed. */
const doneOf = (all: readonly Leaving[], pods: readonly DrainPod[], plan: Plan<'drain'>): Done<'drain'> => {
  const names = (how: Leaving['evicted']): string[] =>
    all.filter(({ evicted }) => evicted === how).map(({ pod }) => nameOf(pod))
  const [before, now, gone] = [names('before'), names('now'), names('no')]
  const stay = pods.filter(staysOnNode).length
  const earlier = before.length > 0 ? ` (${before.length} of them ${takenOver})` : ''
  const others = gone.length > 0 ? `, ${gone.length} ${notByUs}` : ''
  return {
    kind: 'drain',
    changed: all.length > 0,
    says: `${podCount(before.length + now.length)} evicted${earlier}${others}; ${stay} of DaemonSets or the kubelet itself ${staysWord(stay)}`,
    detail: [
      ...before.map(name => `${name} evicted, ${takenOver}`),
      ...now.map(name => `${name} evicted`),
      ...gone.map(name => `${name} ${notByUs}`),
    ],
    commands: plan.commands,
    data: { evicted: [...before, ...now], gone, stay },
  }
}

/** Evicts what was approved, by uid, and waits until each of those uids is gone. Called again, it goes on. */
export const drain: Step<'drain'> = {
  plan: (spec, ctx) => planDrain(spec, ctx),
  act: async (plan, ctx) => {
    const all = departuresOf(plan.data.pods, ctx.run.lines[ctx.index]?.evicted ?? [])
    try {
      const facts = await readyToDrain(ctx)
      await onOtherGround(ctx, facts, await ctx.cluster.podsToDrain(ctx.run.node))
    } catch (error) {
      throw await toldTruly(error, all, ctx)
    }
    const pods = await drainAll(plan, ctx, all)
    refuseNewcomers(plan, ctx, pods)
    return doneOf(all, pods, plan)
  },
  undo: { impossible: 'Pods that moved run elsewhere by now and are not moved back' },
}
