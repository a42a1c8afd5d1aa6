import { foldIncident, type IncidentEvent, incidentStream } from '../core/incident/incident.js'
import { type Clock, Failed, type History, type Log, Lost, type Thread } from '../ports.js'
import { renderAnswer, renderMoved } from '../view/command.js'
import { afterLook, type CollectDeps, look } from './collect-evidence.js'
import { record } from './record.js'
import { answeredKeptMs, type RequestEvent, requestStream, unanswered } from './request.js'

/** Worker: one full look for somebody who asked; trouble found that way opens an incident like any other. */
export const answerRequest =
  (deps: CollectDeps) =>
  async (job: { request: string; node: string }, signal: AbortSignal): Promise<void> => {
    const stream = requestStream(job.request)
    const { events } = await deps.history.read<RequestEvent>(stream)
    const asked = events.find(e => e.type === 'Asked')
    if (!asked || unanswered(events)?.wants !== 'look') return
    const { node } = job
    const fold = (all: IncidentEvent[]) => foldIncident(node, all, deps.settings.incidentWindowMs)
    const before = fold((await deps.history.read<IncidentEvent>(incidentStream(node))).events)
    const { id, at, verdict, counts, reason } = await look(deps, node, before, signal)
    const collected = {
      at,
      by: asked.by,
      type: 'EvidenceCollected' as const,
      bundle: id,
      counts,
      reason,
      verdict,
    }
    const written = await record<IncidentEvent>(deps.history, incidentStream(node), all => {
      const state = fold(all)
      const more = afterLook(deps, state, collected)
      const open = state !== undefined && state.status !== 'noticed' && state.status !== 'resolved'
      return open || more.some(e => e.type === 'Opened') ? more : []
    })
    const incident = fold(written.events)
    const shown = incident?.opened && incident.status !== 'resolved' ? incident.id : undefined
    await record<RequestEvent>(deps.history, stream, all =>
      unanswered(all)?.wants === 'look'
        ? [{ at: deps.clock.now(), type: 'Looked', bundle: id, verdict, incident: shown }]
        : [],
    )
    if (written.changed) await deps.jobs.enqueue({ kind: 'publish', node, length: written.length })
    await deps.jobs.enqueue({ kind: 'publish-answer', request: job.request })
  }

export interface PublishAnswerDeps {
  clusterName: string
  history: History
  thread: Thread
  clock: Clock
  log: Log
  settings: { timeZone: string; channel: string }
  /** Where an incident's thread stands, for the link. */
  linkTo(incident: string): Promise<string | undefined>
}

type Of<T extends RequestEvent['type']> = Extract<RequestEvent, { type: T }>

const post = async (
  deps: PublishAnswerDeps,
  asked: Of<'Asked'>,
  looked: Of<'Looked'>,
  moved: boolean,
): Promise<void> => {
  const { clusterName: cluster, settings, thread } = deps
  const { node, by: askedBy } = asked
  const { verdict } = looked
  const bundle = await deps.history.bundle(looked.bundle)
  const link = looked.incident ? await deps.linkTo(looked.incident) : undefined
  const answer = renderAnswer({ cluster, node, askedBy, bundle, verdict, link, timeZone: settings.timeZone })
  const op = `${cluster}/request/${asked.id}${moved ? '/moved' : ''}`
  const { channel, ts } = await thread.post(moved ? settings.channel : asked.channel, answer.message, { op })
  const replies = moved ? [renderMoved(node, askedBy), ...answer.replies] : answer.replies
  for (const [n, message] of replies.entries())
    await thread.post(channel, message, { threadTs: ts, op: `${op}/${n}` })
  if (answer.file) await thread.attach(channel, ts, { ...answer.file, op: `${op}/file` })
}

/** What to write after a try: a refusal of Slack is final there, so nothing is posted again and again. */
const outcome = async (
  deps: PublishAnswerDeps,
  events: RequestEvent[],
): Promise<RequestEvent | undefined> => {
  const asked = events.find(e => e.type === 'Asked')
  const looked = events.find(e => e.type === 'Looked')
  if (!asked || !looked || unanswered(events)?.wants !== 'post') return undefined
  const moved = events.some(e => e.type === 'Moved')
  try {
    await post(deps, asked, looked, moved)
    return { at: deps.clock.now(), type: 'Answered' }
  } catch (error) {
    if (!(error instanceof Failed)) throw error
    const at = deps.clock.now()
    const elsewhere =
      error instanceof Lost && error.what === 'channel' && !moved && asked.channel !== deps.settings.channel
    if (elsewhere) return { at, type: 'Moved', why: error.message }
    deps.log.error({ request: asked.id, node: asked.node }, `an answer could not be shown: ${error.message}`)
    return { at, type: 'NotAnswered', why: error.message }
  }
}

/**
 * Bot: the answer goes to the channel that asked, or to the incident channel with a mention of who asked where that one
 * takes no message of ours. Then the request is done with.
 */
export const publishAnswer =
  (deps: PublishAnswerDeps) =>
  async (job: { request: string }): Promise<void> => {
    const stream = requestStream(job.request)
    const write = async (event: RequestEvent) =>
      await record<RequestEvent>(deps.history, stream, all =>
        unanswered(all)?.wants === 'post' && !all.some(e => e.type === event.type) ? [event] : [],
      )
    let { events } = await deps.history.read<RequestEvent>(stream)
    for (let event = await outcome(deps, events); event; event = await outcome(deps, events))
      events = (await write(event)).events
    if (events.length > 0 && !unanswered(events)) await deps.history.forget(stream, answeredKeptMs)
  }
