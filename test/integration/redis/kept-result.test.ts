import { createHistory, type RedisHistory } from '../../../src/adapters/redis/history.js'
import { type JobWorker, startWorker } from '../../../src/adapters/redis/job-worker.js'
import { createJobs, type RedisJobs } from '../../../src/adapters/redis/jobs.js'
import { runStream } from '../../../src/core/incident/incident.js'
import type { RunEvent } from '../../../src/core/runbook/run.js'
import { legalHistory } from '../../../src/flows/legal-history.js'
import { runStep } from '../../../src/flows/run-step.js'
import type { Cluster, History } from '../../../src/ports.js'
import { fakeCluster, fakeNode } from '../../fakes/cluster.js'
import { fakeLog } from '../../fakes/log.js'
import { type LabRedis, startRedis } from '../../lab/redis.js'
import { FakeNode } from '../../saga/fake-node.js'
import { settings } from '../../saga/world.js'
import { digest, event, opened, planned, planOf } from '../../unit/runbook/runs.js'

const store = (redis: LabRedis) => ({ url: redis.url, cluster: 'prod-eu1' })
const stream = runStream('node-07.1-r1')
const clock = { now: () => Date.now() }

let redis: LabRedis
let jobs: RedisJobs
let history: RedisHistory
const workers: JobWorker[] = []
beforeEach(async () => {
  redis = await startRedis()
  jobs = createJobs({ ...store(redis), clock, deadlineMs: 500 })
  history = createHistory({ ...store(redis), deadlineMs: 500 })
})
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.close(2_000)
  await jobs.close()
  await history.close()
  await redis.stop()
})

/** A worker with a queue of its own over the real Redis; cluster and node are in memory. */
const work = (cluster: Cluster, over: Partial<History> = {}): void => {
  const kept = legalHistory({ ...history, ...over }, { incidentWindowMs: 86_400_000 })
  const deps = {
    clusterName: 'prod-eu1',
    cluster,
    shell: new FakeNode(clock).shell(),
    clock,
    jobs,
    history: kept,
    runbooks: { list: async () => [] },
    log: fakeLog(),
    // Slower back than the other one is at the job.
    settings: { ...settings, lookEveryMs: 500, takeOverAfterMs: 3_000 },
  }
  workers.push(
    startWorker({
      ...store(redis),
      queue: 'worker',
      handlers: { step: (job, { signal }) => runStep(deps)(job, signal) },
      concurrency: 1,
      lockMs: 1_000,
      stalledCheckMs: 200,
      retryMs: 50,
      onError: () => {},
    }),
  )
}

/** Reads until there is an answer, for a while. */
const until = async <T>(what: string, look: () => Promise<T | undefined>): Promise<T> => {
  const deadline = performance.now() + 40_000
  for (;;) {
    const found = await look().catch(() => undefined)
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error(`not within 40 s: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

test('B3: a step that ended while Redis was away for longer than its lock is recorded, and not done again', async () => {
  const plan = { ...planOf('cordon'), data: { wasUnschedulable: false, wasCordonedBy: undefined } }
  const approved = event(0, 'StepApproved', { index: 0, digest })
  await history.append<RunEvent>(stream, 0, [
    opened(),
    { ...planned(0, 'cordon'), plan } as RunEvent,
    approved,
  ])
  await jobs.enqueue({ kind: 'step', run: 'node-07.1-r1', node: 'node-07', length: 3 })

  const inMemory = fakeCluster({ nodes: [fakeNode('node-07', { uid: 'uid-7', bootId: 'boot-7' })] })
  const cordonedThenCut: Cluster = {
    ...inMemory,
    setSchedulable: async (...asked) => {
      const answer = await inMemory.setSchedulable(...asked)
      await redis.kill9()
      return answer
    },
  }
  let tries = 0
  const counting: Partial<History> = {
    read: async name => {
      if (inMemory.changes.length > 0) tries += 1
      return history.read(name)
    },
  }
  work(cordonedThenCut, counting)
  // Each try lasts half a second: by now the lock on the job has run out.
  await until('the result is kept', async () => (tries > 4 ? true : undefined))
  work(inMemory)
  await redis.restart()

  // Whoever takes the job now finds it done: wait until it has been served for good.
  await until('the run goes on', async () => {
    const { events: now } = await history.read<RunEvent>(stream)
    return now.some(each => 'index' in each && each.index === 1) ? true : undefined
  })
  expect(inMemory.changes).toEqual(['cordon node-07'])
  const { events: all } = await history.read<RunEvent>(stream)
  expect(all.filter(each => 'index' in each && each.index === 0).map(({ type }) => type)).toEqual([
    'StepPlanned',
    'StepApproved',
    'StepStarted',
    'StepDone',
  ])
})
