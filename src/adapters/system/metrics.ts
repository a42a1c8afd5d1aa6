import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'

export interface MetricsSources {
  /** When each watch last gave proof of life, milliseconds since 1970. */
  watches?: () => { resource: string; lastProofOfLife: number }[]
  /** Jobs by queue and state. */
  queues?: () => Promise<Record<string, Record<string, number>>>
  now?: () => number
}

export interface Metrics {
  contentType: string
  text(): Promise<string>
  /** completed, held, undone, abandoned or stuck. */
  runEnded(outcome: string): void
  stepEnded(kind: string, outcome: 'done' | 'failed' | 'undone' | 'undo-failed', seconds: number): void
  /** A job that could not even record what happened. */
  jobGivenUp(kind: string): void
}

const gaugeOfWatches = (
  registers: Registry[],
  watches: NonNullable<MetricsSources['watches']>,
  now: () => number,
): Gauge =>
  new Gauge({
    name: 'cnibot_watch_last_event_age_seconds',
    help: 'Time since the watch last gave proof of life',
    labelNames: ['resource'],
    registers,
    collect() {
      for (const { resource, lastProofOfLife } of watches())
        this.set({ resource }, Math.max(0, (now() - lastProofOfLife) / 1_000))
    },
  })

const gaugeOfQueues = (registers: Registry[], queues: NonNullable<MetricsSources['queues']>): Gauge =>
  new Gauge({
    name: 'cnibot_queue_jobs',
    help: 'Jobs by queue and state',
    labelNames: ['queue', 'state'],
    registers,
    async collect() {
      // While Redis is away there is no number; a scrape must still answer.
      const counts = await queues().catch(() => ({}))
      this.reset()
      for (const [queue, states] of Object.entries(counts))
        for (const [state, count] of Object.entries(states)) this.set({ queue, state }, count)
    },
  })

/** What Prometheus is told. Labels are bounded: never a node, a Pod, an incident or a person. */
export const createMetrics = ({ watches, queues, now = Date.now }: MetricsSources = {}): Metrics => {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  if (watches) gaugeOfWatches(registers, watches, now)
  if (queues) gaugeOfQueues(registers, queues)
  const counter = (name: string, help: string, ...labelNames: string[]): Counter =>
    new Counter({ name, help, labelNames, registers })
  const runs = counter('cnibot_runs_total', 'Runs by how they ended', 'outcome')
  const steps = counter('cnibot_steps_total', 'Steps by kind and outcome', 'kind', 'outcome')
  const spent = counter('cnibot_step_seconds_total', 'Time spent in steps and in undoing them', 'kind')
  const givenUp = counter('cnibot_jobs_given_up_total', 'Jobs that used up their attempts', 'kind')
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    runEnded: outcome => runs.inc({ outcome }),
    stepEnded(kind, outcome, seconds) {
      steps.inc({ kind, outcome })
      spent.inc({ kind }, seconds)
    },
    jobGivenUp: kind => givenUp.inc({ kind }),
  }
}
