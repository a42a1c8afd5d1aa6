import { runStream } from '../core/incident/incident.js'
import { foldRun, type RunEvent } from '../core/runbook/run.js'
import type { Clock, Cluster, History, Jobs, Log, Message } from '../ports.js'
import { renderHelp, renderLooking, renderStatus, renderUnknownNode } from '../view/command.js'
import { allIncidents } from './all-incidents.js'
import { record } from './record.js'
import { type RequestEvent, requestStream } from './request.js'

export interface CommandDeps {
  clusterName: string
  cluster: Pick<Cluster, 'nodes'>
  history: History
  jobs: Jobs
  log: Log
  clock: Clock
  settings: { incidentWindowMs: number; timeZone: string }
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
  const runs = await Promise.all(
    ids.map(async id => foldRun((await deps.history.read<RunEvent>(runStream(id))).events)),
  )
  const { clock, clusterName, settings } = deps
  return renderStatus({
    cluster: clusterName,
    incidents,
    runs: runs.filter(r => r !== undefined),
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

/** `/cni …` → what the person sees at once; the look itself is the worker's. */
export const answerCommand =
  (deps: CommandDeps) =>
  (command: Command): Promise<Message> => {
    const [word = '', ...rest] = command.text.trim().split(/\s+/)
    switch (word.toLowerCase()) {
      case 'diagnose':
        return diagnose(deps, command, rest[0])
      case 'status':
        return status(deps)
      case '':
      case 'help':
        return Promise.resolve(renderHelp())
      default:
        return Promise.resolve(renderHelp(command.text))
    }
  }
