import type { Verdict } from '../core/diagnosis/finding.js'

/** `/cni diagnose`: a question and its answer, so that neither process has to remember it. */
export type RequestEvent = { at: number } & (
  | { type: 'Asked'; id: string; node: string; channel: string; by: string }
  | { type: 'Looked'; bundle: string; verdict: Verdict; incident: string | undefined }
  | { type: 'Answered' }
)

export const requestStream = (id: string): string => `request/${id}`

/** What is still to do for a request; undefined when it is done. */
export const unanswered = (
  events: RequestEvent[],
): { id: string; node: string; wants: 'look' | 'post' } | undefined => {
  const asked = events.find(e => e.type === 'Asked')
  if (!asked || events.some(e => e.type === 'Answered')) return undefined
  return { id: asked.id, node: asked.node, wants: events.some(e => e.type === 'Looked') ? 'post' : 'look' }
}
