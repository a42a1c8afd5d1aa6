import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { Redis } from 'ioredis'
import {
  type JobWorker,
  type JobWorkerSettings,
  startWorker,
} from '../../../src/adapters/redis/job-worker.js'
import { createJobs, type RedisJobs } from '../../../src/adapters/redis/jobs.js'
import { type Job, Unreachable } from '../../../src/ports.js'
import { type LabRedis, startRedis } from '../../lab/redis.js'

const cluster = 'prod-eu1'
const clock = { now: () => Date.now() }
let redis: LabRedis
let jobs: RedisJobs
const workers: JobWorker[] = []
const errors: string[] = []

beforeEach(async () => {
  redis = await startRedis()
  jobs = createJobs({ url: redis.url, cluster, clock, deadlineMs: 20_000 })
})
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.close(2_000)
  await jobs.close()
  await redis.stop()
  errors.splice(0)
})

const work = (more: Partial<JobWorkerSettings> & Pick<JobWorkerSettings, 'handlers'>): JobWorker => {
  const worker = startWorker({
    url: redis.url,
    cluster,
    queue: 'worker',
    concurrency: 2,
    lockMs: 1_000,
    stalledCheckMs: 200,
    retryMs: 1,
    onError: error => errors.push(error.message),
    ...more,
  })
  workers.push(worker)
  return worker
}

/** A promise and the function that fulfils it. */
const signalled = <T>() => {
  let tell: (value: T) => void = () => {}
  const told = new Promise<T>(resolve => {
    tell = resolve
  })
  return { tell, told }
}

const collect: Job = { kind: 'collect', node: 'node-07', length: 1 }

describe('jobs in Redis', () => {
  it('runs the job of a killed process again, in another one (C5)', async () => {
    await jobs.enqueue(collect)
    const doomed = takeAndHang(redis.url)
    await doomed.took
    const again = signalled<number>()
    work({ handlers: { collect: async (_job, { attempt }) => again.tell(attempt) } })
    doomed.child.kill('SIGKILL')
    expect(await again.told).toBe(2)
  })

  it('keeps the same id from running twice while it runs, and takes it again afterwards', async () => {
    let runs = 0
    const first = signalled<void>()
    const release = signalled<void>()
    const third = signalled<void>()
    work({
      handlers: {
        collect: async () => {
          runs++
          if (runs === 1) {
            first.tell()
            await release.told
          } else third.tell()
        },
      },
    })
    await jobs.enqueue(collect)
    await first.told
    await Promise.all([jobs.enqueue(collect), jobs.enqueue(collect)])
    expect(await jobs.depth('worker')).toEqual({ waiting: 0, active: 1, delayed: 0 })
    release.tell()
    await emptied('worker')
    expect(runs).toBe(1)
    await jobs.enqueue(collect)
    await third.told
  })

  it('runs one more publish for a burst that arrives while one runs', async () => {
    const seen: number[] = []
    const first = signalled<void>()
    const release = signalled<void>()
    work({
      queue: 'bot',
      handlers: {
        publish: async job => {
          seen.push(job.length)
          if (seen.length > 1) return
          first.tell()
          await release.told
        },
      },
    })
    await jobs.enqueue({ kind: 'publish', node: 'node-07', length: 1 })
    await first.told
    for (let length = 2; length <= 40; length++)
      await jobs.enqueue({ kind: 'publish', node: 'node-07', length })
    release.tell()
    await emptied('bot')
    expect(seen).toEqual([1, 40])
  })

  it('tries a job again that could not record, then tells and lets the same work be asked for again', async () => {
    let runs = 0
    const gone = signalled<Job>()
    work({
      handlers: {
        collect: async () => {
          runs++
          throw new Unreachable('Redis could not append')
        },
      },
      onGivenUp: job => gone.tell(job),
    })
    await jobs.enqueue(collect)
    expect(await gone.told).toEqual(collect)
    expect(runs).toBe(6)
    expect(errors).toContain('job collect-node-07-1: Redis could not append')
    expect(await jobs.depth('worker')).toEqual({ waiting: 0, active: 0, delayed: 0 })
    runs = 0
    await jobs.enqueue(collect)
    await emptied('worker')
    expect(runs).toBe(6)
  })

  it('goes on by itself after Redis was killed and started again; a delayed re-count is still there (P-V7)', async () => {
    const ran = signalled<Job>()
    const worker = work({ handlers: { collect: async job => ran.tell(job) } })
    await worker.ready()
    await jobs.enqueue({ kind: 'recount', node: 'node-07', length: 9, dueAt: clock.now() + 86_400_000 })
    await redis.kill9()
    await redis.restart()
    await jobs.enqueue(collect)
    expect(await ran.told).toEqual(collect)
    expect((await jobs.depth('worker')).delayed).toBe(1)
  })

  it('throws Unreachable while Redis is down', async () => {
    const hasty = createJobs({ url: redis.url, cluster, clock, deadlineMs: 300 })
    await hasty.depth('bot')
    await redis.kill9()
    await expect(hasty.enqueue(collect)).rejects.toThrow(Unreachable)
    await expect(hasty.enqueue(collect)).rejects.toThrow(
      /^Redis could not enqueue a collect job: .*CNIBOT_REDIS_URL/,
    )
    await redis.restart()
    await hasty.close()
  })

  it('says when it could not finish before the deadline of a shutdown', async () => {
    const began = signalled<void>()
    const release = signalled<void>()
    const worker = work({
      handlers: {
        collect: async () => {
          began.tell()
          await release.told
        },
      },
    })
    await jobs.enqueue(collect)
    await began.told
    expect(await worker.close(50)).toBe(false)
    release.tell()
    expect(await worker.close(5_000)).toBe(true)
  })

  it('gives up at once on a job it does not know, and on one it has no handler for', async () => {
    const raw = new Redis(redis.url)
    const gone = signalled<Job>()
    work({ handlers: {}, onGivenUp: job => gone.tell(job) })
    await jobs.enqueue(collect)
    expect(await gone.told).toEqual(collect)
    expect(errors.join('\n')).toContain('no handler for collect jobs')
    const keys = await raw.keys('*')
    expect(keys.filter(key => !key.startsWith('cnibot:{prod-eu1}:'))).toEqual([])
    raw.disconnect()
  })
})

const emptied = async (queue: 'worker' | 'bot'): Promise<void> => {
  const deadline = performance.now() + 20_000
  for (;;) {
    const { waiting, active, delayed } = await jobs.depth(queue)
    if (waiting + active + delayed === 0) return
    if (performance.now() > deadline) throw new Error(`the ${queue} queue did not run empty within 20 s`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

/** A process that takes one job with a short lock and never finishes it. */
const takeAndHang = (url: string): { child: ChildProcess; took: Promise<unknown> } => {
  const bullmq = createRequire(import.meta.url).resolve('bullmq')
  const program = `
    const { Worker } = require(${JSON.stringify(bullmq)})
    const connection = { url: ${JSON.stringify(url)}, maxRetriesPerRequest: null }
    const hang = async () => { console.log('took'); await new Promise(() => {}) }
    new Worker('worker', hang, { connection, prefix: 'cnibot:{${cluster}}', lockDuration: 1000, stalledInterval: 200 })
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  return { child, took: once(child.stdout, 'data') }
}
