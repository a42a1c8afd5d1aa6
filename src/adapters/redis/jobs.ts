import { type JobsOptions, Queue } from 'bullmq'
import type { Clock, Job, Jobs } from '../../ports.js'
import { keyPrefix, patientOptions, reach, type Store } from './reach.js'

export type QueueName = 'worker' | 'bot'

/** The worker reaches nodes and changes the cluster; the bot speaks Slack. */
export const servedBy: Record<Job['kind'], QueueName> = {
  collect: 'worker',
  step: 'worker',
  recount: 'worker',
  answer: 'worker',
  compare: 'worker',
  publish: 'bot',
  'publish-answer': 'bot',
  'publish-storm': 'bot',
}

export interface JobsSettings extends Store {
  clock: Clock
  /** How long one call may try before it throws Unreachable. Default 5 s. */
  deadlineMs?: number
  onError?: (error: Error) => void
}

export interface QueueDepth {
  waiting: number
  active: number
  delayed: number
}

export interface RedisJobs extends Jobs {
  depth(queue: QueueName): Promise<QueueDepth>
  close(): Promise<void>
}

/** What is stored; the number changes with the shape, since two versions run during an upgrade. */
export interface StoredJob {
  v: 1
  job: Job
}

/**
 * Kind, what it is about and the history's length: the same work twice is once for as long as it is unfinished.
 * What publishes is coalesced instead, per node or storm. BullMQ refuses ':' in an id, and ids of digits only.
 */
const jobId = (job: Exclude<Job, { kind: 'publish' | 'publish-storm' }>): string => {
  switch (job.kind) {
    case 'answer':
    case 'publish-answer':
      return `${job.kind}-${encodeURIComponent(job.request)}`
    case 'step':
      return `step-${encodeURIComponent(job.run)}-${job.length}`
    case 'collect':
    case 'compare':
    case 'recount':
      return `${job.kind}-${encodeURIComponent(job.node)}-${job.length}`
  }
}

/**
 * Nothing finished is kept: a stored job blocks its id, and `resume` must be able to ask for the same work again.
 * What happened is in the histories.
 */
const optionsOf = (job: Job, delay: number): JobsOptions => {
  return {
    attempts: 6,
    backoff: { type: 'custom' },
    removeOnComplete: true,
    removeOnFail: true,
    delay,
    ...(job.kind === 'publish' || job.kind === 'publish-storm'
      ? { deduplication: { id: drawnOf(job), keepLastIfActive: true } }
      : { jobId: jobId(job) }),
  }
}

const drawnOf = (job: Extract<Job, { kind: 'publish' | 'publish-storm' }>): string =>
  job.kind === 'publish' ? `publish-${job.node}` : job.kind

/** The queues' sending side. `enqueue` throws Unreachable; the work may then still be enqueued, which is harmless. */
export const createJobs = (settings: JobsSettings): RedisJobs => {
  const open = (name: QueueName): Queue<StoredJob> => {
    const queue = new Queue<StoredJob>(name, {
      connection: { url: settings.url, ...patientOptions },
      prefix: keyPrefix(settings.cluster),
    })
    queue.on('error', settings.onError ?? (() => {}))
    return queue
  }
  const queues: Record<QueueName, Queue<StoredJob>> = { worker: open('worker'), bot: open('bot') }
  const deadlineMs = settings.deadlineMs ?? 5_000

  return {
    async enqueue(job: Job): Promise<void> {
      const queue = queues[servedBy[job.kind]]
      const delay = job.kind === 'recount' ? Math.max(0, job.dueAt - settings.clock.now()) : 0
      await reach(`enqueue a ${job.kind} job`, deadlineMs, async () => {
        await queue.add(job.kind, { v: 1, job }, optionsOf(job, delay))
        if (job.kind === 'recount') await correctDelay(queue, jobId(job), delay)
      })
    },

    async depth(name: QueueName): Promise<QueueDepth> {
      const counts = await reach('count jobs', deadlineMs, () =>
        queues[name].getJobCounts('waiting', 'active', 'delayed'),
      )
      return { waiting: counts.waiting ?? 0, active: counts.active ?? 0, delayed: counts.delayed ?? 0 }
    },

    async close(): Promise<void> {
      await Promise.all(Object.values(queues).map(queue => queue.close()))
    },
  }
}

/** A delay was counted from the clock of the moment it was stored; a clock that jumped since makes it wrong. */
const correctDelay = async (queue: Queue<StoredJob>, id: string, delay: number): Promise<void> => {
  const stored = await queue.getJob(id)
  if (!stored || !(await stored.isDelayed())) return
  if (delay === 0) await stored.promote()
  else await stored.changeDelay(delay)
}
