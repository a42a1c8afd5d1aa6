import { setTimeout as pause } from 'node:timers/promises'
import { type Job as Stored, UnrecoverableError, Worker } from 'bullmq'
import { z } from 'zod'
import type { Job } from '../../ports.js'
import type { QueueName, StoredJob } from './jobs.js'
import { keyPrefix, patientOptions, type Store } from './reach.js'

export type JobOf<K extends Job['kind']> = Extract<Job, { kind: K }>

export interface JobContext {
  /** Aborted when the lock on this job is lost: another worker may have begun it, so start nothing new. */
  signal: AbortSignal
  /** 1 the first time; more after a failure to record or after a worker died. */
  attempt: number
}

export type JobHandlers = {
  [K in Job['kind']]?: (job: JobOf<K>, context: JobContext) => Promise<void>
}

export interface JobWorkerSettings extends Store {
  queue: QueueName
  /** Must be safe to run twice: a job whose worker died is run again from the start. */
  handlers: JobHandlers
  concurrency: number
  /** A dead worker's jobs are picked up after about this long. Default 30 s. */
  lockMs?: number
  /** Default: a third of `lockMs`. */
  stalledCheckMs?: number
  /** First pause before another attempt; it doubles up to 30 s. Default 1 s. */
  retryMs?: number
  onError: (error: Error) => void
  /** All attempts used up: what the job stood for could not even be recorded. */
  onGivenUp?: (job: Job, error: Error) => void
}

export interface JobWorker {
  ready(): Promise<void>
  /** Takes no more jobs and waits for those at work; false when they were not done by then. */
  close(deadlineMs: number): Promise<boolean>
}

const node = z.string().min(1)
const length = z.number().int().nonnegative()
const request = z.string().min(1)
const shapes = {
  collect: z.object({ kind: z.literal('collect'), node, length }),
  step: z.object({ kind: z.literal('step'), run: z.string().min(1), node, length }),
  recount: z.object({ kind: z.literal('recount'), node, length, dueAt: z.number() }),
  publish: z.object({ kind: z.literal('publish'), node, length }),
  answer: z.object({ kind: z.literal('answer'), request, node }),
  'publish-answer': z.object({ kind: z.literal('publish-answer'), request }),
  compare: z.object({ kind: z.literal('compare'), node, length }),
  'publish-storm': z.object({ kind: z.literal('publish-storm') }),
} satisfies Record<Job['kind'], z.ZodType<Job>>
const stored = z.strictObject({
  v: z.literal(1),
  job: z.discriminatedUnion('kind', [
    shapes.collect,
    shapes.step,
    shapes.recount,
    shapes.publish,
    shapes.answer,
    shapes['publish-answer'],
    shapes.compare,
    shapes['publish-storm'],
  ]),
})

/** Runs the jobs of one queue. It survives any outage of Redis; everything that goes wrong is told to `onError`. */
export const startWorker = (settings: JobWorkerSettings): JobWorker => {
  const lockMs = settings.lockMs ?? 30_000
  const retryMs = settings.retryMs ?? 1_000
  const worker = new Worker<StoredJob>(
    settings.queue,
    async (taken, _token, signal) => {
      const job = readStored(taken)
      const context = { signal: signal ?? new AbortController().signal, attempt: taken.attemptsStarted }
      await handle(settings.handlers, job.kind, job, context)
    },
    {
      connection: { url: settings.url, ...patientOptions },
      prefix: keyPrefix(settings.cluster),
      concurrency: settings.concurrency,
      lockDuration: lockMs,
      stalledInterval: settings.stalledCheckMs ?? Math.ceil(lockMs / 3),
      // A job is also found stalled when its worker is merely restarted; the attempts limit the rest.
      maxStalledCount: 20,
      drainDelay: 1,
      runRetryDelay: 1_000,
      settings: { backoffStrategy: attempts => Math.min(30_000, retryMs * 2 ** (attempts - 1)) },
    },
  )
  worker.on('error', settings.onError)
  worker.on('stalled', id =>
    settings.onError(new Error(`job ${id} was left by a dead worker and runs again`)),
  )
  worker.on('lockRenewalFailed', ids => {
    settings.onError(new Error(`lost the lock on ${ids.join(', ')}`))
    for (const id of ids) worker.cancelJob(id, 'lock lost')
  })
  worker.on('failed', (taken, error) => {
    settings.onError(new Error(`job ${taken?.id ?? '?'}: ${error.message}`, { cause: error }))
    const last = taken !== undefined && taken.attemptsMade >= (taken.opts.attempts ?? 1)
    if (last || error instanceof UnrecoverableError) giveUp(settings, taken, error)
  })
  return {
    async ready() {
      await worker.waitUntilReady()
    },
    async close(deadlineMs) {
      const late = new AbortController()
      const done = worker.close().then(
        () => true,
        () => false,
      )
      const answer = await Promise.race([
        done,
        pause(deadlineMs, false, { signal: late.signal }).catch(() => false),
      ])
      late.abort()
      return answer
    },
  }
}

const handle = async <K extends Job['kind']>(
  handlers: { [P in K]?: (job: JobOf<P>, context: JobContext) => Promise<void> },
  kind: K,
  job: JobOf<K>,
  context: JobContext,
): Promise<void> => {
  const handler = handlers[kind]
  if (!handler) throw new UnrecoverableError(`no handler for ${kind} jobs in this process`)
  await handler(job, context)
}

const readStored = (taken: Stored<StoredJob>): Job => {
  const read = stored.safeParse(taken.data)
  if (!read.success)
    throw new UnrecoverableError(`job ${taken.id} is none we know: ${z.prettifyError(read.error)}`)
  return read.data.job
}

const giveUp = (settings: JobWorkerSettings, taken: Stored<StoredJob> | undefined, error: Error): void => {
  const read = stored.safeParse(taken?.data)
  if (read.success) settings.onGivenUp?.(read.data.job, error)
}
