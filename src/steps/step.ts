import type { Bundle } from '../core/evidence/bundle.js'
import type { Done, Plan, Undone } from '../core/runbook/plan.js'
import type { EvictedPod, RunState } from '../core/runbook/run.js'
import type { StepKind, StepSpec } from '../core/runbook/schema.js'
import type { Clock, Cluster, NodeShell } from '../ports.js'
import type { How } from './gather.js'

export interface StepSettings {
  testPodNamespace: string
  /** Where this process runs itself: it does not drain the node under its own feet, nor under its Redis. */
  own: { podNamespace: string | undefined; podName: string | undefined; redisHost: string }
  testPodImage: string
  /** How long a test Pod may take to run, an address to come back, a check to begin to hold. Real time. */
  deadlineMs: number
  /** Pause between two looks while waiting. Real time. */
  lookEveryMs: number
}

export interface StepContext {
  run: RunState
  index: number
  cluster: Cluster
  shell: NodeShell
  clock: Clock
  settings: StepSettings
  signal: AbortSignal
  /** A fresh reading, as much of it as is asked for. The full ones are kept and have an id. */
  measure(node: string, how: How): Promise<{ bundle: Bundle; id: string }>
  bundle(id: string): Promise<Bundle | undefined>
  /**
   * How far a long step is, for the card. Cheap to call at every look: it is written down only now and then, but for
   * evictions that were accepted since the last call, which go on record at once.
   */
  progress(says: string, evicted?: readonly EvictedPod[]): Promise<void>
}

/**
 * One kind of step. `plan` only reads; what it returns is what the approver sees. `act` looks first, is safe to call
 * again after a crash, and may do less than planned, never more. Both throw Refused, Unreachable or Failed.
 */
export interface Step<K extends StepKind = StepKind> {
  plan(spec: StepSpec & { kind: K }, ctx: StepContext): Promise<Plan<K>>
  act(plan: Plan<K>, ctx: StepContext): Promise<Done<K>>
  /**
   * `done` is undefined when the step failed half way: undo finds out what it left. It is safe to call again, and
   * answers one sentence, and what could not be reversed where that can be. A kind without undo says why.
   */
  undo:
    | ((plan: Plan<K>, done: Done<K> | undefined, ctx: StepContext) => Promise<string | Undone>)
    | { impossible: string }
}

/** Whether an earlier try of this step may have done something: one that died, or failed. A refused one has not. */
export const begunBefore = ({ run, index }: Pick<StepContext, 'run' | 'index'>): boolean => {
  const line = run.lines[index]
  return (
    line !== undefined &&
    (line.status === 'acting' ||
      line.attempts.some(({ startedAt, error }) => startedAt !== undefined && error?.class !== 'refused'))
  )
}

/** For how long this plan has been at work under workers before this one: its times do not begin anew with each. */
export const workedBeforeMs = ({
  run,
  index,
  clock,
}: Pick<StepContext, 'run' | 'index' | 'clock'>): number => {
  const now = clock.now()
  return Math.max(0, now - (run.lines[index]?.begunAt ?? now))
}

/** Looks until `look` gives an answer or the deadline has passed; real time, one look at least. */
export const lookUntil = async <T>(
  ctx: Pick<StepContext, 'settings' | 'signal'>,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> => {
  const deadline = performance.now() + ctx.settings.deadlineMs
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() >= deadline) return undefined
    await pause(ctx.settings.lookEveryMs, ctx.signal)
  }
}

/** Waits until the clock says so; the clock may be moved meanwhile. */
export const waitUntil = async (
  ctx: Pick<StepContext, 'settings' | 'signal' | 'clock'>,
  time: number,
): Promise<void> => {
  while (ctx.clock.now() < time)
    await pause(Math.min(ctx.settings.lookEveryMs, time - ctx.clock.now()), ctx.signal)
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal.reason instanceof Error ? signal.reason : new Error('stopped'))
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
