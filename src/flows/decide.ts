import {
  foldIncident,
  type IncidentEvent,
  incidentMay,
  type IncidentState,
  incidentStream,
  nodeOfIncident,
  runStream,
} from '../core/incident/incident.js'
import { type Approvers, mayApprove } from '../core/runbook/approval.js'
import { type Actor, allowed, foldRun, type RunEvent, type RunState } from '../core/runbook/run.js'
import type { ButtonValue } from '../view/button.js'
import type { Job } from '../ports.js'
import { openRun, type OpenRunDeps } from './open-run.js'
import { enqueueRecorded, record } from './record.js'

export interface DecideDeps extends OpenRunDeps {
  clusterName: string
  approvers(): Promise<Approvers>
  settings: OpenRunDeps['settings'] & { escalateTo: string }
}

export interface ButtonClick {
  by: Actor
  value: ButtonValue
  /** What was typed, for buttons that ask for a reason. */
  reason: string | undefined
}

const runbookOf = { cordon: 'cordon', reconcile: 'leak-reconcile', drain: 'leak-drain' } as const

interface RunClick {
  run: string
  index: number
  digest: string
}

interface Decision {
  event: RunEvent
  /** What the person is told although something was written. */
  says?: string
}

/** Reads, asks, appends: whoever is first wins, the second is told who it was. */
const onRun = async (
  deps: DecideDeps,
  click: ButtonClick,
  decideOn: (state: RunState) => Decision | string,
): Promise<string> => {
  const { run } = click.value
  if (!run) return 'This button names no run.'
  let answer = ''
  const written = await record<RunEvent>(deps.history, runStream(run), events => {
    const state = foldRun(events)
    const decided = state ? decideOn(state) : 'This run does not exist.'
    answer = typeof decided === 'string' ? decided : (decided.says ?? '')
    return typeof decided === 'string' ? [] : [decided.event]
  })
  if (!written.changed) return answer
  const node = nodeOfIncident(click.value.incident)
  const jobs: Job[] = [
    { kind: 'step', run, node, length: written.length },
    { kind: 'publish', node, length: written.length },
  ]
  return (await enqueueRecorded(deps.jobs, jobs)) ?? answer
}

const wanted = (value: ButtonValue): RunClick => ({
  run: value.run ?? '',
  index: value.index ?? -1,
  digest: value.digest ?? '',
})

/** Approve, tick and refuse: bound to the digest that was in view. */
const onPlan = async (deps: DecideDeps, click: ButtonClick): Promise<string> => {
  const approvers = await deps.approvers()
  const now = deps.clock.now()
  const { index, digest } = wanted(click.value)
  return onRun(deps, click, state => {
    const permission = mayApprove(state, { by: click.by, index, digest, now }, approvers)
    if (!permission.yes) {
      const stale =
        permission.outdated &&
        state.status === 'awaiting' &&
        state.position === index &&
        state.lines[index]?.digest === digest
      const outdated = {
        at: now,
        by: 'cnibot',
        type: 'PlanOutdated' as const,
        index,
        why: permission.because,
      }
      return stale ? { event: outdated, says: permission.because } : permission.because
    }
    const kind = state.lines[index]?.spec.kind
    if (click.value.action === 'refuse')
      return { event: { at: now, by: click.by, type: 'StepRefused', index, digest } }
    if (kind === 'confirm') return { event: { at: now, by: click.by, type: 'InputGiven', index } }
    return { event: { at: now, by: click.by, type: 'StepApproved', index, digest } }
  })
}

const notAnApprover = async (deps: DecideDeps, { by }: ButtonClick): Promise<string | undefined> => {
  const { people, named } = await deps.approvers()
  if (!people) return 'Who may approve could not be read just now, so nobody may. Try again in a minute.'
  return people.includes(by) ? undefined : `You are not on the approver list. ${named} may decide this.`
}

/** Retry, undo, hold and escalate end or turn a paused run; they need an approver as well. */
const onPaused = async (deps: DecideDeps, click: ButtonClick): Promise<string> => {
  const barred = await notAnApprover(deps, click)
  if (barred) return barred
  const at = deps.clock.now()
  const { by } = click
  return onRun(deps, click, state => {
    const index = state.position
    const event: RunEvent =
      click.value.action === 'retry'
        ? { at, by, type: 'RetryAsked', index }
        : click.value.action === 'undo'
          ? { at, by, type: 'UndoAsked' }
          : click.value.action === 'escalate'
            ? { at, by, type: 'RunEnded', outcome: 'held', escalateTo: deps.settings.escalateTo }
            : { at, by, type: 'RunEnded', outcome: 'held' }
    // While an undo is at work only the worker may end the run: what it put back must still be written down.
    const theirs = event.type === 'RunEnded' && state.status === 'undoing'
    if (allowed[state.status].includes(event.type) && !theirs) return { event }
    return state.status === 'ended'
      ? `This run has ended already (${state.outcome}).`
      : `Not now: the run is ${state.status}. Wait for its card to change.`
  })
}

const incidentEvent = (
  deps: DecideDeps,
  click: ButtonClick,
  state: IncidentState,
): IncidentEvent | string => {
  const at = deps.clock.now()
  const { by, reason } = click
  switch (click.value.action) {
    case 'hold':
      return { at, by, type: 'Held' }
    case 'release':
      return { at, by, type: 'Released' }
    case 'escalate': {
      const verdict = state.evidence.at(-1)?.verdict
      return {
        at,
        by,
        type: 'Escalated',
        to: deps.settings.escalateTo,
        why: reason ?? verdict?.headline ?? 'asked for by hand',
      }
    }
    case 'take-back':
      return { at, by, type: 'TakenBack' }
    case 'close':
      return reason ? { at, by, type: 'ClosedByHand', reason } : 'Closing by hand needs a reason.'
    case 'cordon':
    case 'reconcile':
    case 'drain':
    case 'approve':
    case 'refuse':
    case 'tick':
    case 'retry':
    case 'undo':
      return 'This button does nothing here.'
  }
}

const onIncident = async (deps: DecideDeps, click: ButtonClick): Promise<string> => {
  const node = nodeOfIncident(click.value.incident)
  let answer = ''
  const written = await record<IncidentEvent>(deps.history, incidentStream(node), events => {
    const state = foldIncident(node, events, deps.settings.incidentWindowMs)
    answer = ''
    if (state?.id !== click.value.incident)
      answer = 'This incident is over; its buttons no longer do anything.'
    const event = state && !answer ? incidentEvent(deps, click, state) : answer
    if (typeof event === 'string' || !event) {
      answer = event || 'This incident does not exist.'
      return []
    }
    if (state && incidentMay[state.status].includes(event.type)) return [event]
    answer = `Not possible while the incident is ${state?.status}. Look at its newest message.`
    return []
  })
  if (!written.changed) return answer
  return (await enqueueRecorded(deps.jobs, [{ kind: 'publish', node, length: written.length }])) ?? ''
}

/** A click → one event. Answers the sentence that person alone is shown, or '' where the thread itself answers. */
export const decide =
  (deps: DecideDeps) =>
  async (click: ButtonClick): Promise<string> => {
    const { value, by } = click
    if (value.cluster !== deps.clusterName)
      return `This button belongs to cluster ${value.cluster}; this bot serves ${deps.clusterName}.`
    switch (value.action) {
      case 'approve':
      case 'refuse':
      case 'tick':
        return onPlan(deps, click)
      case 'retry':
      case 'undo':
        return onPaused(deps, click)
      // Calling for help is open to everybody, unless it ends a run; what takes a place, holds or closes is for approvers.
      case 'escalate':
        return value.run ? onPaused(deps, click) : onIncident(deps, click)
      case 'hold':
        return value.run
          ? onPaused(deps, click)
          : ((await notAnApprover(deps, click)) ?? onIncident(deps, click))
      case 'release':
      case 'take-back':
      case 'close':
        return (await notAnApprover(deps, click)) ?? onIncident(deps, click)
      case 'cordon':
      case 'reconcile':
      case 'drain': {
        const { incident } = value
        const ask = { node: nodeOfIncident(incident), incident, runbook: runbookOf[value.action], by }
        return (await notAnApprover(deps, click)) ?? openRun(deps)(ask)
      }
    }
  }
