import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type LabApi, startApiServer } from '../../lab/api/index.js'
import { at, type Pod } from '../../lab/api/shapes.js'
import { Client, namesOf, versionOf } from './client.js'
import { fixedClock, node, pod } from './tiny-cluster.js'

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

const fill = () => {
  api.store.create('nodes', node('node-07'))
  api.store.create('nodes', {
    ...node('node-08'),
    spec: { unschedulable: true },
  })
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
