import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type LabApi, startApiServer } from '../../lab/api/index.js'
import type { Pod } from '../../lab/api/shapes.js'
import { Client, nameOf, versionOf } from './client.js'
import { fixedClock, pod } from './tiny-cluster.js'

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

const makeOne = (name: string) => api.store.create('pods', pod(name))

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
