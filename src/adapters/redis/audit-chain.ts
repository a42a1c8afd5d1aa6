import type { Redis } from 'ioredis'
import { beginOf, chained, readLine, type Tip } from '../../core/audit/chain.js'
import { auditFacts } from '../../core/audit/entry.js'
import { type Audit, Unreachable } from '../../ports.js'
import { reach } from './reach.js'

/**
 * KEYS: the stream's list, the index of its kind, the chain. ARGV: expected length, stream, append id, number and hash of
 * the chain's last entry as the writer knows it, number of events, then the events, then the chain's new lines.
 * An event is kept as `<append id> <JSON>`: when the length no longer fits but the entry at that place carries this very
 * id, the first send had succeeded and only its answer was lost. Answers 1, 0 when somebody was first in the stream, or
 * the chain's last line when that has grown; in both cases nothing is written. All reading is done before the first
 * write: a script that fails half way is not taken back.
 */
const appendScript = `
local length = redis.call('LLEN', KEYS[1])
local expected = tonumber(ARGV[1])
local id = ARGV[3]
if length ~= expected then
  local there = redis.call('LINDEX', KEYS[1], expected)
  if there and string.sub(there, 1, #id) == id then return 1 end
  return 0
end
local behind = 6 + tonumber(ARGV[6])
if #ARGV > behind then
  local entries = redis.call('LLEN', KEYS[3])
  local last = redis.call('LINDEX', KEYS[3], -1) or ''
  local same = entries == 0 or string.sub(last, 1, 64) == ARGV[5]
  if entries ~= tonumber(ARGV[4]) or not same then return { entries, last } end
end
if behind > 6 then
  redis.call('SADD', KEYS[2], ARGV[2])
  redis.call('PERSIST', KEYS[1])
end
for i = 7, behind do redis.call('RPUSH', KEYS[1], id .. ' ' .. ARGV[i]) end
for i = behind + 1, #ARGV do redis.call('RPUSH', KEYS[3], ARGV[i]) end
return 1`

/** As many others may write to the chain between a look at its end and the append. Each round takes one of them further. */
const mostRounds = 2_000

export interface ChainedAppend {
  keys: { list: string; index: string }
  stream: string
  expectedLength: number
  id: string
  events: unknown[]
}

export interface AuditChain extends Audit {
  append(append: ChainedAppend): Promise<boolean>
}

interface Options {
  key: string
  cluster: string
  deadlineMs: number
  /** The chain was longer when this process looked last: entries are gone. Told once each time. */
  onShrunk: (error: Error) => void
}

const sendWith =
  (redis: Redis, { key, deadlineMs }: Options) =>
  (append: ChainedAppend, lines: string[], from: Tip): Promise<unknown> => {
    const { keys, stream, expectedLength, id, events } = append
    const texts = events.map(event => JSON.stringify(event))
    const before = [expectedLength, stream, id, from.n, from.hash, events.length]
    return reach(`append to ${stream}`, deadlineMs, () =>
      redis.eval(appendScript, 3, keys.list, keys.index, key, ...before, ...texts, ...lines),
    )
  }

const appending = (redis: Redis, options: Options): AuditChain['append'] => {
  const { cluster, onShrunk } = options
  const send = sendWith(redis, options)
  let known = beginOf(cluster)

  /** What the script said of the chain's end. A last line that cannot be read has a hash all the same: verify names it. */
  const moved = ([n, last]: [number, string]): Tip => {
    if (n < known.n)
      onShrunk(new Error(`the audit chain has ${n} entries and had ${known.n}: entries are gone from it`))
    return n === 0 ? beginOf(cluster) : { n, hash: last.slice(0, 64) }
  }

  return async append => {
    const { stream, expectedLength, events } = append
    const facts = events.flatMap((event, i) => auditFacts(stream, expectedLength + i, event) ?? [])
    for (let round = 0; round < mostRounds; round++) {
      const from = known
      const { lines, tip } = chained(from, facts)
      const answer = await send(append, lines, from)
      if (answer === 0) return false
      // Others of this process may have gone further meanwhile.
      if (answer === 1 && known === from) known = tip
      if (answer === 1) return true
      known = moved(answer as [number, string])
    }
    throw new Unreachable(
      `${stream}: others wrote to the audit chain ${mostRounds} times in between; try again`,
    )
  }
}

/**
 * The chain of one cluster in a Redis list. Hashes are made here, as Redis cannot: a writer that finds the chain grown
 * makes them anew on its new end and tries again.
 */
export const auditChain = (redis: Redis, options: Options): AuditChain => {
  const { key, deadlineMs } = options
  const read = <T>(ask: () => Promise<T>): Promise<T> => reach('read the audit chain', deadlineMs, ask)
  return {
    append: appending(redis, options),
    async head() {
      const last = await read(() => redis.lindex(key, -1))
      const found = last === null ? undefined : readLine(last)
      return found && { n: found.entry.n, hash: found.hash }
    },
    length: () => read(() => redis.llen(key)),
    lines: (after, most) => read(() => redis.lrange(key, after, after + most - 1)),
  }
}
