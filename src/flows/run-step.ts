import {
  foldIncident,
  type IncidentEvent,
  type IncidentState,
  incidentStream,
  runStream,
} from '../core/incident/incident.js'
import { foldRun, nextOfRun, type RunEvent, type RunState, settledLength } from '../core/runbook/run.js'
import { record } from './record.js'
import { endIncidentRun, settle } from './settle-run.js'
import { act, contextOf, plan, type RunStepDeps, undo } from './step-events.js'

/** The incident decided that there is a run; the run's own history is opened here, and after a crash again here. */
const openHistory = async (deps: RunStepDeps, run: string, incident: IncidentState): Promise<void> => {
  const summary = incident.runs.find(r => r.run === run)
  const runbook = (await deps.runbooks.list()).find(r => r.name === summary?.runbook)
  const facts = await deps.cluster.node(incident.node)
  if (!summary || !runbook || !facts) {
    const why = !facts ? `${incident.node} is not in the cluster` : 'its runbook is gone'
    await endIncidentRun(deps, incident.node, {
      by: 'cnibot',
      run,
      outcome: 'abandoned',
      says: `could not begin: ${why}`,
      recountAt: undefined,
    })
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
  const ctx = contextOf(deps, state, what.index, signal)
  const event = await (what.do === 'act' ? act : undo)(deps, state, ctx)
  return (await deps.history.append<RunEvent>(stream, length + 1, [event])) ? length + 2 : undefined
}

const oneStep = async (
  deps: RunStepDeps,
  state: RunState,
  length: number,
  signal: AbortSignal,
): Promise<number | undefined> => {
  const stream = runStream(state.run)
  const now = deps.clock.now()
  const next = nextOfRun(state)
  const write = async (event: RunEvent): Promise<number | undefined> =>
    (await deps.history.append<RunEvent>(stream, length, [event])) ? length + 1 : undefined
  switch (next.do) {
    case 'wait':
      return undefined
    case 'plan':
      return write(await plan(deps, state, contextOf(deps, state, next.index, signal)))
    case 'act':
    case 'undo':
      return perform(deps, state, length, next, signal)
    case 'end':
      return write({ at: now, by: 'cnibot', type: 'RunEnded', outcome: next.outcome })
  }
}

/** A step that did not work is told beside the node's state: that is read again. */
const readAgainAfterFailure = async (
  deps: RunStepDeps,
  job: { run: string; node: string },
): Promise<void> => {
  const state = foldRun((await deps.history.read<RunEvent>(runStream(job.run))).events)
  if (state?.status !== 'paused') return
  const at = deps.clock.now()
  const why = 'a step did not work'
  const written = await record<IncidentEvent>(deps.history, incidentStream(job.node), events =>
    events.length === 0 ? [] : [{ at, by: 'cnibot', type: 'EvidenceWanted', why }],
  )
  if (written.changed) await deps.jobs.enqueue({ kind: 'collect', node: job.node, length: written.length })
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
    if (settledLength(events) !== job.length) return
    if (state.status === 'ended') return settle(deps, state)
    const grown = await oneStep(deps, state, length, signal)
    if (grown === undefined) return
    deps.log.info(
      { run: job.run, node: job.node, status: state.status, position: state.position },
      'run moved on',
    )
    await readAgainAfterFailure(deps, job)
    await deps.jobs.enqueue({ kind: 'step', run: job.run, node: job.node, length: grown })
    await deps.jobs.enqueue({ kind: 'publish', node: job.node, length: grown })
  }
