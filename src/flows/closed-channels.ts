import type { Clock, Log } from '../ports.js'

/** Channels that take no messages: archived, or the app is no member. Kept in memory; the next attempt finds out anew. */
export interface ClosedChannels {
  /** Logs it once a minute at most. */
  note(channel: string, why: string): void
  clear(channel: string): void
  /** One line each, for people. */
  list(): string[]
}

const saidEveryMs = 60_000

export const closedChannels = (clock: Clock, log: Log): ClosedChannels => {
  const closed = new Map<string, { why: string; saidAt: number }>()
  return {
    note: (channel, why) => {
      const now = clock.now()
      const before = closed.get(channel)
      const quiet = before !== undefined && now - before.saidAt < saidEveryMs
      closed.set(channel, { why, saidAt: quiet ? before.saidAt : now })
      if (!quiet) log.error({ channel }, `nothing can be shown in this channel: ${why}`)
    },
    clear: channel => {
      closed.delete(channel)
    },
    list: () => [...closed.values()].map(({ why }) => why),
  }
}
