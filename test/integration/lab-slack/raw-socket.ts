import { WebSocket } from 'ws'
import type { LocalSlack } from '../../lab/slack/index.js'

export interface Envelope {
  envelope_id?: string
  type: string
  reason?: string
  num_connections?: number
  retry_attempt?: number
  retry_reason?: string
  payload?: { type?: string; event?: { type: string; text?: string }; [key: string]: unknown }
}

/** A bare Socket Mode client: shows envelopes as they come, and acknowledges only when told to. */
export interface RawSocket {
  seen: Envelope[]
  next(wanted: (envelope: Envelope) => boolean): Promise<Envelope>
  ack(envelope: Envelope, payload?: object): void
  close(): void
  closed: Promise<void>
}

export async function rawSocket(slack: LocalSlack): Promise<RawSocket> {
  const headers = { authorization: `Bearer ${slack.appToken}` }
  const opened = await fetch(`${slack.apiUrl}apps.connections.open`, { method: 'POST', headers })
  const { url } = (await opened.json()) as { url: string }
  const socket = new WebSocket(url)
  const seen: Envelope[] = []
  const waiting = new Set<() => void>()
  socket.on('message', (data: Buffer) => {
    seen.push(JSON.parse(data.toString()) as Envelope)
    for (const look of waiting) look()
  })
  const taken = new Set<Envelope>()
  const next = (wanted: (envelope: Envelope) => boolean): Promise<Envelope> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = seen.find(envelope => !taken.has(envelope) && wanted(envelope))
        if (found === undefined) return
        clearTimeout(deadline)
        waiting.delete(look)
        taken.add(found)
        resolve(found)
      }
      const deadline = setTimeout(() => {
        waiting.delete(look)
        reject(new Error(`no such envelope within 10 s; seen: ${JSON.stringify(seen)}`))
      }, 10_000)
      waiting.add(look)
      look()
    })
  const raw: RawSocket = {
    seen,
    next,
    ack: ({ envelope_id }, payload) => socket.send(JSON.stringify({ envelope_id, payload })),
    close: () => socket.close(),
    closed: new Promise(resolve => socket.once('close', () => resolve())),
  }
  await next(envelope => envelope.type === 'hello')
  return raw
}
