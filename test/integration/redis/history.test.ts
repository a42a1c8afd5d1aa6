import { Redis } from 'ioredis'
import { createHistory, type RedisHistory } from '../../../src/adapters/redis/history.js'
import { Unreachable } from '../../../src/ports.js'
import { bundleWithoutAnswers } from '../../fakes/bundle.js'
import { type LabRedis, startRedis } from '../../lab/redis.js'
import { startLossyProxy } from './lossy-proxy.js'

let redis: LabRedis
let raw: Redis
const opened: RedisHistory[] = []
const open = (more: { url?: string; cluster?: string; deadlineMs?: number } = {}): RedisHistory => {
  const history = createHistory({ url: redis.url, cluster: 'prod-eu1', ...more })
  opened.push(history)
  return history
}

beforeEach(async () => {
  redis = await startRedis()
  raw = new Redis(redis.url, { disconnectTimeout: 100 })
  raw.on('error', () => {})
})
afterEach(async () => {
  for (const history of opened.splice(0)) await history.close()
  raw.disconnect()
  await redis.stop()
})

describe('history in Redis', () => {
  it('appends once although the answer to the first send was lost', async () => {
    const proxy = await startLossyProxy(redis.port)
    const history = open({ url: proxy.url })
    await history.append('run/1', 0, [{ n: 1 }])
    proxy.loseNextAnswer()
    expect(await history.append('run/1', 1, [{ n: 2 }, { n: 3 }])).toBe(true)
    expect(proxy.lost()).toBe(1)
    expect((await history.read('run/1')).events).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
    await proxy.close()
  })

  it('loses and doubles nothing when Redis is killed and started again under appends', async () => {
    const history = open({ deadlineMs: 30_000 })
    let crash: Promise<void> | undefined
    for (let n = 0; n < 300; n++) {
      expect(await history.append('run/1', n, [{ n }])).toBe(true)
      if (n === 100) crash = redis.kill9().then(() => redis.restart())
    }
    await crash
    const { events } = await history.read<{ n: number }>('run/1')
    expect(events.map(event => event.n)).toEqual(Array.from({ length: 300 }, (_, n) => n))
  })

  it('throws Unreachable, in one line that says what to check, while Redis is down', async () => {
    const history = open({ deadlineMs: 300 })
    await history.append('run/1', 0, [{ n: 1 }])
    await redis.kill9()
    const calls = [
      history.read('run/1'),
      history.append('run/1', 1, [{ n: 2 }]),
      history.streams('run/'),
      history.forget('run/1', 1_000),
      history.wasHandled('click/1'),
      history.markHandled('click/1', 1_000),
      history.bundle('b'),
    ]
    for (const call of await Promise.allSettled(calls)) {
      expect(call).toMatchObject({ status: 'rejected', reason: expect.any(Unreachable) })
      if (call.status === 'rejected')
        expect(call.reason.message).toMatch(/^Redis could not .*CNIBOT_REDIS_URL/)
    }
    await redis.restart()
    const later = open({ deadlineMs: 20_000 })
    expect((await later.read('run/1')).length).toBe(1)
  })

  it('throws Unreachable when Redis refuses writes, with its reason', async () => {
    const history = open()
    await history.append('run/1', 0, [{ n: 1 }])
    await raw.config('SET', 'maxmemory', '1')
    await expect(history.append('run/1', 1, [{ n: 2 }])).rejects.toThrow(
      /Redis could not append to run\/1: .*OOM/,
    )
  })

  it('keeps clusters apart and puts all keys of one under one hash tag', async () => {
    await open().append('incident/node-07', 0, [{ here: 'eu' }])
    const other = open({ cluster: 'prod-us1' })
    expect((await other.read('incident/node-07')).length).toBe(0)
    expect(await other.streams('incident/')).toEqual([])
    await open().markHandled('click/1', 60_000)
    await open().keepBundle('b-1', bundleWithoutAnswers('node-07'), 60_000)
    const keys = await raw.keys('*')
    expect(keys).toHaveLength(5)
    for (const key of keys) expect(key).toMatch(/^cnibot:\{prod-eu1\}:/)
  })

  it('drops a forgotten history after its time, and keeps one that was taken back', async () => {
    const history = open()
    const key = (name: string) => `cnibot:{prod-eu1}:history:request/${name}`
    for (const name of ['done', 'back']) {
      await history.append(`request/${name}`, 0, [{ n: 1 }])
      await history.forget(`request/${name}`, 60_000)
      expect(await raw.pttl(key(name))).toBeGreaterThan(0)
    }
    await history.append('request/back', 1, [{ n: 2 }])
    expect(await raw.pttl(key('back'))).toBe(-1)
    await raw.pexpire(key('done'), -1)
    expect((await history.read('request/done')).length).toBe(0)
    expect(await history.streams('request/')).toEqual(['request/back'])
  })

  it('keeps a bundle compressed, for as long as asked', async () => {
    const history = open()
    const bundle = { ...bundleWithoutAnswers('node-07'), shown: 'x'.repeat(100_000) }
    await history.keepBundle('b-1', bundle, 60_000)
    const key = 'cnibot:{prod-eu1}:bundle:b-1'
    expect(await raw.strlen(key)).toBeLessThan(5_000)
    expect(await raw.pttl(key)).toBeGreaterThan(0)
    expect(await history.bundle('b-1')).toEqual(bundle)
    await raw.pexpire(key, -1)
    expect(await history.bundle('b-1')).toBeUndefined()
  })
})
