import { startHttp } from './adapters/http/server.js'
import { createHistory } from './adapters/redis/history.js'
import type { JobWorker } from './adapters/redis/job-worker.js'
import { createJobs } from './adapters/redis/jobs.js'
import { checkServer } from './adapters/redis/server-check.js'
import { clockFrom } from './adapters/system/clock.js'
import { createLog } from './adapters/system/log.js'
import { createMetrics, type Metrics, type MetricsSources } from './adapters/system/metrics.js'
import { tellHead } from './audit-head.js'
import { environment, readSettings, SettingsError, shownSettings } from './config.js'
import { legalHistory } from './flows/legal-history.js'
import type { Job, Log } from './ports.js'

const headEveryMs = 60 * 60_000

/**
 * What both processes do first. Throws SettingsError with every problem, those of Redis included. `watches` is asked
 * when somebody scrapes.
 */
export const startUp = async <R extends 'bot' | 'worker'>(role: R, watches?: MetricsSources['watches']) => {
  const env = environment()
  const settings = readSettings(env, role)
  const both = readSettings<'bot' | 'worker'>(env, role)
  const { cluster, redisUrl: url } = both
  const log = createLog({ level: both.logLevel, process: role, cluster })
  log.info({ settings: shownSettings(env, role) }, 'starting')
  const wrong = await checkServer(url)
  if (wrong.length > 0) throw new SettingsError(wrong)
  const clock = clockFrom(both.clockFile)
  const onError = (error: Error): void => log.warn({ from: 'redis' }, error.message)
  // Slack waits three seconds for a click; a job may wait longer, but is tried again anyway.
  const store = { url, cluster, onError, deadlineMs: role === 'bot' ? 2_500 : 5_000 }
  const jobs = createJobs({ ...store, clock })
  const queues = async () => ({ [role]: { ...(await jobs.depth(role)) } })
  const metrics = createMetrics({ queues, ...(watches ? { watches } : {}) })
  const redis = createHistory(store)
  return {
    settings,
    log,
    clock,
    history: legalHistory(redis, { incidentWindowMs: both.incidentWindow }),
    jobs,
    metrics,
    telling: every(headEveryMs, log, 'audit', tellHead(redis.audit, log)),
    /** What the process's own queue is served with. */
    queue: {
      url,
      cluster,
      queue: role,
      concurrency: both.concurrency,
      lockMs: both.jobLock,
      onError,
      onGivenUp: (job: Job, error: Error): void => {
        metrics.jobGivenUp(job.kind)
        log.error({ job: job.kind }, `given up, resume will ask again: ${error.message}`)
      },
    },
  }
}

/** Runs `work` now and then, one at a time; a failure is logged and tried again at the next turn. */
export const every = (
  ms: number,
  log: Log,
  what: string,
  work: () => Promise<void>,
): { stop(): Promise<void> } => {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const turn = async (): Promise<void> => {
    try {
      await work()
    } catch (error) {
      log.warn({ from: what }, error instanceof Error ? error.message : String(error))
    }
    if (stopped) return
    timer = setTimeout(() => {
      running = turn()
    }, ms)
  }
  let running = turn()
  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}

export interface Parts {
  log: Log
  http: { host: string | undefined; port: number }
  notReady: () => string[]
  metrics: Metrics
  /** Taking no new work first, then letting go of what was held; each with its own deadline. */
  stops: (() => Promise<unknown>)[]
}

/** An open incident's node is measured again when the last reading is older, and not more often. */
export const measureAgainAfterMs = 30 * 60_000

const shutdownMs = 20_000

/** Serves health and metrics until a signal comes, then stops the parts in order and ends the process. */
export const serve = async ({ log, http, notReady, metrics, stops }: Parts): Promise<void> => {
  let stopping = false
  const server = await startHttp({
    host: http.host,
    port: http.port,
    notReady: () => (stopping ? ['shutting down'] : notReady()),
    metrics,
  })
  log.info({ ready: `http://${http.host ?? '127.0.0.1'}:${server.port}` }, 'ready')
  await new Promise<void>(resolve => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
  stopping = true
  log.info({}, 'stopping')
  const late = setTimeout(() => {
    log.error(
      {},
      `not everything stopped within ${shutdownMs / 1_000} s; ending all the same, resume picks up`,
    )
    process.exit(1)
  }, shutdownMs)
  for (const stop of stops)
    await stop().catch((error: unknown) => log.warn({}, `while stopping: ${String(error)}`))
  await server.close()
  clearTimeout(late)
  process.exit(0)
}

export const closeWorker = (worker: JobWorker) => (): Promise<unknown> => worker.close(15_000)
