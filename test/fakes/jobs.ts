import type { Clock, Job, Jobs } from '../../src/ports.js'

export interface FakeJobs extends Jobs {
  /** Unfinished jobs in the order they were asked for. */
  waiting(): Job[]
  /** The next job that is due: removed, as a worker that finished it would. Undefined when there is none. */
  take(): Job | undefined
}

const idOf = (job: Job): string => {
  switch (job.kind) {
    case 'publish':
      return `publish ${job.node}`
    case 'step':
      return `step ${job.run} ${job.length}`
    case 'publish-storm':
      return job.kind
    case 'collect':
    case 'compare':
    case 'recount':
      return `${job.kind} ${job.node} ${job.length}`
    case 'answer':
    case 'publish-answer':
      return `${job.kind} ${job.request}`
  }
}

/** The queue in memory: the same unfinished work twice is once, a re-count waits until it is due. */
export const fakeJobs = (clock: Clock = { now: () => Date.now() }): FakeJobs => {
  const jobs = new Map<string, Job>()
  return {
    async enqueue(job: Job): Promise<void> {
      if (!jobs.has(idOf(job))) jobs.set(idOf(job), job)
    },
    waiting: () => [...jobs.values()],
    take() {
      for (const [id, job] of jobs) {
        if (job.kind === 'recount' && job.dueAt > clock.now()) continue
        jobs.delete(id)
        return job
      }
      return undefined
    },
  }
}
