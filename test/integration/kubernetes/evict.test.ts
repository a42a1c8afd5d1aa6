import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCluster } from '../../../src/adapters/kubernetes/cluster.js'
import { refusalWords } from '../../../src/core/drain/budget.js'
import { type Cluster, type Eviction, Failed, Refused, Unreachable } from '../../../src/ports.js'
import type { Fault } from '../../lab/api/faults.js'
import type { ApiRequest } from '../../lab/api/request.js'
import { podObject, startTestApi, type TestApi } from './api.js'

const captured = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../fixtures/eviction-answers', name), 'utf8')

const status = (code: number, over: object): string =>
  JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, ...over })

let api: TestApi
let cluster: Cluster
let uid: string
beforeEach(async () => {
  api = await startTestApi()
  cluster = createCluster(api.kube, { now: () => Date.now() })
  const pod = api.server.store.create('pods', podObject('ledger-0', { phase: 'Running' }))
  uid = pod.metadata.uid ?? ''
})
afterEach(() => api.close())

const isEviction = ({ subresource }: ApiRequest): boolean => subresource === 'eviction'
const evict = (): Promise<Eviction> => cluster.evict({ namespace: 'payments', name: 'ledger-0', uid })
const answering = (answer: Fault['answer']): Promise<Eviction> => {
  api.server.faults.add({ when: isEviction, answer })
  return evict()
}

describe('P-A4: what a server says to an eviction', () => {
  test('429 of a budget is told by its cause, and names it (captured)', async () => {
    const answer = await answering({ code: 429, body: captured('429-budget.json') })
    expect(answer).toEqual({
      outcome: 'waits',
      because: 'budget',
      says: 'The disruption budget ledger needs 2 healthy pods and has 2 currently',
      retryAfterMs: undefined,
    })
    expect('says' in answer && refusalWords(answer.says)).toBe('PDB ledger allows 0 (needs 2 healthy, has 2)')
  })

  test('429 without that cause is the server being busy: it is nobody’s budget, and says when to come again', async () => {
    const body = status(429, {
      reason: 'TooManyRequests',
      message: 'too many requests, please try again later',
    })
    expect(await answering({ code: 429, body, headers: { 'Retry-After': '3' } })).toMatchObject({
      outcome: 'waits',
      because: 'busy',
      retryAfterMs: 3_000,
    })
  })

  test('429 of a budget that is not counted yet says when to come again', async () => {
    const cause = {
      reason: 'DisruptionBudget',
      message: 'The disruption budget ledger is still being processed by the server.',
    }
    const body = status(429, { details: { causes: [cause], retryAfterSeconds: 10 } })
    const answer = await answering({ code: 429, body })
    expect(answer).toMatchObject({ because: 'budget', retryAfterMs: 10_000 })
    expect('says' in answer && refusalWords(answer.says)).toBe(
      'PDB ledger has just changed and is being counted',
    )
  })

  test('500 of two budgets is never (captured); any other 500 is worth another try', async () => {
    expect(await answering({ code: 500, body: captured('500-two-budgets.json') })).toEqual({
      outcome: 'never',
      says: expect.stringMatching(/more than one PodDisruptionBudget/),
    })
    api.server.faults.clear()
    await expect(answering({ code: 500, body: status(500, { message: 'etcd is away' }) })).rejects.toThrow(
      Unreachable,
    )
  })

  test('404 is gone (captured)', async () => {
    expect(await answering({ code: 404, body: captured('404.json') })).toEqual({ outcome: 'gone' })
  })

  test('403 of a namespace that is being deleted waits; 403 of the role is refused', async () => {
    const details = { causes: [{ reason: 'NamespaceTerminating', message: 'payments is being terminated' }] }
    const body = status(403, { reason: 'Forbidden', message: 'unable to create new content', details })
    expect(await answering({ code: 403, body })).toMatchObject({ outcome: 'waits', because: 'namespace' })
    api.server.faults.clear()
    const forbidden = {
      reason: 'Forbidden',
      message:
        'pods "ledger-0" is forbidden: User "w" cannot create resource "pods/eviction" in API group "" in the namespace "disruption"',
    }
    await expect(answering({ code: 403, body: status(403, forbidden) })).rejects.toThrow(Refused)
  })

  test('403 of a budget that is broken is never', async () => {
    const message = 'poddisruptionbudgets.policy "ledger" is forbidden: pdb disruptions allowed is negative'
    expect(await answering({ code: 403, body: status(403, { message }) })).toMatchObject({ outcome: 'never' })
  })

  test('another uid is another Pod: the one that was meant is gone, and the replacement stays', async () => {
    const old = uid
    uid = 'of-an-earlier-one'
    expect(await evict()).toEqual({ outcome: 'gone' })
    const now = api.server.store.get('pods', 'payments', 'ledger-0')
    expect(now?.metadata).toMatchObject({ uid: old })
    expect(now?.metadata.deletionTimestamp).toBeUndefined()
  })

  test('a conflict with the very Pod is worth another try', async () => {
    const body = status(409, { reason: 'Conflict', message: 'the object has been modified' })
    expect(await answering({ code: 409, body })).toMatchObject({ outcome: 'waits', because: 'busy' })
  })

  test('a broken connection, and an answer nobody knows', async () => {
    await expect(answering('reset')).rejects.toThrow(Unreachable)
    api.server.faults.clear()
    await expect(answering({ code: 422, body: status(422, { message: 'no' }) })).rejects.toThrow(Failed)
  })

  test('accepted: the Pod ends with its own grace period, and the request carried its uid', async () => {
    let sent: ApiRequest | undefined
    api.server.faults.add({
      when: request => {
        if (isEviction(request)) sent = request
        return false
      },
      answer: 'reset',
    })
    expect(await evict()).toEqual({ outcome: 'accepted' })
    expect(sent?.verb).toBe('create')
    const { metadata } = api.server.store.get('pods', 'payments', 'ledger-0') ?? { metadata: undefined }
    expect(metadata).toMatchObject({ uid, deletionGracePeriodSeconds: 30 })
  })

  test('a guard that says no comes before the request', async () => {
    const target = { namespace: 'payments', name: 'ledger-0', uid }
    const guard = () => Promise.reject(new Refused('somebody else is in charge'))
    await expect(cluster.evict(target, guard)).rejects.toThrow('somebody else is in charge')
    expect(api.asked.filter(isEviction)).toEqual([])
  })
})

describe('B9: where Redis runs', () => {
  const slice = (node: string) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'ops', name: `redis-${node}`, labels: { 'kubernetes.io/service-name': 'redis' } },
    addressType: 'IPv4',
    endpoints: [
      {
        addresses: ['10.244.7.9'],
        nodeName: node,
        targetRef: { kind: 'Pod', namespace: 'ops', name: 'redis-0' },
      },
    ],
    ports: [],
  })

  test.each(['redis', 'redis.ops', 'redis.ops.svc', 'redis.ops.svc.cluster.local'])(
    'a Service leads to the Pod behind it: %s',
    async host => {
      api.server.store.create('endpointslices', slice('node-07'))
      expect(await cluster.whereabouts(host, 'ops')).toEqual({
        host,
        addresses: ['10.244.7.9'],
        nodes: ['node-07'],
        pods: ['ops/redis-0'],
      })
    },
  )

  test('an address leads to itself; a name without one, or an API that says no, is a reason', async () => {
    expect(await cluster.whereabouts('127.0.0.1', 'ops')).toMatchObject({
      addresses: ['127.0.0.1'],
      nodes: [],
    })
    const missing = await cluster.whereabouts('redis.invalid', undefined)
    expect('why' in missing && missing.why).toMatch(/redis\.invalid has no address here/)
    const { code, reason, message } = { code: 403, reason: 'Forbidden', message: 'no' }
    const isSlices = ({ type }: ApiRequest): boolean => type.resource === 'endpointslices'
    api.server.faults.add({ when: isSlices, answer: { code, reason, message } })
    expect(await cluster.whereabouts('redis', 'ops')).toMatchObject({
      why: expect.stringMatching(/not allowed/),
    })
  })
})
