import { setTimeout as pause } from 'node:timers/promises'
import { type JobHandlers, type JobWorker, startWorker } from '../../src/adapters/redis/job-worker.js'
import { createJobs, type RedisJobs } from '../../src/adapters/redis/jobs.js'
import type { Job } from '../../src/ports.js'
import { fakeJobs } from '../fakes/jobs.js'
import { type LabRedis, startRedis } from '../lab/redis.js'
import { jobsContract } from './jobs.js'

const movableClock = () => {
  let time = Date.UTC(2026, 10, 4)
  return {
    now: () => time,
    advance: (ms: number) => {
      time += ms
    },
  }
}

describe('jobs in memory', () => {
  jobsContract(async () => {
    const clock = movableClock()
    const jobs = fakeJobs(clock)
    const drain = async () => {
      const done: Job[] = []
      for (let job = jobs.take(); job; job = jobs.take()) done.push(job)
      return done
    }
    return { jobs, drain, ...clock }
  })
})

describe('jobs in Redis', () => {
  let redis: LabRedis
  const opened: RedisJobs[] = []
  let stores = 0
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(async () => {
    for (const jobs of opened) await jobs.close()
    await redis.stop()
  })

  jobsContract(async () => {
    const clock = movableClock()
    const store = { url: redis.url, cluster: `contract-${stores++}` }
    const jobs = createJobs({ ...store, clock })
    opened.push(jobs)
    const idle = async () => {
      const depths = await Promise.all([jobs.depth('worker'), jobs.depth('bot')])
      return depths.every(depth => depth.waiting + depth.active === 0)
    }
    const drain = async () => {
      const done: Job[] = []
      const note = async (job: Job) => {
        done.push(job)
      }
      const handlers: JobHandlers = {
        collect: note,
        step: note,
        recount: note,
        answer: note,
        publish: note,
        'publish-answer': note,
        compare: note,
        'publish-storm': note,
      }
      const workers: JobWorker[] = []
      for (const queue of ['worker', 'bot'] as const) {
        workers.push(startWorker({ ...store, queue, handlers, concurrency: 1, onError: () => {} }))
      }
      for (const worker of workers) await worker.ready()
      const deadline = performance.now() + 10_000
      while (!(await idle())) {
        if (performance.now() > deadline) throw new Error('the queues did not run empty within 10 s')
        await pause(10)
      }
      for (const worker of workers) await worker.close(5_000)
      return done
    }
    return { jobs, drain, ...clock }
  })
})
