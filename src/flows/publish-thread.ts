import { stormNow } from '../core/brakes.js'
import type { Bundle } from '../core/evidence/bundle.js'
import {
  foldIncident,
  type IncidentEvent,
  type IncidentState,
  incidentStream,
  threadStream,
} from '../core/incident/incident.js'
import type { Risk } from '../core/runbook/approval.js'
import type { RunState } from '../core/runbook/run.js'
import { type Clock, Failed, type History, type Log, Lost, type Thread, Unreachable } from '../ports.js'
import { digestOf } from '../view/blocks.js'
import { bundlesShown, type DesiredMessage, renderThread } from '../view/thread.js'
import { brakesNow } from './brakes.js'
import type { ClosedChannels } from './closed-channels.js'
import { readRuns } from './read-run.js'
import { foldThread, lossesOf, type Posted, recordThread, type ThreadEvent } from './thread-events.js'

export interface PublishDeps {
  clusterName: string
  history: History
  thread: Thread
  clock: Clock
  log: Log
  closedChannels: ClosedChannels
  approversNamed: string
  /** Where a risk has a list of its own. */
  approversFor?: Record<Risk, string>
  settings: { channel: string; incidentWindowMs: number; timeZone: string; paused?: boolean }
}

const runsOf = ({ history }: PublishDeps, { runs }: IncidentState): Promise<RunState[]> =>
  readRuns(
    history,
    runs.map(({ run }) => run),
  )

/** An incident may have hundreds of readings; only those that its messages show are unpacked. */
const bundlesOf = async (deps: PublishDeps, incident: IncidentState): Promise<Map<string, Bundle>> => {
  const ids = bundlesShown(incident)
  const found = await Promise.all(ids.map(async id => [id, await deps.history.bundle(id)] as const))
  return new Map(found.flatMap(([id, bundle]) => (bundle ? [[id, bundle] as const] : [])))
}

/** One thread while it is drawn. */
interface Drawing {
  deps: PublishDeps
  incident: IncidentState
  stream: string
  events: ThreadEvent[]
  posted: Map<string, Posted>
}

const say = async (drawing: Drawing, event: ThreadEvent): Promise<void> => {
  drawing.events = await recordThread(drawing.deps.history, drawing.stream, event)
}

/** A message that was lost and is posted anew is another operation, else the search for the first one might find it. */
const opOf = ({ deps, incident, events }: Drawing, key: string): string => {
  const losses = lossesOf(events, key)
  return `${deps.clusterName}/${incident.id}/${key}${losses > 0 ? `#${losses}` : ''}`
}

const channelOf = ({ deps, posted }: Drawing): string => posted.get('head')?.channel ?? deps.settings.channel

/** Posts, updates or leaves one message; the operation id lets a repeat find what a crash left unrecorded. */
const put = async (drawing: Drawing, want: DesiredMessage): Promise<void> => {
  const { deps, posted } = drawing
  const digest = digestOf(want.message)
  const op = opOf(drawing, want.key)
  const head = posted.get('head')
  let there = posted.get(want.key)
  if (!there) {
    const inThread = want.place === 'thread' && head ? { threadTs: head.ts } : {}
    const { channel, ts } = await deps.thread.post(channelOf(drawing), want.message, { ...inThread, op })
    there = { channel, ts, digest, attached: false }
    await say(drawing, { at: deps.clock.now(), key: want.key, type: 'Posted', channel, ts, digest })
  } else if (there.digest !== digest) {
    await deps.thread.update(there.channel, there.ts, want.message)
    await say(drawing, { at: deps.clock.now(), key: want.key, type: 'Updated', digest })
  } else if (!want.file || there.attached) return
  posted.set(want.key, { ...there, digest })
  if (want.file && !there.attached) {
    const threadTs = posted.get('head')?.ts ?? there.ts
    await deps.thread.attach(there.channel, threadTs, { ...want.file, op: `${op}/file` })
    await say(drawing, { at: deps.clock.now(), key: want.key, type: 'Attached', name: want.file.name })
  }
  deps.closedChannels.clear(there.channel)
}

/** Which message is meant by a lost one: the one that was to be edited, else the first one of the thread. */
const lostKey = ({ posted }: Drawing, want: DesiredMessage): string => {
  const there = posted.get(want.key)
  return there && there.digest !== digestOf(want.message) ? want.key : 'head'
}

/** Records that a message is gone. @throws `error` when it was not known to stand there. */
const lose = async (drawing: Drawing, key: string, error: Lost): Promise<void> => {
  const { deps, incident, posted } = drawing
  const there = posted.get(key)
  if (!there) throw error
  await say(drawing, { at: deps.clock.now(), key, type: 'Lost', ts: there.ts, why: error.message })
  posted.delete(key)
  deps.log.warn({ incident: incident.id, key }, `a message is posted anew: ${error.message}`)
}

/**
 * One message as it should stand; 'anew' when the whole thread has to be drawn again under a new head, 'closed' when
 * its channel takes nothing.
 */
const place = async (drawing: Drawing, want: DesiredMessage): Promise<'stands' | 'anew' | 'closed'> => {
  const { deps, posted } = drawing
  try {
    await put(drawing, want)
    return 'stands'
  } catch (error) {
    if (!(error instanceof Lost)) throw error
    const key = error.what === 'message' ? lostKey(drawing, want) : 'head'
    if (error.what === 'channel' && (!posted.has('head') || channelOf(drawing) === deps.settings.channel)) {
      deps.closedChannels.note(channelOf(drawing), error.message)
      return 'closed'
    }
    await lose(drawing, key, error)
    if (key === 'head') return 'anew'
    await put(drawing, want)
    return 'stands'
  }
}

/** One pass over the thread; false when its head was lost on the way. */
const draw = async (deps: PublishDeps, incident: IncidentState): Promise<boolean> => {
  const stream = threadStream(incident.id)
  const [runs, bundles, thread, brakes] = await Promise.all([
    runsOf(deps, incident),
    bundlesOf(deps, incident),
    deps.history.read<ThreadEvent>(stream),
    brakesNow({ history: deps.history, settings: { paused: deps.settings.paused ?? false } }),
  ])
  const posted = foldThread(thread.events)
  // Its one message stands for all of them: a thread begun meanwhile would ask for a repair of its own.
  if (!posted.has('head') && stormNow(brakes)?.nodes.includes(incident.node)) return true
  const drawing: Drawing = { deps, incident, stream, events: thread.events, posted }
  const wanted = renderThread({
    cluster: deps.clusterName,
    incident,
    runs,
    bundles,
    approversNamed: deps.approversNamed,
    ...(deps.approversFor ? { approversFor: deps.approversFor } : {}),
    now: deps.clock.now(),
    timeZone: deps.settings.timeZone,
    brakes,
    posted: posted.keys(),
  })
  for (const want of wanted) {
    try {
      const placed = await place(drawing, want)
      if (placed !== 'stands') return placed === 'closed'
    } catch (error) {
      // The head carries the thread: without it nothing else can be placed, and what cannot be reached is tried again whole.
      if (error instanceof Unreachable || want.key === 'head') throw error
      const why = error instanceof Error ? error.message : String(error)
      deps.log.error(
        { incident: incident.id, node: incident.node },
        `a message could not be shown: ${want.key}: ${why}`,
      )
    }
  }
  return true
}

/** Draws the thread from the histories, level-triggered: what stands there already as it should is left alone. */
export const publishThread =
  (deps: PublishDeps) =>
  async (job: { node: string }): Promise<void> => {
    const { events } = await deps.history.read<IncidentEvent>(incidentStream(job.node))
    const incident = foldIncident(job.node, events, deps.settings.incidentWindowMs)
    if (!incident?.opened) return
    // The second time under a new head; a head that is lost again at once is left to the job's next attempt.
    if ((await draw(deps, incident)) || (await draw(deps, incident))) return
    throw new Failed(`the first message of ${incident.id} was lost twice`)
  }
