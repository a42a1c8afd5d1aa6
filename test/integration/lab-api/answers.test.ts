import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type LabApi, startApiServer } from '../../lab/api/index.js'
import { hasCondition, type Pod } from '../../lab/api/shapes.js'
import { Client } from './client.js'
import { fixedClock, node, pod } from './tiny-cluster.js'

const fixture = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../fixtures/api-server/${name}`, import.meta.url)), 'utf8')

/** Status line, headers and body of a captured answer. */
const captured = (name: string) => {
  const [head = '', body = ''] = fixture(name).split(/\r?\n\r?\n/)
  return { code: Number(/^HTTP\/2 (\d+)/.exec(head)?.[1]), head, body: JSON.parse(body) as unknown }
}

const pods = '/api/v1/namespaces/payments/pods'
const status = (labels: Record<string, string>, ready: boolean) => ({
  ...pod('ledger-0', { nodeName: 'node-07' }, labels),
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
})

let api: LabApi
let client: Client

beforeEach(async () => {
  api = await startApiServer({ clock: fixedClock() })
  client = new Client(api)
  api.store.create('nodes', node('node-07'))
})

afterEach(async () => {
  await client.close()
  await api.close()
})

const budget = (name: string, allowed: number, observed = 1) =>
  api.store.create('poddisruptionbudgets', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'payments' },
    spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'ledger' } } },
    status: {
      observedGeneration: observed,
      disruptionsAllowed: allowed,
      currentHealthy: 2,
      desiredHealthy: 2,
    },
  })

const evict = (name: string, deleteOptions?: object, query = '') =>
  client.request('POST', `${pods}/${name}/eviction${query}`, {
    body: {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace: 'payments' },
      ...(deleteOptions === undefined ? {} : { deleteOptions }),
    },
  })

describe('eviction, as captured', () => {
  beforeEach(() => {
    api.store.create('pods', status({ app: 'ledger' }, true))
  })

  test('429: the budget is named in causes, and there is no Retry-After', async () => {
    budget('ledger', 0)
    const real = captured('eviction-429.http.txt')
    const answer = await evict('ledger-0')
    expect({ code: answer.code, body: answer.body }).toEqual({ code: real.code, body: real.body })
    expect(real.head).not.toMatch(/retry-after/i)
    expect(answer.headers.get('retry-after')).toBeNull()
    expect(api.store.get('pods', 'payments', 'ledger-0')?.metadata.deletionTimestamp).toBeUndefined()
  })

  test('429 with Retry-After 10 while the budget is not yet counted', async () => {
    budget('ledger', 1, 0)
    const answer = await evict('ledger-0')
    expect(answer.headers.get('retry-after')).toBe('10')
    expect(answer.body).toMatchObject({
      reason: 'TooManyRequests',
      details: { causes: [{ reason: 'DisruptionBudget' }], retryAfterSeconds: 10 },
    })
  })

  test('404, 500 for two budgets, 201 for a dry run that changes nothing', async () => {
    const missing = captured('eviction-404.http.txt')
    expect(await evict('nosuchpod')).toMatchObject({ code: missing.code, body: missing.body })
    const dry = captured('eviction-201-dry-run.http.txt')
    const before = api.store.revision
    const answer = await evict('ledger-0', { dryRun: ['All'] })
    expect({ code: answer.code, body: answer.body }).toEqual({ code: dry.code, body: dry.body })
    expect(api.store.revision).toBe(before)
    budget('ledger', 1)
    budget('ledger-too', 1)
    const two = captured('eviction-500-two-pdbs.http.txt')
    const refused = await evict('ledger-0')
    expect({ code: refused.code, body: refused.body }).toEqual({ code: two.code, body: two.body })
  })

  test('201 spends the budget, marks the Pod and leaves the rest to the kubelet', async () => {
    budget('ledger', 1)
    expect((await evict('ledger-0')).code).toBe(201)
    const evicted = api.store.get('pods', 'payments', 'ledger-0') as Pod
    expect(evicted.metadata.deletionGracePeriodSeconds).toBe(2)
    expect(hasCondition(evicted, 'DisruptionTarget')).toBe(true)
    expect(api.store.get('poddisruptionbudgets', 'payments', 'ledger')?.status).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { 'ledger-0': '2026-11-30T15:00:00Z' },
    })
  })

  test('409 for another uid; a Pending Pod is evicted whatever the budget says', async () => {
    budget('ledger', 0)
    const answer = await evict('ledger-0', { preconditions: { uid: 'somebody-else' } })
    const uid = api.store.get('pods', 'payments', 'ledger-0')?.metadata.uid
    expect(answer).toMatchObject({
      code: 409,
      body: {
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on Pod "ledger-0": the UID in the precondition (somebody-else) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
      },
    })
    api.store.create('pods', pod('ledger-1', {}, { app: 'ledger' }))
    expect((await evict('ledger-1')).code).toBe(201)
    expect(api.store.get('pods', 'payments', 'ledger-1')).toBeUndefined()
  })
})

describe('refusals', () => {
  test('401, 403, 404, 405, 409, 415, 422 as Status bodies', async () => {
    await api.close()
    api = await startApiServer({
      clock: fixedClock(),
      allow: each => each.user !== 'bot' || each.verb === 'list',
    })
    await client.close()
    client = new Client(api)
    api.store.create('pods', pod('a'))
    const nobody = await fetchWithout(api)
    expect(nobody).toBe(401)
    const forbidden = await client.request('DELETE', `${pods}/a`, { user: 'bot' })
    expect(forbidden.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message:
        'pods "a" is forbidden: User "bot" cannot delete resource "pods" in API group "" in the namespace "payments"',
      reason: 'Forbidden',
      details: { name: 'a', kind: 'pods' },
      code: 403,
    })
    expect((await client.request('GET', pods, { user: 'bot' })).code).toBe(200)
    expect((await client.get('/apis/apps/v1/namespaces/payments/daemonsets/x')).body).toMatchObject({
      message: 'daemonsets.apps "x" not found',
      details: { name: 'x', group: 'apps', kind: 'daemonsets' },
      code: 404,
    })
    expect((await client.get('/apis/example.com/v1/things')).code).toBe(404)
    expect(await client.request('POST', pods, { body: pod('a') })).toMatchObject({
      code: 409,
      body: {
        reason: 'AlreadyExists',
        message: 'pods "a" already exists',
        details: { name: 'a', kind: 'pods' },
      },
    })
    expect(
      (
        await client.request('POST', '/api/v1/namespaces/nowhere/pods', {
          body: { ...pod('a'), metadata: { name: 'a' } },
        })
      ).body,
    ).toMatchObject({
      code: 404,
      message: 'namespaces "nowhere" not found',
    })
    expect(
      (await client.request('POST', pods, { body: { metadata: { name: 'b' }, spec: { containers: [] } } }))
        .body,
    ).toMatchObject({
      message: 'Pod "b" is invalid: spec.containers: Required value',
      reason: 'Invalid',
      details: {
        name: 'b',
        kind: 'Pod',
        causes: [{ reason: 'FieldValueRequired', message: 'Required value', field: 'spec.containers' }],
      },
      code: 422,
    })
    const odd = await client.request('PATCH', `${pods}/a`, { body: {}, type: 'application/json' })
    expect(odd).toMatchObject({ code: 415, body: { reason: 'UnsupportedMediaType' } })
    expect(
      (
        await client.request('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
          user: 'bot',
          body: { spec: { resourceAttributes: { verb: 'delete', resource: 'pods', namespace: 'payments' } } },
        })
      ).body,
    ).toMatchObject({ status: { allowed: false } })
  })

  test('the audit names verb, resource, subresource and user', async () => {
    await client.request('GET', '/api/v1/nodes?watch=true&timeoutSeconds=1&resourceVersion=1', {
      user: 'worker',
    })
    await evict('nosuchpod')
    expect(api.audit).toEqual([
      {
        verb: 'watch',
        resource: 'nodes',
        subresource: undefined,
        namespace: undefined,
        name: undefined,
        user: 'worker',
      },
      {
        verb: 'create',
        resource: 'pods',
        subresource: 'eviction',
        namespace: 'payments',
        name: 'nosuchpod',
        user: 'admin',
      },
    ])
  })
})

const fetchWithout = async (of: LabApi): Promise<number> => {
  const stranger = new Client({ ...of, tokens: { ...of.tokens, admin: 'nonsense' } })
  const answer = await stranger.get('/api/v1/pods')
  await stranger.close()
  expect(answer.body).toMatchObject({ reason: 'Unauthorized', code: 401 })
  return answer.code
}
