import { setTimeout as pause } from 'node:timers/promises'
import { foldIncident, type IncidentEvent, incidentStream, runStream } from '../core/incident/incident.js'
import { inCharge, lastFence, nextFence } from '../core/runbook/fence.js'
import { foldRun, nextOfRun, type RunEvent, type RunState, settledLength } from '../core/runbook/run.js'
import { type Job, Refused } from '../ports.js'
import { Overtaken } from './fenced.js'
import { openHistory } from './open-history.js'
import { readAfterFailure } from './read-after-failure.js'
import { record } from './record.js'
import { settle } from './settle-run.js'
import { act, contextOf, plan, type RunStepDeps, undo } from './step-events.js'
import { untilAnswered } from './until-answered.js'

/** A run as it was read when this job began. */
interface Read {
  state: RunState
  events: RunEvent[]
  length: number
}

const same = (a: RunEvent | undefined, b: RunEvent): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Appends at this very place, however long the store is away; true also where only the answer to the first try was lost. */
const keep = (deps: RunStepDeps, run: string, length: number, event: RunEvent): Promise<boolean> => {
  const stream = runStream(run)
  return untilAnswered(deps, `append ${event.type} to ${stream}`, async () => {
    if (await deps.history.append<RunEvent>(stream, length, [event])) return true
    return same((await deps.history.read<RunEvent>(stream)).events[length], event)
  })
}

/** The end of what was begun, as long as nobody has begun it anew meanwhile: then this result is dropped. */
const keepEnd = (
  deps: RunStepDeps,
  run: string,
  fence: number,
  event: RunEvent,
): Promise<number | undefined> => {
  const stream = runStream(run)
  return untilAnswered(deps, `append ${event.type} to ${stream}`, async () => {
    const { events } = await record<RunEvent>(deps.history, stream, now =>
      inCharge(now, fence) ? [event] : [],
    )
    const at = events.findLastIndex(each => same(each, event))
    return at < 0 ? undefined : at + 1
  })
}

const stillInCharge =
  (deps: RunStepDeps, run: string, fence: number, signal: AbortSignal) => async (): Promise<void> => {
    const read = () => deps.history.read<RunEvent>(runStream(run))
    const { events } = await untilAnswered(deps, 'see who is in charge', read, signal)
    if (!inCharge(events, fence))
      throw new Overtaken('another worker has begun this meanwhile; nothing was done here')
  }

const notStopped = (deps: RunStepDeps, node: string, signal: AbortSignal) => async (): Promise<void> => {
  const why = await untilAnswered(
    deps,
    'see whether changes are paused',
    async () => deps.stopped?.(node),
    signal,
  )
  if (why !== undefined) throw new Refused(why)
}

/**
 * Writes that a step begins, then does it, then writes how it went. Whoever began later has the higher number: what an
 * earlier one still sends is refused, and what it still has to say is dropped.
 */
const perform = async (
  deps: RunStepDeps,
  { state, events, length }: Read,
  what: { do: 'act' | 'undo'; index: number },
  signal: AbortSignal,
): Promise<number | undefined> => {
  const { run, node } = state
  const { index } = what
  const instead = what.do === 'act' ? await deps.mayAct?.(state, index) : undefined
  if (instead) return (await keep(deps, run, length, instead)) ? length + 1 : undefined
  const at = deps.clock.now()
  const fence = nextFence(events, at)
  const type = what.do === 'act' ? 'StepStarted' : 'UndoStarted'
  const started: RunEvent = { at, by: 'cnibot', type, index, fence }
  if (!(await deps.history.append<RunEvent>(runStream(run), length, [started]))) return undefined
  await enqueueSoon(deps, { kind: 'publish', node, length: length + 1 })
  const inCharge = stillInCharge(deps, run, fence, signal)
  const order = {
    fence,
    inCharge,
    ...(what.do === 'act' ? { mayGoOn: notStopped(deps, state.node, signal) } : {}),
  }
  const ctx = contextOf(deps, state, index, signal, order)
  const ended = await keepEnd(deps, run, fence, await (what.do === 'act' ? act : undo)(deps, state, ctx))
  if (ended === undefined)
    deps.log.warn({ run, node, fence }, 'overtaken by another worker; this end is dropped')
  return ended
}

/** What a person sees a little later is no reason to stop: `resume` asks for it again. */
const enqueueSoon = async (deps: RunStepDeps, job: Job): Promise<void> => {
  await deps.jobs.enqueue(job).catch((error: unknown) => {
    deps.log.warn({ job: job.kind }, error instanceof Error ? error.message : String(error))
  })
}

const oneStep = async (deps: RunStepDeps, read: Read, signal: AbortSignal): Promise<number | undefined> => {
  const { state, length } = read
  const next = nextOfRun(state)
  const write = async (event: RunEvent): Promise<number | undefined> =>
    (await keep(deps, state.run, length, event)) ? length + 1 : undefined
  switch (next.do) {
    case 'wait':
      return undefined
    case 'plan':
      return write(await plan(deps, state, contextOf(deps, state, next.index, signal)))
    case 'act':
    case 'undo':
      return perform(deps, read, next, signal)
    case 'end':
      return write({ at: deps.clock.now(), by: 'cnibot', type: 'RunEnded', outcome: next.outcome })
  }
}

/** Longer than a worker that lived through an outage of the store needs to come back to it. Real time. */
const takeOverAfterMs = 3_000

/**
 * Whether what stands in the history as begun was left by a worker that is gone. One that only could not reach the store has
 * its result in hand, and is given a moment to write it down before the same is begun anew.
 */
const leftBehind = async (
  deps: RunStepDeps,
  run: string,
  events: RunEvent[],
  signal: AbortSignal,
): Promise<boolean> => {
  if (!inCharge(events, lastFence(events))) return true
  await pause(deps.settings.takeOverAfterMs ?? takeOverAfterMs, undefined, { signal })
  return (await deps.history.read<RunEvent>(runStream(run))).length === events.length
}

/** One thing of one run: plan, act, undo or end; then the next is enqueued. A job that comes late finds that it is late. */
export const runStep =
  (deps: RunStepDeps) =>
  async (job: { run: string; node: string; length: number }, signal: AbortSignal): Promise<void> => {
    const { run, node } = job
    const { events, length } = await deps.history.read<RunEvent>(runStream(run))
    const state = foldRun(events)
    if (!state) {
      const { events: of } = await deps.history.read<IncidentEvent>(incidentStream(node))
      const incident = foldIncident(node, of, deps.settings.incidentWindowMs)
      if (incident?.status !== 'repairing' || incident.runs.at(-1)?.run !== run) return
      await openHistory(deps, run, incident, of)
      await deps.jobs.enqueue({ kind: 'step', run, node, length: 1 })
      return
    }
    if (settledLength(events) !== job.length) return
    if (state.status === 'ended') return settle(deps, state)
    if (!(await leftBehind(deps, run, events, signal))) return
    const grown = await oneStep(deps, { state, events, length }, signal)
    if (grown === undefined) return
    deps.log.info({ run, node, status: state.status, position: state.position }, 'run moved on')
    await untilAnswered(deps, `enqueue what follows in ${run}`, async () => {
      await readAfterFailure(deps, { run, node })
      await deps.jobs.enqueue({ kind: 'step', run, node, length: grown })
      await deps.jobs.enqueue({ kind: 'publish', node, length: grown })
    })
  }
