import { setTimeout as pause } from 'node:timers/promises'
import { type Logger, LogLevel, WebClient } from '@slack/web-api'
import { type Log, Unreachable } from '../../ports.js'
import { asPortError, isAmbiguous, retryAfter } from './failure.js'

export interface SlackAccess {
  botToken: string
  /** Ends with `/api/`; Slack's own where undefined. */
  apiUrl?: string | undefined
  log: Log
  /** One call; 10 s. */
  timeoutMs?: number
  /** How long one request may wait for rate limits altogether; 60 s. */
  patienceMs?: number
}

/** Slack's libraries log payloads at lower levels; only warnings and errors pass. */
export const quietLogger = (log: Log): Logger => ({
  debug: () => {},
  info: () => {},
  warn: (...words) => log.warn({ from: 'slack' }, words.map(String).join(' ')),
  error: (...words) => log.error({ from: 'slack' }, words.map(String).join(' ')),
  setLevel: () => {},
  getLevel: () => LogLevel.WARN,
  setName: () => {},
})

/**
 * A client that does each call once and never waits by itself: the library would repeat a post that Slack has stored
 * already, and after a 429 in one channel hold back all the others.
 */
export const openClient = ({ botToken, apiUrl, log, timeoutMs = 10_000 }: SlackAccess): WebClient =>
  new WebClient(botToken, {
    ...(apiUrl === undefined ? {} : { slackApiUrl: apiUrl }),
    retryConfig: { retries: 0 },
    timeout: timeoutMs,
    rejectRateLimitedCalls: true,
    maxRequestConcurrency: 10,
    logger: quietLogger(log),
  })

const mostAttempts = 3

/** Calls, one gate a channel: after a 429 the channel waits as long as Slack says, and only that channel. */
export class Gates {
  private readonly closedUntil = new Map<string, number>()

  constructor(private readonly patienceMs: number) {}

  /** Runs `call`; waits for rate limits within the patience and repeats what may be repeated. Throws the port's errors. */
  async through<T>(channel: string, what: string, repeatable: boolean, call: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.patienceMs
    for (let attempt = 1; ; attempt++) {
      await this.opened(channel, what, deadline)
      try {
        return await call()
      } catch (error) {
        const seconds = retryAfter(error)
        if (seconds !== undefined) {
          this.closedUntil.set(channel, performance.now() + seconds * 1_000)
          attempt--
        } else if (!(repeatable && isAmbiguous(error) && attempt < mostAttempts))
          throw asPortError(error, what)
        else await pause(200 * attempt)
      }
    }
  }

  private async opened(channel: string, what: string, deadline: number): Promise<void> {
    const until = this.closedUntil.get(channel) ?? 0
    const wait = until - performance.now()
    if (wait <= 0) return
    if (until > deadline)
      throw new Unreachable(
        `Slack limits the rate: ${what} may be tried again in ${Math.ceil(wait / 1_000)} s`,
      )
    await pause(wait)
  }
}
