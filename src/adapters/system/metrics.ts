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

/** What Prometheus is told. Labels are bounded: never a node, a Pod, an incident or a person. */
export const createMetrics = (sources: MetricsSources = {}): Metrics => {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const now = sources.now ?? Date.now
  const { watches, queues } = sources

  if (watches) {
    new Gauge({
      name: 'cnibot_watch_last_event_age_seconds',
      help: 'Time since the watch last gave proof of life',
      labelNames: ['resource'],
      registers,
      collect() {
        for (const { resource, lastProofOfLife } of watches()) {
          this.set({ resource }, Math.max(0, (now() - lastProofOfLife) / 1_000))
        }
      },
    })
  }
  if (queues) {
    new Gauge({
      name: 'cnibot_queue_jobs',
      help: 'Jobs by queue and state',
      labelNames: ['queue', 'state'],
      registers,
      async collect() {
        // While Redis is away there is no number; a scrape must still answer.
        const counts = await queues().catch(() => ({}))
        this.reset()
        for (const [queue, states] of Object.entries(counts)) {
          for (const [state, count] of Object.entries(states)) this.set({ queue, state }, count)
        }
      },
    })
  }
  const runs = new Counter({
    name: 'cnibot_runs_total',
    help: 'Runs by how they ended',
    labelNames: ['outcome'],
    registers,
  })
  const steps = new Counter({
    name: 'cnibot_steps_total',
    help: 'Steps by kind and outcome',
    labelNames: ['kind', 'outcome'],
    registers,
  })
  const stepSeconds = new Counter({
    name: 'cnibot_step_seconds_total',
    help: 'Time spent in steps and in undoing them',
    labelNames: ['kind'],
    registers,
  })
  const givenUp = new Counter({
    name: 'cnibot_jobs_given_up_total',
    help: 'Jobs that used up their attempts',
    labelNames: ['kind'],
    registers,
  })
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    runEnded: outcome => runs.inc({ outcome }),
    stepEnded(kind, outcome, seconds) {
      steps.inc({ kind, outcome })
      stepSeconds.inc({ kind }, seconds)
    },
    jobGivenUp: kind => givenUp.inc({ kind }),
  }
}
