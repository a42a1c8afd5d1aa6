import type { Job, Jobs } from '../../src/ports.js'

export interface JobsUnderTest {
  jobs: Jobs
  /** Does all that is due and says what was done, in order. */
  drain(): Promise<Job[]>
  /** Moves the clock that `recount` waits for. */
  advance(ms: number): void
  now(): number
}

/** What every Jobs keeps, whatever it is made of. */
export const jobsContract = (open: () => Promise<JobsUnderTest>): void => {
  let queue: JobsUnderTest
  beforeEach(async () => {
    queue = await open()
  })
  const enqueueAll = async (jobs: Job[]) => {
    for (const job of jobs) await queue.jobs.enqueue(job)
  }

  it('carries every kind of job unchanged', async () => {
    const jobs: Job[] = [
      { kind: 'collect', node: 'node-07', length: 3 },
      { kind: 'step', run: 'inc:0042/1', node: 'node-07', length: 4 },
      { kind: 'recount', node: 'node-07', length: 5, dueAt: queue.now() },
      { kind: 'answer', request: 'q:1', node: 'node-11' },
      { kind: 'publish', node: 'node-07', length: 3 },
      { kind: 'publish-answer', request: 'q:1' },
      { kind: 'compare', node: 'node-07', length: 3 },
      { kind: 'publish-storm' },
    ]
    await enqueueAll(jobs)
    const done = await queue.drain()
    const order = (job: Job) => JSON.stringify(job)
    expect(new Set(done.map(order))).toEqual(new Set(jobs.map(order)))
    expect(done).toHaveLength(jobs.length)
  })

  it('takes the same unfinished work once', async () => {
    const job: Job = { kind: 'step', run: 'r1', node: 'node-07', length: 4 }
    await Promise.all(Array.from({ length: 20 }, () => queue.jobs.enqueue(job)))
    await enqueueAll([{ ...job, length: 5 }])
    expect(await queue.drain()).toEqual([job, { ...job, length: 5 }])
  })

  it('takes finished work again, so that resume can ask for what was lost', async () => {
    const job: Job = { kind: 'collect', node: 'node-07', length: 3 }
    await enqueueAll([job])
    expect(await queue.drain()).toEqual([job])
    await enqueueAll([job])
    expect(await queue.drain()).toEqual([job])
  })

  it('makes one publish per node out of a burst', async () => {
    for (let length = 1; length <= 10; length++) {
      await enqueueAll([
        { kind: 'publish', node: 'node-07', length },
        { kind: 'publish', node: 'node-08', length },
      ])
    }
    const nodes = (await queue.drain()).map(job => ('node' in job ? job.node : '?'))
    expect(nodes.sort((a, b) => a.localeCompare(b))).toEqual(['node-07', 'node-08'])
  })

  it('holds a re-count until it is due by the given clock, which may jump (P-V7)', async () => {
    const job: Job = { kind: 'recount', node: 'node-07', length: 9, dueAt: queue.now() + 24 * 3_600_000 }
    await enqueueAll([job])
    expect(await queue.drain()).toEqual([])
    queue.advance(23 * 3_600_000)
    await enqueueAll([job])
    expect(await queue.drain()).toEqual([])
    queue.advance(3_600_000)
    await enqueueAll([job])
    expect(await queue.drain()).toEqual([job])
  })
}
