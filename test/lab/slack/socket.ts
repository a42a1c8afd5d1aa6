import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Faults } from './faults.js'
import type { Workspace } from './state.js'
import type { Fields, Timings } from './types.js'

type Kind = 'events_api' | 'interactive' | 'slash_commands'
export type Outcome =
  | { acked: true; ms: number; payload: Fields }
  | { acked: false; ms: number; error: 'operation_timeout' | 'dispatch_failed' }

interface Connection {
  socket: WebSocket
  /** Was told to go: gets nothing new while another connection stays. */
  leaving: boolean
}

interface Pending {
  kind: Kind
  payload: Fields
  attempt: number
  connection: Connection
  started: number
  timer: NodeJS.Timeout
  settle: (outcome: Outcome) => void
}

const MOST_CONNECTIONS = 10

/**
 * Socket Mode as Slack runs it: several connections, any of which may get any envelope; an event that is not
 * acknowledged comes again, on another connection if there is one; a click or a command does not, its person is told.
 */
export class SocketMode {
  private readonly server = new WebSocketServer({ noServer: true })
  private readonly tickets = new Set<string>()
  private readonly connections: Connection[] = []
  private readonly pending = new Map<string, Pending>()
  private readonly waiting: { payload: Fields; attempt: number }[] = []
  private readonly timers = new Set<NodeJS.Timeout>()
  private readonly workspace: Workspace
  private readonly faults: Faults
  private readonly timings: Timings
  private turn = 0
  private last: { id: string; kind: Kind; payload: Fields } | undefined

  constructor(http: Server, workspace: Workspace, faults: Faults, timings: Timings) {
    this.workspace = workspace
    this.faults = faults
    this.timings = timings
    http.on('upgrade', (request: IncomingMessage, socket, head) => {
      const ticket = new URL(request.url ?? '/', 'http://local').searchParams.get('ticket') ?? ''
      if (!this.tickets.delete(ticket)) {
        socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
        return
      }
      this.server.handleUpgrade(request, socket, head, ws => this.welcome(ws))
    })
    const ping = setInterval(() => {
      for (const { socket } of this.connections) socket.ping()
    }, timings.ping)
    this.timers.add(ping.unref())
  }

  /** Good for one connection. */
  ticket(): string {
    const ticket = this.workspace.ids.next('ticket')
    this.tickets.add(ticket)
    return ticket
  }

  get size(): number {
    return this.connections.length
  }

  /** Envelopes sent and not yet acknowledged, and events that wait for a connection. */
  get unsettled(): number {
    return this.pending.size + this.waiting.length
  }

  /** Resolves when it was acknowledged, or when Slack gives up on it. An event that nobody can take waits. */
  deliver(kind: Kind, payload: Fields): Promise<Outcome> {
    if (this.faults.takeDuplicate()) {
      // The copy goes out right behind the original, in an envelope of its own.
      setImmediate(() => void this.send(kind, payload, kind === 'events_api' ? 1 : 0))
    }
    return this.send(kind, payload, 0)
  }

  /** The newest click or command once more, the same envelope to the letter: what Slack does when it lost an answer. */
  replay(): Promise<Outcome> {
    if (this.last === undefined) throw new Error('nothing was pressed yet')
    const { id, kind, payload } = this.last
    return this.send(kind, payload, 0, undefined, id)
  }

  /** Tells every connection to go: `warning` closes it ten seconds later, `refresh_requested` at once. */
  rotate(reason: 'warning' | 'refresh_requested'): void {
    for (const connection of this.connections) {
      connection.leaving = true
      connection.socket.send(JSON.stringify({ type: 'disconnect', reason, debug_info: { host: 'local' } }))
      const close = (): void => connection.socket.close()
      if (reason === 'warning') this.later(10_000, close)
      else close()
    }
  }

  /** More events than an hour allows: Slack says so with a payload that holds no event. */
  rateLimited(): Promise<Outcome> {
    const minute_rate_limited = Math.floor(this.workspace.now() / 60_000) * 60
    return this.send(
      'events_api',
      {
        type: 'app_rate_limited',
        token: 'local',
        team_id: this.workspace.team.id,
        minute_rate_limited,
        api_app_id: this.workspace.appId,
      },
      0,
    )
  }

  /** Says goodbye to every connection; one that does not answer within a second is cut. */
  async close(): Promise<void> {
    for (const timer of this.timers) clearTimeout(timer)
    for (const pending of this.pending.values()) clearTimeout(pending.timer)
    this.pending.clear()
    this.server.close()
    const all = this.connections.map(({ socket }) => socket)
    const cut = setTimeout(() => {
      for (const socket of all) socket.terminate()
    }, 1_000)
    const open = all.filter(socket => socket.readyState !== socket.CLOSED)
    const closed = open.map(socket => once(socket, 'close'))
    for (const socket of open) socket.close(1001)
    await Promise.all(closed)
    clearTimeout(cut)
  }

  private welcome(socket: WebSocket): void {
    const connection = { socket, leaving: false }
    this.connections.push(connection)
    socket.on('message', (data: Buffer) => this.acknowledge(data.toString()))
    socket.on('error', () => socket.terminate())
    socket.on('close', () => this.gone(connection))
    if (this.connections.length > MOST_CONNECTIONS) {
      socket.send(JSON.stringify({ type: 'disconnect', reason: 'too_many_websockets' }))
      socket.close()
      return
    }
    const debug_info = { host: 'local', build_number: 1, approximate_connection_time: 18_060 }
    const connection_info = { app_id: this.workspace.appId }
    const hello = { type: 'hello', num_connections: this.connections.length, debug_info, connection_info }
    socket.send(JSON.stringify(hello))
    this.workspace.announce({ kind: 'connections' })
    for (const { payload, attempt } of this.waiting.splice(0)) void this.send('events_api', payload, attempt)
  }

  private gone(connection: Connection): void {
    const at = this.connections.indexOf(connection)
    if (at >= 0) this.connections.splice(at, 1)
    for (const [id, pending] of this.pending) {
      if (pending.connection !== connection) continue
      // What was on its way when the connection broke goes to another one; a click without one runs into its limit.
      if (pending.kind !== 'events_api' && this.connections.length === 0) continue
      clearTimeout(pending.timer)
      this.pending.delete(id)
      void this.send(pending.kind, pending.payload, pending.attempt + 1).then(pending.settle)
    }
    this.workspace.announce({ kind: 'connections' })
  }

  private next(not?: Connection): Connection | undefined {
    const open = this.connections.filter(each => each.socket.readyState === each.socket.OPEN)
    const staying = open.filter(each => !each.leaving)
    const usable = staying.length > 0 ? staying : open
    const others = usable.filter(each => each !== not)
    const choice = others.length > 0 ? others : usable
    this.turn += 1
    return choice[this.turn % choice.length]
  }

  private send(
    kind: Kind,
    payload: Fields,
    attempt: number,
    not?: Connection,
    envelope_id = this.workspace.ids.next('envelope-'),
  ): Promise<Outcome> {
    const connection = this.next(not)
    if (kind !== 'events_api') this.last = { id: envelope_id, kind, payload }
    if (connection === undefined) {
      if (kind === 'events_api') this.waiting.push({ payload, attempt: Math.max(attempt, 1) })
      return Promise.resolve({ acked: false, ms: 0, error: 'dispatch_failed' })
    }
    const retry =
      kind === 'events_api' ? { retry_attempt: attempt, retry_reason: attempt > 0 ? 'timeout' : '' } : {}
    const envelope = {
      envelope_id,
      type: kind,
      accepts_response_payload: kind !== 'events_api',
      payload,
      ...retry,
    }
    return new Promise(settle => {
      const timer = this.later(this.timings.acknowledge, () => this.late(envelope_id))
      const started = performance.now()
      this.pending.set(envelope_id, { kind, payload, attempt, connection, started, timer, settle })
      connection.socket.send(JSON.stringify(envelope))
    })
  }

  private acknowledge(data: string): void {
    const answer = JSON.parse(data) as { envelope_id?: string; payload?: Fields }
    const pending = this.pending.get(answer.envelope_id ?? '')
    if (pending === undefined || this.faults.takeDroppedAck()) return
    clearTimeout(pending.timer)
    this.pending.delete(answer.envelope_id ?? '')
    pending.settle({ acked: true, ms: performance.now() - pending.started, payload: answer.payload ?? {} })
  }

  private late(envelopeId: string): void {
    const pending = this.pending.get(envelopeId)
    if (pending === undefined) return
    this.pending.delete(envelopeId)
    const { kind, payload, attempt, connection, settle, started } = pending
    settle({ acked: false, ms: performance.now() - started, error: 'operation_timeout' })
    const wait = this.timings.retries[attempt]
    if (kind !== 'events_api' || wait === undefined) return
    this.later(wait, () => void this.send(kind, payload, attempt + 1, connection))
  }

  private later(milliseconds: number, act: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      act()
    }, milliseconds).unref()
    this.timers.add(timer)
    return timer
  }
}
