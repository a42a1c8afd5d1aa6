import { setTimeout as pause } from 'node:timers/promises'
import { type App, type Receiver, SocketModeReceiver } from '@slack/bolt'
import type { Log } from '../../ports.js'
import { quietLogger } from './client.js'

export interface SocketOptions {
  appToken: string
  apiUrl?: string | undefined
  log: Log
  /** A rotation leaves one connection deaf for seconds; the others hear meanwhile. */
  connections: number
  timeoutMs: number
}

const longestWait = 30_000

/** Several Socket Mode connections behind one Bolt app. Slack sends each envelope to any one of them. */
export class SocketReceivers implements Receiver {
  private readonly receivers: SocketModeReceiver[]
  private readonly open = new Set<SocketModeReceiver>()
  private readonly log: Log
  private stopped = false

  constructor(options: SocketOptions) {
    const { appToken, apiUrl, log, connections, timeoutMs } = options
    this.log = log
    this.receivers = Array.from({ length: connections }, () => {
      const receiver = new SocketModeReceiver({
        appToken,
        logger: quietLogger(log),
        // An object of its own for each: the library writes into what it is given.
        installerOptions: {
          clientOptions: {
            ...(apiUrl === undefined ? {} : { slackApiUrl: apiUrl }),
            retryConfig: { retries: 2, factor: 1.3 },
            timeout: timeoutMs,
          },
        },
      })
      receiver.client.on('connected', () => this.open.add(receiver))
      for (const gone of ['disconnected', 'reconnecting', 'close'])
        receiver.client.on(gone, () => this.open.delete(receiver))
      this.guardMessages(receiver)
      return receiver
    })
  }

  /** Connections that hear Slack now. */
  get connected(): number {
    return this.open.size
  }

  init(app: App): void {
    for (const receiver of this.receivers) receiver.init(app)
  }

  /** Rejects when the first connection cannot be made: a wrong token or address is for the start-up to tell. */
  async start(): Promise<void> {
    for (const receiver of this.receivers) {
      await receiver.start()
      this.guardRestart(receiver)
    }
  }

  async stop(): Promise<void> {
    this.stopped = true
    await Promise.all(
      this.receivers.map(receiver => {
        const left = receiver
          .stop()
          .catch((error: unknown) => this.log.warn({}, `Slack connection: ${String(error)}`))
        // Disconnecting a connection that is not there never ends.
        return Promise.race([left, pause(2_000, undefined, { ref: false })])
      }),
    )
  }

  // socket-mode 3.1.0 throws inside its own handler on `app_rate_limited`, which has no inner event: unhandled, that
  // would end the process just when it is needed.
  private guardMessages(receiver: SocketModeReceiver): void {
    const { client } = receiver
    const listeners = client.listeners('ws_message')
    client.removeAllListeners('ws_message')
    client.on('ws_message', (...message: unknown[]) => {
      for (const listener of listeners)
        Promise.resolve(Reflect.apply(listener, client, message)).catch((error: unknown) =>
          this.log.error({}, `a message from Slack could not be read: ${String(error)}`),
        )
    })
  }

  // The library reconnects in a timer whose promise nobody holds: a rejection there would end the process as well.
  private guardRestart(receiver: SocketModeReceiver): void {
    const { client } = receiver
    const start = client.start.bind(client)
    client.start = async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await start()
        } catch (error) {
          if (this.stopped) return { ok: false }
          const wait = Math.min(longestWait, 500 * 2 ** Math.min(attempt, 10))
          this.log.error({}, `Slack cannot be reached, next try in ${wait} ms: ${String(error)}`)
          await pause(wait, undefined, { ref: false })
        }
      }
    }
  }
}
