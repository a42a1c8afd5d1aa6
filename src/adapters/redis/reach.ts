import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { Unreachable } from '../../ports.js'

/** Where the store lives: a `redis://` or `rediss://` address, and the cluster that is part of every key. */
export interface Store {
  url: string
  cluster: string
}

/** Everything of one cluster shares a hash tag, so that one script may touch several keys. */
export const keyPrefix = (cluster: string): string => `cnibot:{${cluster}}`

/** Back within a second: a result may wait for it. */
const reconnect = (times: number): number => Math.min(1_000, 50 * 2 ** Math.min(times, 5))

/** Closing while the server is away waits this long for a connection that is gone already. */
const disconnectTimeout = 100

/**
 * Answers or fails within seconds, for the paths where a person waits. Nothing is queued while the connection is
 * down and nothing is sent again by the library (it would repeat a command whose answer was lost): `reach` repeats.
 */
const quickOptions = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  commandTimeout: 2_000,
  connectTimeout: 2_000,
  // A connection that went dead without a word is replaced.
  socketTimeout: 5_000,
  disconnectTimeout,
  retryStrategy: reconnect,
}

/** For BullMQ, which repeats its own commands and must outlive any outage. */
export const patientOptions = { maxRetriesPerRequest: null, retryStrategy: reconnect, disconnectTimeout }

export const openRedis = (url: string, onError: (error: Error) => void): Redis => {
  const redis = new Redis(url, quickOptions)
  redis.on('error', onError)
  return redis
}

/** Server answers that pass: it starts, or another one is being made the master. */
const passing = /^(LOADING|MASTERDOWN|READONLY|CLUSTERDOWN|TRYAGAIN)\b/

const worthRepeating = (error: unknown): boolean =>
  !(error instanceof Error && error.name === 'ReplyError') || passing.test(error.message)

const within = async <T>(attempt: Promise<T>, ms: number): Promise<T> => {
  const stop = new AbortController()
  const late = pause(ms, undefined, { signal: stop.signal }).then(() => {
    throw new Error('no answer in time')
  })
  late.catch(() => {})
  try {
    return await Promise.race([attempt, late])
  } finally {
    stop.abort()
  }
}

/**
 * Repeats `attempt` until it answers or `deadlineMs` has passed; it must be safe to run twice.
 * Throws Unreachable. After that it is unknown whether the last attempt took effect: read before deciding.
 */
export const reach = async <T>(what: string, deadlineMs: number, attempt: () => Promise<T>): Promise<T> => {
  const end = performance.now() + deadlineMs
  for (let wait = 20; ; wait = Math.min(wait * 2, 250)) {
    try {
      return await within(attempt(), Math.max(1, end - performance.now()))
    } catch (error) {
      const left = end - performance.now()
      if (!worthRepeating(error) || left <= wait) throw new Unreachable(unreachable(what, error))
      await pause(wait)
    }
  }
}

const unreachable = (what: string, error: unknown): string =>
  `Redis could not ${what}: ${error instanceof Error ? error.message : String(error)}. ` +
  'Check that the server at CNIBOT_REDIS_URL runs and accepts writes.'
