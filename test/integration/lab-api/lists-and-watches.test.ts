import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type LabApi, startApiServer } from '../../lab/api/index.js'
import { at, type Node, type Pod } from '../../lab/api/shapes.js'
import { Client, nameOf, namesOf, versionOf } from './client.js'
import { fixedClock, node, pod } from './tiny-cluster.js'

const tooOld = JSON.parse(
  readFileSync(
    fileURLToPath(new URL('../../fixtures/api-server/watch-pods-rv-too-old.ndjson', import.meta.url)),
    'utf8',
  ),
) as { type: string; object: Record<string, unknown> }

const pods = '/api/v1/pods'

let api: LabApi
let client: Client

beforeEach(async () => {
  api = await startApiServer({ clock: fixedClock() })
  client = new Client(api)
})

afterEach(async () => {
  await client.close()
  await api.close()
})

const makePods = (count: number) => {
  for (let index = 0; index < count; index += 1)
    api.store.create('pods', pod(`p-${String(index).padStart(2, '0')}`))
}

const setPhase = (name: string, phase: string) => {
  const found = api.store.get('pods', 'payments', name) as Pod
  return api.store.update('pods', { ...found, status: { ...found.status, phase } })
}

describe('lists', () => {
  test('chunks are one moment: what changed in between is not in them', async () => {
    makePods(5)
    const first = await client.get(`${pods}?limit=2`)
    expect(namesOf(first)).toEqual(['p-00', 'p-01'])
    expect(at(first.body, 'metadata.remainingItemCount')).toBe(3)
    api.store.remove('pods', 'payments', 'p-03')
    makeOne('p-035')
    const second = await client.get(
      `${pods}?limit=2&continue=${String(at(first.body, 'metadata.continue') as string)}`,
    )
    expect(namesOf(second)).toEqual(['p-02', 'p-03'])
    expect(versionOf(second.body)).toBe(versionOf(first.body))
    const third = await client.get(
      `${pods}?limit=2&continue=${String(at(second.body, 'metadata.continue') as string)}`,
    )
    expect(namesOf(third)).toEqual(['p-04'])
    expect(at(third.body, 'metadata.continue')).toBeUndefined()
  })

  test('an old continue token gets 410 and a token that goes on without it; resourceVersion=0 ignores the limit', async () => {
    makePods(4)
    const first = await client.get(`${pods}?limit=2`)
    api.store.remove('pods', 'payments', 'p-02')
    api.faults.compact()
    const expired = await client.get(
      `${pods}?limit=2&continue=${String(at(first.body, 'metadata.continue') as string)}`,
    )
    expect(expired).toMatchObject({ code: 410, body: { reason: 'Expired', code: 410 } })
    const rest = await client.get(
      `${pods}?limit=2&continue=${String(at(expired.body, 'metadata.continue') as string)}`,
    )
    expect(namesOf(rest)).toEqual(['p-03'])
    expect(namesOf(await client.get(`${pods}?limit=2&resourceVersion=0`))).toHaveLength(3)
    const future = await client.get(`${pods}?resourceVersion=999999`)
    expect(future).toMatchObject({
      code: 504,
      body: { reason: 'Timeout', details: { retryAfterSeconds: 1 } },
    })
  })

  test.each([
    ['pods', 'spec.nodeName=node-07,status.phase!=Pending', ['running']],
    ['pods', 'metadata.name=waiting', ['waiting']],
    ['nodes', 'spec.unschedulable=true', ['node-08']],
    ['events', 'reason=FailedCreatePodSandBox,involvedObject.kind=Pod', ['e1']],
    ['events', 'type!=Warning', ['e2']],
    ['events', 'source=kubelet', ['e1']],
  ])('%s by field %s', async (resource, selector, expected) => {
    fill()
    const answer = await client.get(`/api/v1/${resource}?fieldSelector=${encodeURIComponent(selector)}`)
    expect(namesOf(answer)).toEqual(expected)
  })

  test.each([
    ['app=api', ['a']],
    ['app!=api', ['b', 'c']],
    ['app in (api,web)', ['a', 'b']],
    ['app notin (api),tier', ['b']],
    ['!app', ['c']],
    ['app==web,tier=front', ['b']],
  ])('by labels %s', async (selector, expected) => {
    api.store.create('pods', pod('a', {}, { app: 'api' }))
    api.store.create('pods', pod('b', {}, { app: 'web', tier: 'front' }))
    api.store.create('pods', pod('c'))
    expect(namesOf(await client.get(`${pods}?labelSelector=${encodeURIComponent(selector)}`))).toEqual(
      expected,
    )
  })

  test('a field that the real server does not select by is refused, not ignored', async () => {
    const answer = await client.get(`${pods}?fieldSelector=status.reason%3DEvicted`)
    expect(answer).toMatchObject({
      code: 400,
      body: { reason: 'BadRequest', message: 'field label not supported: status.reason' },
    })
    const set = await client.get('/apis/apps/v1/daemonsets?fieldSelector=spec.x%3D1')
    expect(at(set.body, 'message')).toBe(
      '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    )
  })

  test('PartialObjectMetadata and Table forms', async () => {
    makePods(1)
    const partial = await client.get(pods, 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1')
    expect(partial.body).toMatchObject({
      kind: 'PartialObjectMetadataList',
      items: [{ metadata: { name: 'p-00' } }],
    })
    expect(at(partial.body, 'items.0.spec')).toBeUndefined()
    const table = await client.get(pods, 'application/json;as=Table;v=v1;g=meta.k8s.io')
    expect(table.body).toMatchObject({
      kind: 'Table',
      rows: [{ cells: ['p-00', '0/1', 'Pending', '0', '0s', '<none>', '<none>', '<none>', '<none>'] }],
    })
  })
})

const makeOne = (name: string) => api.store.create('pods', pod(name))

const fill = () => {
  api.store.create('nodes', node('node-07'))
  api.store.create('nodes', {
    ...node('node-08'),
    spec: { unschedulable: true },
  } satisfies Partial<Node> as Node)
  api.store.create('pods', pod('waiting', { nodeName: 'node-07' }))
  api.store.create('pods', pod('running', { nodeName: 'node-07' }))
  setPhase('running', 'Running')
  const event = (name: string, type: string, reason: string, component: string) =>
    api.store.create('events', {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: 'payments' },
      involvedObject: { kind: 'Pod', name: 'waiting', namespace: 'payments' },
      reason,
      type,
      source: { component },
      lastTimestamp: '2026-11-30T15:00:00Z',
    })
  event('e1', 'Warning', 'FailedCreatePodSandBox', 'kubelet')
  event('e2', 'Normal', 'Scheduled', 'default-scheduler')
}

describe('watches', () => {
  test('leaving a selection is DELETED, with the object as it was and the new resourceVersion', async () => {
    makeOne('a')
    const list = await client.get(`${pods}?fieldSelector=status.phase%3DPending`)
    const watch = await client.watch(
      `${pods}?watch=true&fieldSelector=status.phase%3DPending&resourceVersion=${versionOf(list.body)}`,
    )
    const after = setPhase('a', 'Running')
    const frame = await watch.next()
    expect(frame).toMatchObject({
      type: 'DELETED',
      object: { kind: 'Pod', apiVersion: 'v1', status: { phase: 'Pending' } },
    })
    expect(versionOf(frame?.object)).toBe(after.metadata.resourceVersion)
    setPhase('a', 'Pending')
    expect((await watch.next())?.type).toBe('ADDED')
    api.store.remove('pods', 'payments', 'a')
    expect((await watch.next())?.type).toBe('DELETED')
    watch.stop()
  })

  test('goes on from a resourceVersion without loss, and from none with everything as ADDED', async () => {
    makePods(2)
    const version = versionOf((await client.get(pods)).body)
    makeOne('later')
    const resumed = await client.watch(`${pods}?watch=1&resourceVersion=${version}`)
    expect(nameOf(await resumed.next())).toBe('later')
    resumed.stop()
    const fresh = await client.watch(`${pods}?watch=1&timeoutSeconds=1`)
    const seen = [await fresh.next(), await fresh.next(), await fresh.next()]
    expect(seen.map(nameOf)).toEqual(['later', 'p-00', 'p-01'])
    expect(await fresh.next()).toBeUndefined()
  })

  test('a resourceVersion that is too old: 200, then the ERROR frame of the capture, then the end', async () => {
    makePods(1)
    api.faults.compact()
    const watch = await client.watch(`${pods}?watch=true&resourceVersion=1`)
    expect(watch.code).toBe(200)
    const frame = await watch.next()
    expect({ ...frame, object: { ...frame?.object, message: '' } }).toEqual({
      ...tooOld,
      object: { ...tooOld.object, message: '' },
    })
    expect(String(frame?.object.message as string)).toMatch(/^too old resource version: 1 \(\d+\)$/)
    expect(await watch.next()).toBeUndefined()
  })

  test('bookmarks: when asked for, two seconds before the end, and after streamed initial events', async () => {
    makePods(1)
    const watch = await client.watch(
      `${pods}?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1`,
    )
    expect((await watch.next())?.type).toBe('ADDED')
    expect(await watch.next()).toEqual({
      type: 'BOOKMARK',
      object: {
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: {
          resourceVersion: String(api.store.revision),
          annotations: { 'k8s.io/initial-events-end': 'true' },
        },
        spec: { containers: null },
        status: {},
      },
    })
    expect((await watch.next())?.type).toBe('BOOKMARK')
    expect(await watch.next()).toBeUndefined()
    const refused = await client.get(`${pods}?watch=true&sendInitialEvents=true`)
    expect(refused).toMatchObject({ code: 422, body: { reason: 'Invalid' } })
  })

  test('faults: silence, a broken connection, an ERROR frame, 500 and 429 answers', async () => {
    makePods(1)
    const version = versionOf((await client.get(pods)).body)
    const open = () => client.watch(`${pods}?watch=true&resourceVersion=${version}`)
    const failing = await open()
    api.faults.failWatches({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason: 'InternalError',
      code: 500,
    })
    expect(await failing.next()).toMatchObject({ type: 'ERROR', object: { code: 500 } })
    const broken = await open()
    api.faults.resetWatches()
    await expect(broken.next()).rejects.toThrow()
    const quiet = await open()
    api.faults.silenceWatches()
    makeOne('unheard')
    api.faults.clear()
    makeOne('heard')
    expect(nameOf(await quiet.next())).toBe('heard')
    quiet.stop()
    api.faults.add({
      times: 1,
      when: each => each.verb === 'list',
      answer: {
        code: 429,
        reason: 'TooManyRequests',
        message: 'too many requests, please try again later',
        retryAfter: 1,
      },
    })
    const busy = await client.get(pods)
    expect(busy.code).toBe(429)
    expect(busy.headers.get('retry-after')).toBe('1')
    expect((await client.get(pods)).code).toBe(200)
  })
})
