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
  /** How long one operation may take with its rate limits and repeats, the last call not counted; 20 s. */
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

  /** When an operation that begins now must be over: it may be made of several calls. */
  deadline(): number {
    return performance.now() + this.patienceMs
  }

  /** Runs `call`; waits for rate limits and repeats what may be repeated, until the deadline. Throws the port's errors. */
  async through<T>(
    channel: string,
    what: string,
    repeatable: boolean,
    call: () => Promise<T>,
    deadline = this.deadline(),
  ): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      await this.opened(channel, what, deadline)
      try {
        return await call()
      } catch (error) {
        const seconds = retryAfter(error)
        if (seconds !== undefined) {
          this.closedUntil.set(channel, performance.now() + seconds * 1_000)
          attempt--
          continue
        }
        const again = repeatable && isAmbiguous(error) && attempt < mostAttempts
        if (!again || performance.now() + 200 * attempt > deadline) throw asPortError(error, what)
        await pause(200 * attempt)
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
