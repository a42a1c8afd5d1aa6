import { type RunningHttp, startHttp } from '../../../src/adapters/http/server.js'
import { createMetrics } from '../../../src/adapters/system/metrics.js'

let missing: string[] = []
let http: RunningHttp
const metrics = createMetrics({
  watches: () => [{ resource: 'pods', lastProofOfLife: 1_000 }],
  queues: async () => {
    if (missing.length > 0) throw new Error('Redis is away')
    return { worker: { waiting: 2, active: 1, delayed: 0 } }
  },
  now: () => 31_000,
})
beforeAll(async () => {
  http = await startHttp({ host: '127.0.0.1', port: 0, notReady: () => missing, metrics })
})
afterEach(() => {
  missing = []
})
afterAll(() => http.close())

const get = async (path: string, method = 'GET') => {
  const answer = await fetch(`http://127.0.0.1:${http.port}${path}`, { method })
  return { status: answer.status, text: await answer.text() }
}

describe('health and metrics', () => {
  it('is alive whatever is missing, and ready only when nothing is', async () => {
    expect(await get('/readyz')).toEqual({ status: 200, text: 'ready\n' })
    missing = ['Redis does not answer', 'the watch of pods is 95 s old']
    expect(await get('/readyz')).toEqual({
      status: 503,
      text: 'Redis does not answer\nthe watch of pods is 95 s old\n',
    })
    expect((await get('/healthz')).status).toBe(200)
  })

  it('tells Prometheus ages, queues and outcomes', async () => {
    metrics.runEnded('completed')
    metrics.stepEnded('remove-orphans', 'done', 1.5)
    const { text } = await get('/metrics')
    expect(text).toContain('cnibot_watch_last_event_age_seconds{resource="pods"} 30')
    expect(text).toContain('cnibot_queue_jobs{queue="worker",state="waiting"} 2')
    expect(text).toContain('cnibot_runs_total{outcome="completed"} 1')
    expect(text).toContain('cnibot_step_seconds_total{kind="remove-orphans"} 1.5')
    expect(text).toContain('process_cpu_seconds_total')
  })

  it('still answers a scrape while Redis is away, without inventing zeros', async () => {
    missing = ['Redis does not answer']
    const { status, text } = await get('/metrics')
    expect(status).toBe(200)
    expect(text).not.toMatch(/^cnibot_queue_jobs\{/m)
  })

  it('knows three paths and reading only', async () => {
    expect((await get('/')).status).toBe(404)
    expect((await get('/healthz', 'POST')).status).toBe(405)
  })

  it('says which setting to change when the port is taken', async () => {
    const again = startHttp({ host: '127.0.0.1', port: http.port, notReady: () => [], metrics })
    await expect(again).rejects.toThrow(
      `cannot listen on port ${http.port}: EADDRINUSE; set CNIBOT_HTTP_PORT`,
    )
  })
})
