import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Bundle } from '../../core/evidence/bundle.js'
import type { Audit, History, Recorded } from '../../ports.js'
import { auditChain } from './audit-chain.js'
import { keyPrefix, openRedis, reach, type Store } from './reach.js'

export interface HistoryOptions extends Store {
  /** How long one call may try before it throws Unreachable. Default 5 s. */
  deadlineMs?: number
  onError?: (error: Error) => void
}

export interface RedisHistory extends History {
  audit: Audit
  close(): Promise<void>
}

const forgetScript = `
redis.call('SREM', KEYS[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])`

const pack = promisify(gzip)
const unpack = promisify(gunzip)

/** Append-only histories in Redis lists. Every method throws Unreachable when Redis does not answer in time. */
export const createHistory = (options: HistoryOptions): RedisHistory => {
  const prefix = keyPrefix(options.cluster)
  const deadlineMs = options.deadlineMs ?? 5_000
  const onError = options.onError ?? (() => {})
  const redis = openRedis(options.url, onError)
  const chain = auditChain(redis, {
    key: `${prefix}:audit`,
    cluster: options.cluster,
    deadlineMs,
    onShrunk: onError,
  })
  const listKey = (stream: string) => `${prefix}:history:${stream}`
  const handledKey = (key: string) => `${prefix}:handled:${key}`
  // One index a kind: runs are many and never listed.
  const index = (stream: string) => `${prefix}:streams:${stream.split('/', 1)[0]}`

  return {
    audit: chain,

    async read<E>(stream: string): Promise<Recorded<E>> {
      const entries = await reach(`read ${stream}`, deadlineMs, () => redis.lrange(listKey(stream), 0, -1))
      const events = entries.map(entry => JSON.parse(entry.slice(entry.indexOf(' ') + 1)) as E)
      return { events, length: events.length }
    },

    append: <E>(stream: string, expectedLength: number, events: E[]): Promise<boolean> => {
      const keys = { list: listKey(stream), index: index(stream) }
      return chain.append({ keys, stream, expectedLength, id: randomUUID(), events })
    },

    async streams(begin: string): Promise<string[]> {
      const all = await reach('list the histories', deadlineMs, () => redis.smembers(index(begin)))
      return all.filter(stream => stream.startsWith(begin)).sort()
    },

    async forget(stream: string, ttlMs: number): Promise<void> {
      await reach(`forget ${stream}`, deadlineMs, () =>
        redis.eval(forgetScript, 2, listKey(stream), index(stream), stream, ttlMs),
      )
    },

    async keepBundle(id: string, bundle: Bundle, ttlMs: number): Promise<void> {
      const packed = await pack(JSON.stringify(bundle))
      await reach(`keep bundle ${id}`, deadlineMs, () =>
        redis.set(`${prefix}:bundle:${id}`, packed, 'PX', ttlMs),
      )
    },

    async bundle(id: string): Promise<Bundle | undefined> {
      const packed = await reach(`read bundle ${id}`, deadlineMs, () =>
        redis.getBuffer(`${prefix}:bundle:${id}`),
      )
      if (packed === null) return undefined
      return JSON.parse((await unpack(packed)).toString('utf8')) as Bundle
    },

    async wasHandled(key: string): Promise<boolean> {
      return (await reach(`look up ${key}`, deadlineMs, () => redis.exists(handledKey(key)))) === 1
    },

    async markHandled(key: string, ttlMs: number): Promise<void> {
      await reach(`mark ${key}`, deadlineMs, () => redis.set(handledKey(key), '1', 'PX', ttlMs))
    },

    async close(): Promise<void> {
      redis.disconnect()
    },
  }
}
