import type { Bundle } from '../core/evidence/bundle.js'
import {
  foldIncident,
  type IncidentEvent,
  type IncidentState,
  incidentStream,
  runStream,
  threadStream,
} from '../core/incident/incident.js'
import { foldRun, type RunEvent, type RunState } from '../core/runbook/run.js'
import { type Clock, type History, type Log, type Thread, Unreachable } from '../ports.js'
import { digestOf } from '../view/blocks.js'
import { type DesiredMessage, renderThread } from '../view/thread.js'
import { record } from './record.js'

/** Which message of the thread stands where. Written only here, after Slack took it. */
export type ThreadEvent = { at: number; key: string } & (
  | { type: 'Posted'; channel: string; ts: string; digest: string }
  | { type: 'Updated'; digest: string }
  | { type: 'Attached'; name: string }
)

interface Posted {
  channel: string
  ts: string
  digest: string
  attached: boolean
}

export const foldThread = (events: ThreadEvent[]): Map<string, Posted> => {
  const posted = new Map<string, Posted>()
  for (const event of events) {
    const known = posted.get(event.key)
    if (event.type === 'Posted')
      posted.set(event.key, { channel: event.channel, ts: event.ts, digest: event.digest, attached: false })
    else if (known)
      posted.set(
        event.key,
        event.type === 'Updated' ? { ...known, digest: event.digest } : { ...known, attached: true },
      )
  }
  return posted
}

export interface PublishDeps {
  clusterName: string
  history: History
  thread: Thread
  clock: Clock
  log: Log
  approversNamed: string
  settings: { channel: string; incidentWindowMs: number; timeZone: string }
}

const runsOf = async (deps: PublishDeps, incident: IncidentState): Promise<RunState[]> => {
  const runs = await Promise.all(
    incident.runs.map(async r => foldRun((await deps.history.read<RunEvent>(runStream(r.run))).events)),
  )
  return runs.filter(r => r !== undefined)
}

const bundlesOf = async (deps: PublishDeps, incident: IncidentState): Promise<Map<string, Bundle>> => {
  const ids = [...new Set([...incident.evidence.map(e => e.bundle), ...incident.recounts.map(r => r.bundle)])]
  const found = await Promise.all(ids.map(async id => [id, await deps.history.bundle(id)] as const))
  return new Map(found.flatMap(([id, bundle]) => (bundle ? [[id, bundle] as const] : [])))
}

const say = async (deps: PublishDeps, stream: string, event: ThreadEvent): Promise<void> => {
  await record<ThreadEvent>(deps.history, stream, events => {
    const known = foldThread(events).get(event.key)
    if (event.type === 'Posted' && known) return []
    if (event.type === 'Attached' && known?.attached) return []
    return [event]
  })
}

/** Posts, updates or leaves one message; the operation id lets a repeat find what a crash left unrecorded. */
const put = async (
  deps: PublishDeps,
  incident: IncidentState,
  want: DesiredMessage,
  posted: Map<string, Posted>,
): Promise<void> => {
  const stream = threadStream(incident.id)
  const digest = digestOf(want.message)
  const op = `${deps.clusterName}/${incident.id}/${want.key}`
  const head = posted.get('head')
  let there = posted.get(want.key)
  if (!there) {
    const inThread = want.place === 'thread' && head ? { threadTs: head.ts } : {}
    const { channel, ts } = await deps.thread.post(head?.channel ?? deps.settings.channel, want.message, {
      ...inThread,
      op,
    })
    there = { channel, ts, digest, attached: false }
    await say(deps, stream, { at: deps.clock.now(), key: want.key, type: 'Posted', channel, ts, digest })
  } else if (there.digest !== digest) {
    await deps.thread.update(there.channel, there.ts, want.message)
    await say(deps, stream, { at: deps.clock.now(), key: want.key, type: 'Updated', digest })
  }
  posted.set(want.key, { ...there, digest })
  if (want.file && !there.attached) {
    await deps.thread.attach(there.channel, posted.get('head')?.ts ?? there.ts, {
      ...want.file,
      op: `${op}/file`,
    })
    await say(deps, stream, { at: deps.clock.now(), key: want.key, type: 'Attached', name: want.file.name })
  }
}

/** Draws the thread from the histories, level-triggered: what stands there already as it should is left alone. */
export const publishThread =
  (deps: PublishDeps) =>
  async (job: { node: string }): Promise<void> => {
    const { events } = await deps.history.read<IncidentEvent>(incidentStream(job.node))
    const incident = foldIncident(job.node, events, deps.settings.incidentWindowMs)
    if (!incident?.opened) return
    const [runs, bundles, thread] = await Promise.all([
      runsOf(deps, incident),
      bundlesOf(deps, incident),
      deps.history.read<ThreadEvent>(threadStream(incident.id)),
    ])
    const posted = foldThread(thread.events)
    const wanted = renderThread({
      cluster: deps.clusterName,
      incident,
      runs,
      bundles,
      approversNamed: deps.approversNamed,
      now: deps.clock.now(),
      timeZone: deps.settings.timeZone,
      posted: posted.keys(),
    })
    const failures: string[] = []
    for (const want of wanted) {
      try {
        await put(deps, incident, want, posted)
      } catch (error) {
        // The head carries the thread: without it nothing else can be placed, and what cannot be reached is tried again whole.
        if (error instanceof Unreachable || want.key === 'head') throw error
        failures.push(`${want.key}: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
    for (const failure of failures)
      deps.log.error({ incident: incident.id, node: job.node }, `a message could not be shown: ${failure}`)
  }

/** Whether the thread stands behind its histories: what `resume` asks. */
export const threadIsBehind = (incident: IncidentState, events: ThreadEvent[]): boolean =>
  incident.opened !== undefined && !foldThread(events).has('head')
