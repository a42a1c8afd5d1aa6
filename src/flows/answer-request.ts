import { foldIncident, type IncidentEvent, incidentStream } from '../core/incident/incident.js'
import type { Clock, History, Thread } from '../ports.js'
import { renderAnswer } from '../view/command.js'
import { afterLook, type CollectDeps, look } from './collect-evidence.js'
import { record } from './record.js'
import { type RequestEvent, requestStream, unanswered } from './request.js'

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
    const { id, verdict, counts, reason } = await look(deps, node, before, signal)
    const at = deps.clock.now()
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
      unanswered(all)?.wants === 'look' ? [{ at, type: 'Looked', bundle: id, verdict, incident: shown }] : [],
    )
    if (written.changed) await deps.jobs.enqueue({ kind: 'publish', node, length: written.length })
    await deps.jobs.enqueue({ kind: 'publish-answer', request: job.request })
  }

export interface PublishAnswerDeps {
  clusterName: string
  history: History
  thread: Thread
  clock: Clock
  settings: { timeZone: string }
  /** Where an incident's thread stands, for the link. */
  linkTo(incident: string): Promise<string | undefined>
}

/** Bot: the answer goes to the channel that asked. */
export const publishAnswer =
  (deps: PublishAnswerDeps) =>
  async (job: { request: string }): Promise<void> => {
    const stream = requestStream(job.request)
    const { events } = await deps.history.read<RequestEvent>(stream)
    const asked = events.find(e => e.type === 'Asked')
    const looked = events.find(e => e.type === 'Looked')
    if (!asked || !looked || unanswered(events)?.wants !== 'post') return
    const bundle = await deps.history.bundle(looked.bundle)
    const link = looked.incident ? await deps.linkTo(looked.incident) : undefined
    const answer = renderAnswer({
      cluster: deps.clusterName,
      node: asked.node,
      askedBy: asked.by,
      bundle,
      verdict: looked.verdict,
      link,
      timeZone: deps.settings.timeZone,
    })
    const op = `${deps.clusterName}/request/${asked.id}`
    const { channel, ts } = await deps.thread.post(asked.channel, answer.message, { op })
    for (const [n, message] of answer.replies.entries())
      await deps.thread.post(channel, message, { threadTs: ts, op: `${op}/${n}` })
    if (answer.file) await deps.thread.attach(channel, ts, { ...answer.file, op: `${op}/file` })
    await record<RequestEvent>(deps.history, stream, all =>
      unanswered(all)?.wants === 'post' ? [{ at: deps.clock.now(), type: 'Answered' }] : [],
    )
  }
