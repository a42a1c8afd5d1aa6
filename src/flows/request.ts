import type { Verdict } from '../core/diagnosis/finding.js'

/** `/cni diagnose`: a question and its answer, so that neither process has to remember it. */
export type RequestEvent = { at: number } & (
  | { type: 'Asked'; id: string; node: string; channel: string; by: string }
  | { type: 'Looked'; bundle: string; verdict: Verdict; incident: string | undefined }
  /** The channel that asked takes no message of ours: the answer goes to the incident channel. */
  | { type: 'Moved'; why: string }
  | { type: 'Answered' }
  /** Given up: nobody was shown an answer. */
  | { type: 'NotAnswered'; why: string }
)

/** How long a request that is done with can still be read: a repeat of its command finds it answered. */
export const answeredKeptMs = 24 * 60 * 60_000

export const requestStream = (id: string): string => `request/${id}`

/** What is still to do for a request; undefined when it is done. */
export const unanswered = (
  events: RequestEvent[],
): { id: string; node: string; wants: 'look' | 'post' } | undefined => {
  const asked = events.find(e => e.type === 'Asked')
  if (!asked || events.some(e => e.type === 'Answered' || e.type === 'NotAnswered')) return undefined
  return { id: asked.id, node: asked.node, wants: events.some(e => e.type === 'Looked') ? 'post' : 'look' }
}
