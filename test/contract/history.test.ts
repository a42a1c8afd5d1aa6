import { createHistory, type RedisHistory } from '../../src/adapters/redis/history.js'
import { fakeHistory } from '../fakes/history.js'
import { type LabRedis, startRedis } from '../lab/redis.js'
import { historyContract } from './history.js'

describe('history in memory', () => {
  historyContract(async () => fakeHistory())
})

describe('history in Redis', () => {
  let redis: LabRedis
  const open: RedisHistory[] = []
  let stores = 0
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(async () => {
    for (const history of open) await history.close()
    await redis.stop()
  })

  historyContract(async () => {
    const history = createHistory({ url: redis.url, cluster: `contract-${stores++}` })
    open.push(history)
    return history
  })
})
