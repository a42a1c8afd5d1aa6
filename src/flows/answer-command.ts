import { explain } from '../core/explain/explain.js'
import { incidentStream } from '../core/incident/incident.js'
import { fromSlack } from '../core/report/from-slack.js'
import { reportOfText } from '../core/report/read-text.js'
import { type Approvers, listed } from '../core/runbook/approval.js'
import type { Clock, Cluster, History, Jobs, Log, Message } from '../ports.js'
import {
  renderHelp,
  renderLooking,
  renderNothingPasted,
  renderStatus,
  renderUnknownNode,
  sentence,
} from '../view/command.js'
import { explainedMessage } from '../view/explained.js'
import { allIncidents } from './all-incidents.js'
import { brakesNow, pause, resumeChanges } from './brakes.js'
import { readRuns } from './read-run.js'
import { record } from './record.js'
import { type RequestEvent, requestStream } from './request.js'
import { showHistory, showRun } from './show-record.js'

export interface CommandDeps {
  clusterName: string
  cluster: Pick<Cluster, 'nodes'>
  history: History
  jobs: Jobs
  log: Log
  clock: Clock
  approvers(): Promise<Approvers>
  settings: { incidentWindowMs: number; timeZone: string; paused: boolean }
}

/** Shown to who asked alone, unless it says otherwise. */
export interface CommandReply {
  message: Message
  inChannel?: boolean
}

export interface Command {
  text: string
  by: string
  channel: string
  /** Names the request; the same command delivered twice is one. */
  id: string
}

const status = async (deps: CommandDeps): Promise<Message> => {
  const incidents = (await allIncidents(deps.history, deps.log, deps.settings.incidentWindowMs)).toSorted(
    (a, b) => a.startedAt - b.startedAt,
  )
  const ids = incidents.flatMap(i => i.runs.map(r => r.run))
  const runs = await readRuns(deps.history, ids)
  const { clock, clusterName, settings } = deps
  const brakes = await brakesNow(deps)
  return renderStatus({
    cluster: clusterName,
    incidents,
    brakes,
    runs,
    now: clock.now(),
    timeZone: settings.timeZone,
  })
}

const diagnose = async (deps: CommandDeps, command: Command, node: string | undefined): Promise<Message> => {
  if (!node) return renderHelp(command.text)
  const names = (await deps.cluster.nodes()).map(n => n.name)
  if (!names.includes(node)) return renderUnknownNode(node, names)
  const { id, by, channel } = command
  await record<RequestEvent>(deps.history, requestStream(id), events =>
    events.length === 0 ? [{ at: deps.clock.now(), type: 'Asked', id, node, channel, by }] : [],
  )
  await deps.jobs.enqueue({ kind: 'answer', request: id, node })
  return renderLooking(node)
}

const history = async (deps: CommandDeps, command: Command, node: string | undefined): Promise<Message> => {
  if (!node) return renderHelp(command.text)
  const known = (await deps.history.read(incidentStream(node))).length > 0
  const names = known ? [node] : (await deps.cluster.nodes()).map(n => n.name)
  return names.includes(node) ? showHistory(deps, node) : renderUnknownNode(node, names)
}

/** Everybody in the channel is to know that changes stop, and that they go on. */
const forApprovers = async (
  deps: CommandDeps,
  { by }: Command,
  change: () => Promise<string>,
): Promise<CommandReply> => {
  const permission = listed(await deps.approvers(), by)
  return permission.yes
    ? { message: sentence(await change()), inChannel: true }
    : { message: sentence(permission.because) }
}

/** No job: what was pasted is all that is read, and the person alone sees the answer. */
const explainPasted = (pasted: string): Message => {
  const text = fromSlack(pasted)
  return text === '' ? renderNothingPasted() : explainedMessage(explain(reportOfText(text)))
}

/** `/cni …` → what the person sees at once; the look itself is the worker's. */
export const answerCommand =
  (deps: CommandDeps) =>
  async (command: Command): Promise<CommandReply> => {
    const [word = '', ...rest] = command.text.trim().split(/\s+/)
    const { by } = command
    switch (word.toLowerCase()) {
      case 'diagnose':
        return { message: await diagnose(deps, command, rest[0]) }
      case 'explain':
        return { message: explainPasted(command.text.trim().slice(word.length)) }
      case 'status':
        return { message: await status(deps) }
      case 'history':
        return { message: await history(deps, command, rest[0]) }
      case 'show':
        return { message: await showRun(deps, rest) }
      case 'pause': {
        const why = rest.join(' ').slice(0, 300)
        return forApprovers(deps, command, () => pause(deps, by, why || 'no reason was given'))
      }
      case 'resume':
        if (rest.length > 0 && rest.join(' ').toLowerCase() !== 'storm')
          return { message: renderHelp(command.text) }
        return forApprovers(deps, command, () => resumeChanges(deps, by, rest.length > 0 ? 'storm' : 'pause'))
      case '':
      case 'help':
        return { message: renderHelp() }
      default:
        return { message: renderHelp(command.text) }
    }
  }
