import { Redis } from 'ioredis'
import { Unreachable } from '../../ports.js'

/**
 * What is wrong with the server behind `url`, one line each; empty when all is well. Histories must survive a
 * restart and nothing of them may be evicted. Throws Unreachable when the server does not answer within `deadlineMs`.
 */
export const checkServer = async (url: string, deadlineMs = 5_000): Promise<string[]> => {
  const redis = new Redis(url, {
    connectTimeout: deadlineMs,
    commandTimeout: deadlineMs,
    disconnectTimeout: 100,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  })
  let cause = 'no answer in time'
  redis.on('error', error => {
    cause = error.message
  })
  try {
    return wrongWith(fieldsOf(await redis.info()))
  } catch (error) {
    if (error instanceof Error && error.name === 'ReplyError') cause = error.message
    throw new Unreachable(
      `Redis does not answer: ${cause}. Check CNIBOT_REDIS_URL, the password and the network.`,
    )
  } finally {
    redis.disconnect()
  }
}

const fieldsOf = (info: string): Map<string, string> => {
  const pairs = info.split('\r\n').map(line => line.split(':', 2))
  return new Map(
    pairs.flatMap(([name, value]) => (name && value !== undefined ? [[name, value] as const] : [])),
  )
}

/** Field names as Redis 5 to 8 and Valkey print them under INFO. */
const wrongWith = (info: Map<string, string>): string[] => {
  const wrong: string[] = []
  const version = info.get('redis_version') ?? 'unknown'
  const role = info.get('role')
  const policy = info.get('maxmemory_policy')
  if (!(Number.parseFloat(version) >= 6.2)) wrong.push(`Redis is version ${version}; 6.2 or newer is needed`)
  if (role !== 'master')
    wrong.push(`Redis is a ${role ?? 'server of unknown role'}; give the address of the master`)
  if (info.get('aof_enabled') !== '1') {
    wrong.push('Redis forgets on a restart: set "appendonly yes", or histories and approvals are lost')
  }
  if (info.get('aof_enabled') === '1' && info.get('aof_last_write_status') === 'err') {
    wrong.push('Redis could not write its append-only file: look at its disk')
  }
  if (policy !== 'noeviction') {
    wrong.push(`Redis may evict keys (maxmemory-policy ${policy ?? 'unknown'}): set it to noeviction`)
  }
  return wrong
}
