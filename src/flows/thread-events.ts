import type { History } from '../ports.js'
import { record } from './record.js'

/** Which message of the thread stands where. Written by the flow that draws the thread, after Slack took it. */
export type ThreadEvent = { at: number; key: string } & (
  | { type: 'Posted'; channel: string; ts: string; digest: string }
  | { type: 'Updated'; digest: string }
  | { type: 'Attached'; name: string }
  /** Deleted by somebody, or in a channel that is no longer ours. With its head the whole thread is lost. */
  | { type: 'Lost'; ts: string; why: string }
)

export interface Posted {
  channel: string
  ts: string
  digest: string
  attached: boolean
}

const apply = (posted: Map<string, Posted>, event: ThreadEvent): void => {
  const { key, type } = event
  const known = posted.get(key)
  if (type === 'Posted') {
    const { channel, ts, digest } = event
    posted.set(key, { channel, ts, digest, attached: false })
  } else if (known === undefined) return
  else if (type === 'Updated') posted.set(key, { ...known, digest: event.digest })
  else if (type === 'Attached') posted.set(key, { ...known, attached: true })
  else if (known.ts === event.ts) forget(posted, key)
}

const forget = (posted: Map<string, Posted>, key: string): void => {
  if (key === 'head') posted.clear()
  else posted.delete(key)
}

/** What stands in the thread now, by key. */
export const foldThread = (events: ThreadEvent[]): Map<string, Posted> => {
  const posted = new Map<string, Posted>()
  for (const event of events) apply(posted, event)
  return posted
}

/** How often the message of this key was lost. */
export const lossesOf = (events: ThreadEvent[], key: string): number =>
  events.filter(event => event.type === 'Lost' && event.key === key).length

/** Writes an event unless another process has written the same meanwhile. Answers what is written by then. */
export const recordThread = async (
  history: History,
  stream: string,
  event: ThreadEvent,
): Promise<ThreadEvent[]> => {
  const written = await record<ThreadEvent>(history, stream, events => {
    const known = foldThread(events).get(event.key)
    if (event.type === 'Posted' && known) return []
    if (event.type === 'Attached' && known?.attached) return []
    if (event.type === 'Lost' && known?.ts !== event.ts) return []
    return [event]
  })
  return written.events
}
