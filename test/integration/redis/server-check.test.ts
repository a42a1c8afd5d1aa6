import { Redis } from 'ioredis'
import { checkServer } from '../../../src/adapters/redis/server-check.js'
import { Unreachable } from '../../../src/ports.js'
import { startRedis } from '../../lab/redis.js'

describe('the start-up check of Redis', () => {
  it('finds nothing wrong with append-only persistence and no eviction', async () => {
    const redis = await startRedis()
    expect(await checkServer(redis.url)).toEqual([])
    await redis.stop()
  })

  it('names all that is wrong at once, with what to set', async () => {
    const redis = await startRedis({ appendonly: false, args: ['--maxmemory-policy', 'allkeys-lru'] })
    expect(await checkServer(redis.url)).toEqual([
      'Redis forgets on a restart: set "appendonly yes", or histories and approvals are lost',
      'Redis may evict keys (maxmemory-policy allkeys-lru): set it to noeviction',
    ])
    await redis.stop()
  })

  it('refuses a replica', async () => {
    const master = await startRedis()
    const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(master.port)] })
    expect(await checkServer(replica.url)).toEqual(['Redis is a slave; give the address of the master'])
    await replica.stop()
    await master.stop()
  })

  it('says in one line that nothing answers, or that the password is wrong', async () => {
    const redis = await startRedis()
    const url = redis.url
    await redis.kill9()
    const attempt = checkServer(url, 1_000)
    await expect(attempt).rejects.toThrow(Unreachable)
    await expect(attempt).rejects.toThrow(/^Redis does not answer: .*ECONNREFUSED.*CNIBOT_REDIS_URL/)
    await redis.stop()

    const locked = await startRedis()
    const admin = new Redis(locked.url)
    await admin.config('SET', 'requirepass', 'right')
    admin.disconnect()
    await expect(checkServer(locked.url.replace('//', '//:wrong@'), 1_000)).rejects.toThrow(/WRONGPASS/)
    await locked.stop()
  })
})
