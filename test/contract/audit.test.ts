import { createHistory, type RedisHistory } from '../../src/adapters/redis/history.js'
import { fakeHistory } from '../fakes/history.js'
import { type LabRedis, startRedis } from '../lab/redis.js'
import { auditCluster, auditContract } from './audit.js'

describe('audit chain in memory', () => {
  auditContract(async () => fakeHistory(undefined, auditCluster))
})

describe('audit chain in Redis', () => {
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

  // One database for each case: the chain begins with the name of its cluster, so that name must be the same.
  auditContract(async () => {
    const history = createHistory({ url: `${redis.url}/${stores++}`, cluster: auditCluster })
    open.push(history)
    return history
  })
})
