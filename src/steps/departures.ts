import { refusalWords } from '../core/drain/budget.js'
import { type Departure, departureList, departureWords } from '../core/drain/progress.js'
import { type DrainPod, nameOf, podCount } from '../core/evictable.js'
import { shownDuration } from '../core/duration.js'
import type { EvictedPod } from '../core/runbook/run.js'
import { type Eviction, Failed, Unreachable } from '../ports.js'
import { type StepContext, workedBeforeMs } from './step.js'

/**
 * Pods on their way out at the same time. Their teardown is the very thing this node has trouble with, and each of them
 * needs a start elsewhere: kubectl sends all at once.
 */
const leavingAtMost = 8

/** A budget that refused is asked again at every third look: about as often as kubectl does, every 5 s. */
const looksBetweenTries = 3

export interface Leaving extends Departure {
  /** Real time. */
  since: number | undefined
  tryAt: number
  /** Whether its eviction was told as accepted. */
  told: boolean
}

/** `evicted`: by earlier starts, as far as that is on record. */
export const departuresOf = (
  pods: readonly Departure['pod'][],
  evicted: readonly EvictedPod[],
): Leaving[] => {
  const before = new Set(evicted.map(({ uid }) => uid))
  return pods.map(pod => ({
    pod,
    state: 'here',
    evicted: before.has(pod.uid) ? 'before' : 'no',
    says: '',
    since: undefined,
    tryAt: 0,
    told: false,
  }))
}

const isStuck = ({ state }: Departure): boolean => state === 'late' || state === 'never'

const leaves = (one: Leaving, beforeMs = 0): void => {
  one.state = 'leaving'
  one.since = performance.now() - beforeMs
  one.says = ''
}

/**
 * A Pod counts as gone when its uid is: a replacement of the same name is another Pod. One that an earlier worker has evicted
 * is on its way since then, as far as the two clocks agree.
 */
export const see = (ctx: StepContext, all: Leaving[], pods: readonly DrainPod[]): void => {
  const workedMs = workedBeforeMs(ctx)
  const byUid = new Map(pods.map(pod => [pod.uid, pod]))
  for (const one of all) {
    const pod = byUid.get(one.pod.uid)
    if (pod === undefined) one.state = 'gone'
    else if (one.state === 'here' && pod.deletedAt !== undefined)
      leaves(one, Math.min(workedMs, Math.max(0, ctx.clock.now() - pod.deletedAt)))
  }
}

const waitWords = (answer: Eviction & { outcome: 'waits' }): string => {
  switch (answer.because) {
    case 'budget':
      return refusalWords(answer.says)
    case 'busy':
      return `the API server is busy (${answer.says})`
    case 'namespace':
      return 'its namespace is being deleted, and the Pod with it'
  }
}

const apply = (one: Leaving, answer: Eviction, pauseMs: number): void => {
  switch (answer.outcome) {
    case 'accepted':
      one.evicted = 'now'
      leaves(one)
      return
    case 'gone':
      one.state = 'gone'
      return
    case 'never':
      one.state = 'never'
      one.says = answer.says
      return
    case 'waits':
      one.says = waitWords(answer)
      one.tryAt = performance.now() + Math.max(pauseMs, answer.retryAfterMs ?? 0)
  }
}

const evictOne = async (ctx: StepContext, one: Leaving, pauseMs: number): Promise<void> => {
  try {
    apply(one, await ctx.cluster.evict(one.pod), pauseMs)
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    // It may have been accepted all the same: the next look tells.
    one.says = error.message
    one.tryAt = performance.now() + pauseMs
  }
}

/** Those whose eviction was accepted since this was asked last. */
const acceptedSince = (all: readonly Leaving[]): EvictedPod[] => {
  const news = all.filter(({ evicted, told }) => evicted === 'now' && !told)
  for (const one of news) one.told = true
  return news.map(({ pod }) => ({ pod: nameOf(pod), uid: pod.uid }))
}

/**
 * Evicts the next few, and tells at once which were accepted, whatever became of the others. Nothing more once one Pod is
 * stuck: the rest are better off where they still run.
 */
const evictSome = async (ctx: StepContext, all: Leaving[]): Promise<void> => {
  if (all.some(isStuck)) return
  const now = performance.now()
  const free = leavingAtMost - all.filter(({ state }) => state === 'leaving').length
  const next = all.filter(({ state, tryAt }) => state === 'here' && tryAt <= now).slice(0, Math.max(0, free))
  const pauseMs = looksBetweenTries * ctx.settings.lookEveryMs
  const tried = await Promise.allSettled(next.map(one => evictOne(ctx, one, pauseMs)))
  const accepted = acceptedSince(all)
  if (accepted.length > 0) await ctx.progress(departureWords(all), accepted)
  const failed = tried.find(each => each.status === 'rejected')
  if (failed) throw failed.reason
}

const teardown = /FailedKillPod|KillPodSandboxError/

/** What keeps a Pod from ending: above all a DEL that fails, which is what this node may be here for. */
const whyLate = async (ctx: StepContext, { pod }: Leaving, seen: DrainPod | undefined): Promise<string> => {
  const events = await ctx.cluster.podEvents(pod.namespace, pod.name, pod.uid).catch((): string[] => [])
  const failure = events.findLast(event => teardown.test(event))
  if (failure !== undefined) return `its network cannot be torn down, so it does not end: ${failure}`
  if (seen !== undefined && seen.finalizers.length > 0)
    return `kept by the finalizers ${seen.finalizers.join(', ')}`
  return 'did not end; nothing says why'
}

const markLate = async (
  ctx: StepContext,
  all: Leaving[],
  pods: readonly DrainPod[],
  podDeadlineMs: number,
): Promise<void> => {
  for (const one of all) {
    const { pod, since, state } = one
    const mayTake = pod.graceMs + podDeadlineMs
    if (state !== 'leaving' || since === undefined || performance.now() - since < mayTake) continue
    const seen = pods.find(({ uid }) => uid === pod.uid)
    // Somebody else's deletion is older than what is known of it here.
    const leaving = one.evicted === 'now' ? 'evicted' : 'on its way out for at least'
    const howLong = shownDuration(performance.now() - since)
    one.says = `${await whyLate(ctx, one, seen)} (${leaving} ${howLong}${one.evicted === 'now' ? ' ago' : ''})`
    one.state = 'late'
  }
}

export type Round = { over: false } | { over: true; pods: DrainPod[] }

/** One look and what follows from it. Over when all are gone, or when one is stuck and nothing else is on its way. */
export const round = async (ctx: StepContext, all: Leaving[], podDeadlineMs: number): Promise<Round> => {
  const pods = await ctx.cluster.podsToDrain(ctx.run.node)
  see(ctx, all, pods)
  await markLate(ctx, all, pods, podDeadlineMs)
  await evictSome(ctx, all)
  await ctx.progress(departureWords(all))
  const left = all.filter(({ state }) => state === 'here' || state === 'leaving')
  const over = all.some(isStuck) ? left.every(({ state }) => state === 'here') : left.length === 0
  return over ? { over, pods } : { over: false }
}

/** The drain stopped before its end. What moved, moved: the output names what is still there. */
export const stoppedShort = (node: string, all: readonly Departure[], why: string): Failed => {
  const gone = all.filter(({ state }) => state === 'gone').length
  const left = departureList(all)
  return new Failed(
    `${gone} of ${podCount(all.length)} left ${node}, still there ${left.length}: ${why}`,
    left.join('\n'),
  )
}

export const firstStuck = (all: readonly Departure[]): string => {
  const stuck = all.find(isStuck)
  return stuck ? `${nameOf(stuck.pod)}: ${stuck.says}` : 'the deadline has passed'
}
