import type { V1Pod } from '@kubernetes/client-node'
import { startWatch } from '../../../src/adapters/kubernetes/watch.js'
import type {
  RunningWatch,
  WatchOptions,
  WatchTimings,
} from '../../../src/adapters/kubernetes/watch-options.js'
import type { Wire } from '../../../src/adapters/kubernetes/wire.js'
import { inPhase, podObject, startTestApi, type TestApi, until } from './api.js'

type Kept = Record<'name' | 'uid' | 'phase', string>
type PodWatch = WatchOptions<Wire<V1Pod>, Kept>

const fast: Partial<WatchTimings> = { firstBackoffMs: 20, longestBackoffMs: 100 }

describe('the list-and-watch loop', () => {
  let api: TestApi
  let watch: RunningWatch<Kept> | undefined
  let changes: string[]
  let warnings: string[]
  beforeEach(async () => {
    api = await startTestApi()
    changes = []
    warnings = []
  })
  afterEach(async () => {
    await watch?.stop()
    await api.close()
  })

  const follow = (over: Partial<PodWatch> = {}): RunningWatch<Kept> => {
    watch = startWatch<Wire<V1Pod>, Kept>({
      kube: api.kube,
      resource: 'pods',
      path: '/api/v1/pods',
      selector: { fieldSelector: 'status.phase=Pending' },
      translate: pod => ({
        name: pod.metadata?.name ?? '',
        uid: pod.metadata?.uid ?? '',
        phase: pod.status?.phase ?? '',
      }),
      onChange: ({ upserted, left }) => {
        changes.push(...upserted.map(({ name }) => `+${name}`), ...left.map(({ name }) => `-${name}`))
      },
      log: {
        info: () => undefined,
        warn: (fields, message) => warnings.push(`${message} ${JSON.stringify(fields)}`),
      },
      timings: fast,
      ...over,
    })
    return watch
  }
  const watches = () => api.asked.filter(({ verb }) => verb === 'watch')
  const lists = () => api.asked.filter(({ verb }) => verb === 'list')
  const open = () => until('an open watch', () => api.server.faults.openWatches === 1)

  test('lists in pages, then follows; the server selects', async () => {
    for (let n = 0; n < 620; n += 1) api.server.store.create('pods', podObject(`p-${n}`))
    api.server.store.create('pods', podObject('running', { phase: 'Running' }))
    const running = follow()
    await open()
    expect(running.records().size).toBe(620)
    expect(
      lists().map(({ query }) => [query.get('limit'), query.has('continue'), query.get('resourceVersion')]),
    ).toEqual([
      ['500', false, null],
      ['500', true, null],
    ])
    api.server.store.create('pods', podObject('late'))
    await until('the new Pod', () => changes.includes('+late'))
    expect(changes).not.toContain('+running')
    const [asked] = watches()
    expect(asked?.query.get('fieldSelector')).toBe('status.phase=Pending')
    expect(asked?.query.get('allowWatchBookmarks')).toBe('true')
    expect(Number(asked?.query.get('timeoutSeconds'))).toBeGreaterThanOrEqual(240)
  })

  test('DELETED of a Pod that left the selection carries what was kept', async () => {
    const pod = api.server.store.create('pods', podObject('api-1'))
    const left: Kept[] = []
    const running = follow({ onChange: change => left.push(...change.left) })
    await open()
    api.server.store.update('pods', inPhase(pod, 'Running'))
    await until('the Pod to leave', () => left.length === 1)
    expect(left).toEqual([{ name: 'api-1', uid: pod.metadata.uid, phase: 'Pending' }])
    expect(running.records().size).toBe(0)
  })

  test('a silent watch is given up and goes on where it was, without a list', async () => {
    const running = follow({ timings: { ...fast, silentAfterMs: 2_000 } })
    await open()
    api.server.store.create('pods', podObject('seen'))
    await until('the first Pod', () => changes.includes('+seen'))
    api.server.faults.silenceWatches()
    api.server.store.create('pods', podObject('unheard'))
    await until('the Pod made during the silence', () => changes.includes('+unheard'))
    expect(running.counts().lists).toBe(1)
    expect(warnings.join('\n')).toContain('no sign of life for 2000 ms')
  })

  test('bookmarks move the version on and count as a sign of life', async () => {
    const running = follow()
    await open()
    api.server.store.create('pods', podObject('elsewhere', { phase: 'Running' }))
    const revision = String(api.server.store.revision)
    const before = running.lastProofOfLife()
    await until('a later millisecond', () => Date.now() > before)
    api.server.faults.bookmark()
    await until('the bookmark', () => running.lastProofOfLife() > before)
    api.server.faults.resetWatches()
    await until('a second watch', () => watches().length === 2)
    expect(watches()[1]?.query.get('resourceVersion')).toBe(revision)
  })

  test('410 as a frame: a new list finds what came and went meanwhile', async () => {
    const pod = api.server.store.create('pods', podObject('gone'))
    const running = follow()
    await open()
    // While nobody can watch: one goes, one comes under the same name, and the history is thrown away.
    const unavailable = { code: 503, reason: 'ServiceUnavailable', message: 'starting' }
    const heal = api.server.faults.add({
      when: ({ verb }) => verb === 'watch',
      answer: unavailable,
      times: 2,
    })
    api.server.faults.resetWatches()
    await until('no open watch', () => api.server.faults.openWatches === 0)
    api.server.store.remove('pods', 'payments', 'gone')
    const again = api.server.store.create('pods', podObject('gone'))
    api.server.faults.compact()
    heal()
    await until('a second list', () => running.counts().lists === 2)
    expect([...running.records().keys()]).toEqual([again.metadata.uid])
    expect(again.metadata.uid).not.toBe(pod.metadata.uid)
    expect(changes).toEqual(['+gone', '+gone', '-gone'])
  })

  test('410 as an HTTP status, and in the middle of a paged list', async () => {
    const expired = { code: 410, reason: 'Expired', message: 'too old resource version' }
    api.server.faults.add({ when: ({ verb }) => verb === 'watch', answer: expired, times: 1 })
    for (let n = 0; n < 501; n += 1) api.server.store.create('pods', podObject(`p-${n}`))
    api.server.faults.add({ when: ({ query }) => query.has('continue'), answer: expired, times: 1 })
    const running = follow()
    await open()
    expect(running.counts()).toEqual({ lists: 2, interruptions: 2 })
    expect(running.records().size).toBe(501)
  })

  test('an ERROR frame of 500 is not swallowed: the watch goes on from where it was', async () => {
    const running = follow()
    await open()
    api.server.store.create('pods', podObject('one'))
    await until('the first Pod', () => changes.includes('+one'))
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'x',
      reason: 'InternalError',
      code: 500,
    } as const
    api.server.faults.failWatches(status)
    api.server.store.create('pods', podObject('two'))
    await until('the second Pod', () => changes.includes('+two'))
    expect(running.counts().lists).toBe(1)
    expect(warnings.join('\n')).toContain('ended with 500 InternalError')
  })

  test('a watch that stays silent three times in a row leads to a list', async () => {
    const running = follow({ timings: { ...fast, silentAfterMs: 80 } })
    await until('a second list', () => running.counts().lists === 2)
    expect(running.counts().interruptions).toBe(3)
  })

  test.each([403, 429, 500, 503])('%d on list and watch is retried, with Retry-After', async code => {
    const answer = { code, reason: 'Whatever', message: 'not now', retryAfter: 0 }
    api.server.faults.add({ when: ({ verb }) => verb === 'list', answer, times: 2 })
    api.server.faults.add({ when: ({ verb }) => verb === 'watch', answer, times: 1 })
    api.server.store.create('pods', podObject('api-1'))
    const running = follow()
    await open()
    expect(running.records().size).toBe(1)
    expect(running.counts()).toEqual({ lists: 1, interruptions: 3 })
    expect(warnings[0]).toContain(`list pods: the API server answered ${code}: not now`)
  })

  test('a broken connection and a clean end both lead to a new watch', async () => {
    follow()
    await open()
    api.server.faults.resetWatches()
    await until('a second watch', () => watches().length === 2)
    await open()
    api.server.faults.endWatches()
    await until('a third watch', () => watches().length === 3)
    await open()
    api.server.store.create('pods', podObject('after'))
    await until('the Pod', () => changes.includes('+after'))
  })

  test('a full list comes again after a while, since a watch can lie', async () => {
    const running = follow({ timings: { ...fast, watchForMs: 1_000, relistAfterMs: 1 } })
    await until('a second list', () => running.counts().lists >= 2)
    expect(running.counts().interruptions).toBe(0)
  })

  test('a throw in a callback or on one odd object is logged and ends nothing', async () => {
    api.server.store.create('pods', podObject('odd'))
    api.server.store.create('pods', podObject('even'))
    const running = follow({
      translate: pod => {
        if (pod.metadata?.name === 'odd') throw new Error('cannot read this one')
        return { name: pod.metadata?.name ?? '', uid: '', phase: '' }
      },
      onChange: ({ upserted }) => {
        changes.push(...upserted.map(({ name }) => name))
        throw new Error('a bug in the callback')
      },
    })
    await open()
    expect([...running.records().values()].map(({ name }) => name)).toEqual(['even'])
    api.server.store.create('pods', podObject('next'))
    await until('the next Pod', () => changes.includes('next'))
    expect(warnings.filter(text => text.includes('a watch callback failed'))).toHaveLength(3)
    expect(running.counts().interruptions).toBe(0)
  })

  test('stop is final: during a watch, a pause and a hanging list', async () => {
    const stopped = follow()
    await open()
    await stopped.stop()
    await until('the watch to be closed', () => api.server.faults.openWatches === 0)
    api.server.store.create('pods', podObject('after'))
    const inPause = follow({ timings: { firstBackoffMs: 60_000, longestBackoffMs: 60_000 } })
    await open()
    api.server.faults.resetWatches()
    await until('an interruption', () => inPause.counts().interruptions === 1)
    await inPause.stop()
    const asked = api.asked.length
    api.server.faults.add({ answer: 'hang' })
    const hanging = follow()
    await until('the list to be asked', () => api.asked.length > asked)
    await hanging.stop()
    expect(hanging.counts()).toEqual({ lists: 0, interruptions: 0 })
    expect(changes).toEqual(['+after'])
  })
})
