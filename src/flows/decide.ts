import {
  foldIncident,
  type IncidentEvent,
  incidentMay,
  type IncidentState,
  incidentStream,
  nodeOfIncident,
} from '../core/incident/incident.js'
import { listed, type Risk } from '../core/runbook/approval.js'
import { type ButtonClick, type DecideRunDeps, onPaused, onPlan } from './decide-run.js'
import { openRun, type OpenRunDeps } from './open-run.js'
import { enqueueRecorded, record } from './record.js'

export type { ButtonClick } from './decide-run.js'

export interface DecideDeps extends OpenRunDeps, DecideRunDeps {
  clusterName: string
  settings: OpenRunDeps['settings'] & DecideRunDeps['settings']
}

const runbookOf = { cordon: 'cordon', reconcile: 'leak-reconcile', drain: 'leak-drain' } as const

const notAnApprover = async (
  deps: DecideDeps,
  { by }: ButtonClick,
  risk?: Risk,
): Promise<string | undefined> => {
  const permission = listed(await deps.approvers(risk), by)
  return permission.yes ? undefined : permission.because
}

/** Who may approve the steps of a runbook may open a run of it. */
const onRunbook = async (deps: DecideDeps, click: ButtonClick, name: string): Promise<string> => {
  const { incident } = click.value
  const risk = (await deps.runbooks.list()).find(runbook => runbook.name === name)?.risk
  const ask = { node: nodeOfIncident(incident), incident, runbook: name, by: click.by }
  return (await notAnApprover(deps, click, risk)) ?? openRun(deps)(ask)
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
    case 'compare':
    case 'approve':
    case 'refuse':
    case 'tick':
    case 'retry':
    case 'undo':
      return 'This button does nothing here.'
  }
}

/** Reads, asks, appends, for the incident that the button is of; `decideOn` answers the event, or why there is none. */
const onIncident = async (
  deps: DecideDeps,
  { value }: ButtonClick,
  decideOn: (state: IncidentState) => IncidentEvent | string,
): Promise<{ refused: string } | { node: string; length: number }> => {
  const node = nodeOfIncident(value.incident)
  let refused = ''
  const written = await record<IncidentEvent>(deps.history, incidentStream(node), events => {
    const state = foldIncident(node, events, deps.settings.incidentWindowMs)
    const decided =
      state?.id === value.incident
        ? decideOn(state)
        : 'This incident is over; its buttons no longer do anything.'
    if (typeof decided !== 'string') return [decided]
    refused = decided
    return []
  })
  return written.changed ? { node, length: written.length } : { refused }
}

const notWhile = ({ status }: IncidentState): string =>
  `Not possible while the incident is ${status}. Look at its newest message.`

const onTurn = async (deps: DecideDeps, click: ButtonClick): Promise<string> => {
  const turned = await onIncident(deps, click, state => {
    const event = incidentEvent(deps, click, state)
    return typeof event === 'string' || incidentMay[state.status].includes(event.type)
      ? event
      : notWhile(state)
  })
  if ('refused' in turned) return turned.refused
  return (await enqueueRecorded(deps.jobs, [{ kind: 'publish', ...turned }])) ?? ''
}

const mayCompare: readonly IncidentState['status'][] = ['open', 'diagnosed', 'holding', 'escalated']

/** A look takes seconds. One that never came to its end must not keep people from asking for another. */
const lapsesAfterMs = 5 * 60_000

const onCompare = async (deps: DecideDeps, click: ButtonClick): Promise<string> => {
  const at = deps.clock.now()
  const wanted = await onIncident(deps, click, state => {
    if (state.comparisonWanted && at - state.comparisonWanted.at < lapsesAfterMs)
      return 'Both repairs are being looked at already; the card comes into the thread.'
    return mayCompare.includes(state.status)
      ? { at, by: click.by, type: 'ComparisonWanted' }
      : notWhile(state)
  })
  if ('refused' in wanted) return wanted.refused
  return (
    (await enqueueRecorded(deps.jobs, [{ kind: 'compare', ...wanted }])) ??
    'Looking at both repairs, read only. The card comes into the thread in a few seconds.'
  )
}

/** A click → one event. Answers the sentence that person alone is shown, or '' where the thread itself answers. */
export const decide =
  (deps: DecideDeps) =>
  async (click: ButtonClick): Promise<string> => {
    const { value } = click
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
        return value.run ? onPaused(deps, click) : onTurn(deps, click)
      case 'hold':
        return value.run ? onPaused(deps, click) : ((await notAnApprover(deps, click)) ?? onTurn(deps, click))
      case 'release':
      case 'take-back':
      case 'close':
        return (await notAnApprover(deps, click)) ?? onTurn(deps, click)
      // Looking changes nothing: it is open to everybody.
      case 'compare':
        return onCompare(deps, click)
      case 'cordon':
      case 'reconcile':
      case 'drain':
        return onRunbook(deps, click, runbookOf[value.action])
    }
  }
