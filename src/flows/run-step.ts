import {
  foldIncident,
  type IncidentEvent,
  type IncidentState,
  incidentStream,
  runStream,
} from '../core/incident/incident.js'
import { planDigest } from '../core/runbook/plan.js'
import {
  foldRun,
  nextOfRun,
  type Outcome,
  type RunEvent,
  type RunState,
  type StepError,
} from '../core/runbook/run.js'
import { Failed, type History, type Jobs, type Log, Refused, type Runbooks, Unreachable } from '../ports.js'
import { type GatherDeps, gather, type How } from '../steps/gather.js'
import { actStep, planStep, undoStep } from '../steps/index.js'
import type { StepContext, StepSettings } from '../steps/step.js'
import { freeNode } from './fleet.js'
import { record } from './record.js'

export interface RunStepDeps extends GatherDeps {
  history: History
  jobs: Jobs
  runbooks: Runbooks
  log: Log
  settings: GatherDeps['settings'] &
    StepSettings & { approvalTtlMs: number; bundleTtlMs: number; incidentWindowMs: number }
}

/** The only place where what a step throws becomes an event. */
const errorOf = (error: unknown): StepError => {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Refused) return { class: 'refused', message, output: '' }
  if (error instanceof Unreachable) return { class: 'unreachable', message, output: '' }
  if (error instanceof Failed) return { class: 'failed', message, output: error.output }
  return { class: 'bug', message: `unexpected: ${message}`, output: '' }
}

/** The incident decided that there is a run; the run's own history is opened here, and after a crash again here. */
const openHistory = async (deps: RunStepDeps, run: string, incident: IncidentState): Promise<void> => {
  const summary = incident.runs.find(r => r.run === run)
  const runbook = (await deps.runbooks.list()).find(r => r.name === summary?.runbook)
  const facts = await deps.cluster.node(incident.node)
  if (!summary || !runbook || !facts) {
    const why = !facts ? `${incident.node} is not in the cluster` : 'its runbook is gone'
    await endIncidentRun(deps, incident.node, run, 'abandoned', `could not begin: ${why}`, undefined)
    return
  }
  const { openedAt: at, openedBy: by } = summary
  const opened: RunEvent = {
    at,
    by,
    type: 'RunOpened',
    run,
    cluster: deps.clusterName,
    incident: incident.id,
    node: incident.node,
    nodeUid: facts.uid,
    bootId: facts.bootId,
    runbook,
  }
  await deps.history.append<RunEvent>(runStream(run), 0, [opened])
}

const contextOf = (
  deps: RunStepDeps,
  state: RunState,
  index: number,
  fence: number,
  signal: AbortSignal,
): StepContext => ({
  run: state,
  index,
  fence,
  cluster: deps.cluster,
  shell: deps.shell,
  clock: deps.clock,
  settings: deps.settings,
  signal,
  bundle: id => deps.history.bundle(id),
  measure: async (node: string, how: How) => {
    const bundle = await gather(deps, node, how, signal)
    const id = `${node}-${bundle.collectedAt}`
    if (how === 'full') await deps.history.keepBundle(id, bundle, deps.settings.bundleTtlMs)
    return { bundle, id }
  },
})

const plan = async (deps: RunStepDeps, state: RunState, ctx: StepContext): Promise<RunEvent> => {
  const { index } = ctx
  const line = state.lines[index]
  if (!line) throw new Error(`run ${state.run} has no step ${index}`)
  try {
    const made = await planStep(line.spec, ctx)
    const at = deps.clock.now()
    const digest = planDigest(made, { ...state, index })
    return {
      at,
      by: 'cnibot',
      type: 'StepPlanned',
      index,
      plan: made,
      digest,
      expiresAt: at + deps.settings.approvalTtlMs,
    }
  } catch (error) {
    if (ctx.signal.aborted) throw error
    return { at: deps.clock.now(), by: 'cnibot', type: 'StepFailed', index, error: errorOf(error) }
  }
}

const act = async (deps: RunStepDeps, state: RunState, ctx: StepContext): Promise<RunEvent> => {
  const { index } = ctx
  const line = state.lines[index]
  if (!line?.plan) throw new Error(`run ${state.run} has no plan for step ${index}`)
  try {
    const done = await actStep(line.plan, ctx)
    return { at: deps.clock.now(), by: 'cnibot', type: 'StepDone', index, done }
  } catch (error) {
    if (ctx.signal.aborted) throw error
    return { at: deps.clock.now(), by: 'cnibot', type: 'StepFailed', index, error: errorOf(error) }
  }
}

const undo = async (deps: RunStepDeps, state: RunState, ctx: StepContext): Promise<RunEvent> => {
  const { index } = ctx
  const line = state.lines[index]
  if (!line?.plan)
    return { at: deps.clock.now(), by: 'cnibot', type: 'UndoDone', index, says: 'it had not begun' }
  try {
    const says = await undoStep(line.plan, line.done, ctx)
    return { at: deps.clock.now(), by: 'cnibot', type: 'UndoDone', index, says }
  } catch (error) {
    if (ctx.signal.aborted) throw error
    return { at: deps.clock.now(), by: 'cnibot', type: 'UndoFailed', index, error: errorOf(error) }
  }
}

/** Writes that a step begins, then does it, then writes how it went. Whoever began later wins; an earlier result is dropped. */
const perform = async (
  deps: RunStepDeps,
  state: RunState,
  length: number,
  what: { do: 'act' | 'undo'; index: number },
  signal: AbortSignal,
): Promise<number | undefined> => {
  const stream = runStream(state.run)
  const type = what.do === 'act' ? 'StepStarted' : 'UndoStarted'
  const started: RunEvent = { at: deps.clock.now(), by: 'cnibot', type, index: what.index }
  if (!(await deps.history.append<RunEvent>(stream, length, [started]))) return undefined
  await deps.jobs.enqueue({ kind: 'publish', node: state.node, length: length + 1 })
  const ctx = contextOf(deps, state, what.index, length + 1, signal)
  const event = await (what.do === 'act' ? act : undo)(deps, state, ctx)
  return (await deps.history.append<RunEvent>(stream, length + 1, [event])) ? length + 2 : undefined
}

const sayOutcome = (state: RunState, outcome: Outcome): string => {
  const removed = state.lines.flatMap(l =>
    l.done?.kind === 'remove-orphans' && l.status === 'done' ? [l.done.says] : [],
  )
  const failed = state.lines.findLast(l => l.error)?.error?.message
  const left = state.lines
    .filter(l => l.status === 'undo-failed')
    .map(l => `${l.spec.kind}: ${l.error?.message ?? 'failed'}`)
  switch (outcome) {
    case 'completed':
      return removed.join('; ') || `${state.runbook.name} done`
    case 'stuck':
      return `undo did not work: ${left.join('; ')}`
    case 'held':
    case 'undone':
    case 'abandoned':
      return failed ? `${outcome} after: ${failed}` : outcome
  }
}

const endIncidentRun = async (
  deps: RunStepDeps,
  node: string,
  run: string,
  outcome: Outcome,
  says: string,
  recountAt: number | undefined,
): Promise<void> => {
  const at = deps.clock.now()
  const written = await record<IncidentEvent>(deps.history, incidentStream(node), events => {
    const incident = foldIncident(node, events, deps.settings.incidentWindowMs)
    const open = incident?.status === 'repairing' && incident.runs.at(-1)?.run === run
    return open ? [{ at, by: 'cnibot', type: 'RunEnded', run, outcome, says, recountAt }] : []
  })
  await freeNode(deps, node, run)
  if (recountAt !== undefined)
    await deps.jobs.enqueue({ kind: 'recount', node, length: written.length, dueAt: recountAt })
  await deps.jobs.enqueue({ kind: 'publish', node, length: written.length })
}

/** The run is over: the incident hears of it. Repeated after a crash, it changes nothing. */
const settle = (deps: RunStepDeps, state: RunState): Promise<void> => {
  const { watch } = state.runbook
  const outcome = state.outcome ?? 'abandoned'
  const at = state.endedAt ?? deps.clock.now()
  const recountAt = outcome === 'completed' && watch ? at + watch.after : undefined
  return endIncidentRun(deps, state.node, state.run, outcome, sayOutcome(state, outcome), recountAt)
}

const oneStep = async (
  deps: RunStepDeps,
  state: RunState,
  length: number,
  signal: AbortSignal,
): Promise<number | undefined> => {
  const stream = runStream(state.run)
  const now = deps.clock.now()
  const next = nextOfRun(state, now)
  const write = async (event: RunEvent): Promise<number | undefined> =>
    (await deps.history.append<RunEvent>(stream, length, [event])) ? length + 1 : undefined
  switch (next.do) {
    case 'wait':
      return undefined
    case 'replan':
      return write({ at: now, by: 'cnibot', type: 'PlanOutdated', index: next.index, why: next.why })
    case 'plan':
      return write(await plan(deps, state, contextOf(deps, state, next.index, length, signal)))
    case 'act':
    case 'undo':
      return perform(deps, state, length, next, signal)
    case 'end':
      return write({ at: now, by: 'cnibot', type: 'RunEnded', outcome: next.outcome })
  }
}

/** One thing of one run: plan, act, undo or end; then the next is enqueued. A job that comes late finds that it is late. */
export const runStep =
  (deps: RunStepDeps) =>
  async (job: { run: string; node: string; length: number }, signal: AbortSignal): Promise<void> => {
    const { events, length } = await deps.history.read<RunEvent>(runStream(job.run))
    const state = foldRun(events)
    if (!state) {
      const { events: of } = await deps.history.read<IncidentEvent>(incidentStream(job.node))
      const incident = foldIncident(job.node, of, deps.settings.incidentWindowMs)
      if (incident?.status !== 'repairing' || incident.runs.at(-1)?.run !== job.run) return
      await openHistory(deps, job.run, incident)
      await deps.jobs.enqueue({ kind: 'step', run: job.run, node: job.node, length: 1 })
      return
    }
    if (length !== job.length) return
    if (state.status === 'ended') return settle(deps, state)
    const grown = await oneStep(deps, state, length, signal)
    if (grown === undefined) return
    deps.log.info(
      { run: job.run, node: job.node, status: state.status, position: state.position },
      'run moved on',
    )
    await deps.jobs.enqueue({ kind: 'step', run: job.run, node: job.node, length: grown })
    await deps.jobs.enqueue({ kind: 'publish', node: job.node, length: grown })
  }
