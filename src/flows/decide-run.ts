import { barredBecause } from '../core/brakes.js'
import { nodeOfIncident, runStream } from '../core/incident/incident.js'
import {
  type Approvers,
  listed,
  mayApprove,
  mayRefuse,
  outOfReach,
  type Risk,
  waitsFor,
} from '../core/runbook/approval.js'
import { allowed, foldRun, type RunEvent, type RunState } from '../core/runbook/run.js'
import { standing } from '../core/runbook/standing.js'
import type { Clock, History, Job, Jobs } from '../ports.js'
import type { ButtonValue } from '../view/button.js'
import { brakesNow } from './brakes.js'
import { readRun } from './read-run.js'
import { enqueueRecorded, record } from './record.js'

export interface ButtonClick {
  by: string
  value: ButtonValue
  /** What was typed, for buttons that ask for a reason. */
  reason: string | undefined
}

export interface DecideRunDeps {
  history: History
  jobs: Jobs
  clock: Clock
  /** Of a risk; without one everybody who may approve something. */
  approvers(risk?: Risk): Promise<Approvers>
  settings: { escalateTo: string; paused: boolean }
}

interface Decision {
  event: RunEvent
  /** What the person is told although something was written. */
  says?: string
}

const stateOf = async (deps: DecideRunDeps, run: string | undefined): Promise<RunState | undefined> =>
  run === undefined ? undefined : readRun(deps.history, run)

const noRun = 'This run does not exist.'

/** Reads, asks, appends: whoever is first wins, the second is told who it was. */
const onRun = async (
  deps: DecideRunDeps,
  { run = '', incident }: ButtonValue,
  decideOn: (state: RunState) => Decision | string,
): Promise<string> => {
  let answer = ''
  const written = await record<RunEvent>(deps.history, runStream(run), events => {
    const state = foldRun(events)
    const decided = state ? decideOn(state) : noRun
    answer = typeof decided === 'string' ? decided : (decided.says ?? '')
    return typeof decided === 'string' ? [] : [decided.event]
  })
  if (!written.changed) return answer
  const node = nodeOfIncident(incident)
  const jobs: Job[] = [
    { kind: 'step', run, node, length: written.length },
    { kind: 'publish', node, length: written.length },
  ]
  return (await enqueueRecorded(deps.jobs, jobs)) ?? answer
}

interface PlanClick {
  by: string
  index: number
  digest: string
  now: number
}

/** The same plan, not approved in time or no longer the newest: the worker is asked for another. */
const outdated = (state: RunState, { index, digest, now }: PlanClick, why: string): Decision | undefined =>
  state.status === 'awaiting' && state.position === index && state.lines[index]?.digest === digest
    ? { event: { at: now, by: 'cnibot', type: 'PlanOutdated', index, why }, says: why }
    : undefined

const approved = (
  state: RunState,
  { by, index, digest, now: at }: PlanClick,
  approvers: Approvers,
): Decision => {
  const line = state.lines[index]
  if (line?.spec.kind === 'confirm') return { event: { at, by, type: 'InputGiven', index } }
  const event: RunEvent = { at, by, type: 'StepApproved', index, digest }
  const given = line && { needs: line.needs, approvals: [...line.approvals, { by, at }] }
  const last = !given || given.approvals.length >= given.needs
  if (last) return { event }
  const never = outOfReach(given, state.openedBy, approvers)
  const says = `Your approval is recorded. ${waitsFor(given)} must approve it too.`
  return { event, says: never ? `${says} ${never}` : says }
}

/** Approve, tick and refuse: bound to the digest that was in view. */
export const onPlan = async (deps: DecideRunDeps, { by, value }: ButtonClick): Promise<string> => {
  const before = await stateOf(deps, value.run)
  if (!before) return noRun
  const approvers = await deps.approvers(before.runbook.risk)
  const refuses = value.action === 'refuse'
  const barred = refuses ? undefined : barredBecause(await brakesNow(deps), before.node)
  const click = { by, index: value.index ?? -1, digest: value.digest ?? '', now: deps.clock.now() }
  return onRun(deps, value, state => {
    const permission = (refuses ? mayRefuse : mayApprove)(state, click, approvers)
    if (!permission.yes) {
      const again = permission.outdated ? outdated(state, click, permission.because) : undefined
      return again ?? permission.because
    }
    if (barred !== undefined) return barred
    return refuses
      ? { event: { at: click.now, by, type: 'StepRefused', index: click.index, digest: click.digest } }
      : approved(state, click, approvers)
  })
}

const movedOn =
  'The run has moved on since the card with this button was drawn: look at its card as it is now, and choose there.'

/** Hold and escalate only end the run and change nothing, so an older card will do for them. */
const outran = (state: RunState, { action, digest }: ButtonValue): boolean =>
  (action === 'undo' || action === 'retry') && digest !== standing(state)

/** Retry, undo, hold and escalate end or turn a paused run; they need an approver as well. */
export const onPaused = async (deps: DecideRunDeps, { by, value }: ButtonClick): Promise<string> => {
  const before = await stateOf(deps, value.run)
  if (!before) return noRun
  const permission = listed(await deps.approvers(before.runbook.risk), by)
  if (!permission.yes) return permission.because
  const barred = value.action === 'retry' ? barredBecause(await brakesNow(deps), before.node) : undefined
  const at = deps.clock.now()
  return onRun(deps, value, state => {
    const index = state.position
    const event: RunEvent =
      value.action === 'retry'
        ? { at, by, type: 'RetryAsked', index }
        : value.action === 'undo'
          ? { at, by, type: 'UndoAsked' }
          : value.action === 'escalate'
            ? { at, by, type: 'RunEnded', outcome: 'held', escalateTo: deps.settings.escalateTo }
            : { at, by, type: 'RunEnded', outcome: 'held' }
    // While an undo is at work only the worker may end the run: what it put back must still be written down.
    const theirs = event.type === 'RunEnded' && state.status === 'undoing'
    if (allowed[state.status].includes(event.type) && !theirs)
      return outran(state, value) ? movedOn : (barred ?? { event })
    return state.status === 'ended'
      ? `This run has ended already (${state.outcome}).`
      : `Not now: the run is ${state.status}. Wait for its card to change.`
  })
}
