import {
  foldIncident,
  type IncidentEvent,
  incidentStream,
  nodeOfIncident,
  runStream,
} from '../core/incident/incident.js'
import { foldRun, type RunEvent, type RunState } from '../core/runbook/run.js'
import { plansSeen } from '../core/runbook/seen.js'
import type { History, Message } from '../ports.js'
import { sentence } from '../view/command.js'
import { compareMessage } from '../view/compare.js'
import { noPlanText, renderHistory, renderRun, renderSeen } from '../view/history.js'
import { readRuns } from './read-run.js'

export interface ShowDeps {
  history: History
  settings: { timeZone: string; incidentWindowMs: number }
}

/** `node-07.1-r2` → `node-07.1`. */
const incidentOf = (run: string): string => run.slice(0, run.lastIndexOf('-r'))

/** The runs of the same incident, oldest first: whose cordon stood when the plan was made. */
const runsBeside = async ({ history }: ShowDeps, run: string): Promise<RunState[]> => {
  const incident = incidentOf(run)
  const { events } = await history.read<IncidentEvent>(incidentStream(nodeOfIncident(incident)))
  const ids = events.flatMap(e => (e.type === 'RunOpened' && incidentOf(e.run) === incident ? [e.run] : []))
  return readRuns(history, ids)
}

/** The card of both repairs as it stood when this run was opened; undefined where none had been drawn. */
const choiceBefore = async (
  { history, settings }: ShowDeps,
  state: RunState,
): Promise<Message | undefined> => {
  const { events } = await history.read<IncidentEvent>(incidentStream(state.node))
  const opening = events.findIndex(event => event.type === 'RunOpened' && event.run === state.run)
  if (opening < 0) return undefined
  const incident = foldIncident(state.node, events.slice(0, opening), settings.incidentWindowMs)
  const comparison = incident?.comparisons.at(-1)
  if (!incident || !comparison) return undefined
  const { cluster } = state
  const { timeZone } = settings
  return compareMessage({ cluster, incident, comparison, shut: 'chosen', cordoned: false, timeZone })
}

/** `/cni show <run> [step] [plan]`, or `choice` in place of a step: what approvers saw and decided, from the history alone. */
export const showRun = async (deps: ShowDeps, words: readonly string[]): Promise<Message> => {
  const [run = '', step, part = ''] = words
  const { events } = await deps.history.read<RunEvent>(runStream(run))
  const state = foldRun(events)
  if (!state)
    return sentence(`No run is called ${run || '(nothing)'}. /cni history <node> lists a node's runs.`)
  const shown = { state, plans: plansSeen(events), timeZone: deps.settings.timeZone }
  if (step === undefined) return renderRun(shown)
  if (step === 'choice')
    return (await choiceBefore(deps, state)) ?? sentence(`${run} was opened without a comparison of repairs.`)
  const digits = part.toLowerCase().replace(/[^0-9a-f]/g, '')
  const seen = shown.plans.findLast(each => each.index === Number(step) - 1 && each.digest.startsWith(digits))
  return seen ? renderSeen(shown, seen, await runsBeside(deps, run)) : sentence(noPlanText(state, step))
}

/** `/cni history <node>`: every episode of a node. */
export const showHistory = async (deps: ShowDeps, node: string): Promise<Message> => {
  const { events } = await deps.history.read<IncidentEvent>(incidentStream(node))
  return renderHistory(node, events, deps.settings.timeZone)
}
