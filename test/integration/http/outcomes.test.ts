import { type RunningHttp, startHttp } from '../../../src/adapters/http/server.js'
import { createMetrics } from '../../../src/adapters/system/metrics.js'
import { type IncidentEvent, incidentStream, runStream } from '../../../src/core/incident/incident.js'
import type { RunEvent } from '../../../src/core/runbook/run.js'
import { countedHistory } from '../../../src/counted-history.js'
import type { History } from '../../../src/ports.js'
import { fakeHistory } from '../../fakes/history.js'
import { fakeLog } from '../../fakes/log.js'
import { opened, runbook, t0 } from '../../unit/runbook/runs.js'

let http: RunningHttp
let kept: History
let history: History
let log: ReturnType<typeof fakeLog>

beforeEach(async () => {
  const metrics = createMetrics()
  kept = fakeHistory()
  log = fakeLog()
  history = countedHistory(kept, metrics, log)
  http = await startHttp({ host: '127.0.0.1', port: 0, notReady: () => [], metrics })
})
afterEach(() => http.close())

const scraped = async (): Promise<string[]> => {
  const answer = await fetch(`http://127.0.0.1:${http.port}/metrics`)
  return (await answer.text()).split('\n').filter(line => line.startsWith('cnibot_'))
}

const run = 'node-07.1-r1'
const by = 'cnibot'
const error = { class: 'failed' as const, message: 'no', output: '' }

describe('what a worker tells Prometheus of its runs', () => {
  it('counts a step once when it has ended, with its kind and the time it took', async () => {
    await history.append<RunEvent>(runStream(run), 0, [opened()])
    await history.append<RunEvent>(runStream(run), 1, [{ at: t0, by, type: 'StepStarted', index: 0 }])
    expect(await scraped()).toEqual([])
    const failed: RunEvent = { at: t0 + 2_500, by, type: 'StepFailed', index: 0, error }
    expect(await history.append<RunEvent>(runStream(run), 2, [failed])).toBe(true)
    expect(await history.append<RunEvent>(runStream(run), 2, [failed])).toBe(false)
    expect(log.lines).toEqual([])
    const kind = runbook().steps[0]?.kind
    expect(await scraped()).toEqual([
      `cnibot_steps_total{kind="${kind}",outcome="failed"} 1`,
      `cnibot_step_seconds_total{kind="${kind}"} 2.5`,
    ])
  })

  it('counts a long step from its first start, whatever was noted and whichever worker went on', async () => {
    const of = (at: number, type: string, more: object = {}): RunEvent =>
      ({ at: t0 + at, by, type, index: 0, ...more }) as RunEvent
    const events = [
      opened(),
      of(0, 'StepStarted'),
      of(1_000, 'StepProgressed', { says: '1 of 2' }),
      of(60_000, 'StepStarted'),
      of(61_000, 'StepProgressed', { says: '2 of 2' }),
      of(90_000, 'StepFailed', { error }),
      of(95_000, 'RetryAsked'),
      // Failed while it was planned: it had not begun.
      of(99_000, 'StepFailed', { error }),
    ]
    for (const [length, each] of events.entries())
      await history.append<RunEvent>(runStream(run), length, [each])
    const kind = runbook().steps[0]?.kind
    expect(await scraped()).toEqual([
      `cnibot_steps_total{kind="${kind}",outcome="failed"} 2`,
      `cnibot_step_seconds_total{kind="${kind}"} 90`,
    ])
  })

  it('counts a run when its incident hears how it ended', async () => {
    const ended: IncidentEvent = {
      at: t0,
      by,
      type: 'RunEnded',
      run,
      outcome: 'completed',
      says: 'done',
      recountAt: undefined,
    }
    await history.append<IncidentEvent>(incidentStream('node-07'), 0, [ended])
    expect(await scraped()).toEqual(['cnibot_runs_total{outcome="completed"} 1'])
  })

  it('keeps what was recorded when counting it does not work, and logs that', async () => {
    kept.read = async () => {
      throw new Error('Redis went away')
    }
    expect(await history.append<RunEvent>(runStream(run), 0, [opened()])).toBe(true)
    expect(log.lines.map(line => line.message)).toEqual(['not counted: Redis went away'])
    expect(await scraped()).toEqual([])
  })
})
