import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type LabApi, startApiServer } from '../../lab/api/index.js'
import { at, type Node } from '../../lab/api/shapes.js'
import { Client, versionOf } from './client.js'
import { fixedClock, node, pod, workload } from './tiny-cluster.js'

const pods = '/api/v1/namespaces/payments/pods'
const json = 'application/json-patch+json'
const merge = 'application/merge-patch+json'
const strategic = 'application/strategic-merge-patch+json'
const apply = 'application/apply-patch+yaml'

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

const patch = (path: string, type: string, body: unknown) => client.request('PATCH', path, { type, body })
const stored = () => api.store.get('nodes', undefined, 'node-07') as Node
const a = () => api.store.get('pods', 'payments', 'a')

describe('patches', () => {
  test('json-patch: test, add, replace, remove; a failed test is 422, an object body 400', async () => {
    const version = stored().metadata.resourceVersion
    const done = await patch('/api/v1/nodes/node-07', json, [
      { op: 'test', path: '/metadata/resourceVersion', value: version },
      { op: 'add', path: '/spec/unschedulable', value: true },
      { op: 'add', path: '/metadata/annotations', value: {} },
      { op: 'add', path: '/metadata/annotations/cnibot.io~1cordoned', value: 'i-1' },
      { op: 'remove', path: '/metadata/labels/kubernetes.io~1os' },
    ])
    expect(done.code).toBe(200)
    expect(stored().spec.unschedulable).toBe(true)
    expect(stored().metadata).toMatchObject({
      annotations: { 'cnibot.io/cordoned': 'i-1' },
      labels: { 'kubernetes.io/hostname': 'node-07' },
    })
    expect(stored().metadata.labels).not.toHaveProperty(['kubernetes.io/os'])
    const stale = await patch('/api/v1/nodes/node-07', json, [
      { op: 'test', path: '/metadata/resourceVersion', value: version },
    ])
    expect(stale).toMatchObject({
      code: 422,
      body: { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' },
    })
    expect((await patch('/api/v1/nodes/node-07', json, { spec: {} })).body).toMatchObject({
      code: 400,
      message:
        'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    })
  })

  test('merge-patch: null removes; a resourceVersion that is not the newest is 409', async () => {
    const version = stored().metadata.resourceVersion
    await patch('/api/v1/nodes/node-07', merge, {
      spec: { unschedulable: true },
      metadata: { resourceVersion: version },
    })
    expect(stored().spec).toEqual({ podCIDR: '10.244.7.0/24', unschedulable: true })
    const late = await patch('/api/v1/nodes/node-07', merge, {
      spec: { unschedulable: null },
      metadata: { resourceVersion: version },
    })
    expect(late.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message:
        'Operation cannot be fulfilled on nodes "node-07": the object has been modified; please apply your changes to the latest version and try again',
      reason: 'Conflict',
      details: { name: 'node-07', kind: 'nodes' },
      code: 409,
    })
    await patch('/api/v1/nodes/node-07', merge, { spec: { unschedulable: null } })
    expect(stored().spec).toEqual({ podCIDR: '10.244.7.0/24' })
  })

  test('strategic: conditions join by type, taints are replaced as a whole, $patch deletes', async () => {
    await patch('/api/v1/nodes/node-07', strategic, {
      spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] },
    })
    await patch('/api/v1/nodes/node-07', strategic, {
      spec: { taints: [{ key: 'b', effect: 'NoSchedule' }] },
    })
    expect(stored().spec.taints).toEqual([{ key: 'b', effect: 'NoSchedule' }])
    await patch('/api/v1/nodes/node-07/status', strategic, {
      status: {
        conditions: [
          { type: 'DiskPressure', status: 'False' },
          { type: 'Ready', status: 'False' },
        ],
      },
    })
    expect(stored().status.conditions).toEqual([
      { type: 'Ready', status: 'False', reason: 'KubeletReady' },
      { type: 'DiskPressure', status: 'False' },
    ])
    await patch('/api/v1/nodes/node-07/status', strategic, {
      status: { conditions: [{ type: 'DiskPressure', $patch: 'delete' }] },
    })
    expect(stored().status.conditions).toHaveLength(1)
  })

  test('server-side apply creates, then merges; without a field manager it is refused', async () => {
    const path = '/apis/apps/v1/namespaces/payments/daemonsets/agent'
    await client.request('POST', '/api/v1/namespaces', { body: { metadata: { name: 'payments' } } })
    const made = await patch(`${path}?fieldManager=test`, apply, workload('DaemonSet', 'agent'))
    expect(made.code).toBe(201)
    const annotations = { 'kubectl.kubernetes.io/restartedAt': '2026-11-30T15:00:00Z' }
    const changed = await patch(`${path}?fieldManager=test`, apply, {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'agent' },
      spec: { template: { metadata: { annotations } } },
    })
    expect(changed).toMatchObject({ code: 200, body: { metadata: { generation: 2 } } })
    expect(at(changed.body, 'spec.template.spec.containers.0.name')).toBe('main')
    expect((await patch(path, apply, {})).code).toBe(422)
  })
})

describe('writes', () => {
  beforeEach(() => {
    api.store.create('pods', pod('a', { nodeName: 'node-07' }))
  })

  test('the main resource leaves status alone, /status leaves spec alone', async () => {
    const body = { spec: { unschedulable: true }, status: { conditions: [] } }
    await patch('/api/v1/nodes/node-07', merge, body)
    expect(stored().status.conditions).toHaveLength(1)
    await patch('/api/v1/nodes/node-07', merge, { spec: { unschedulable: null } })
    await patch('/api/v1/nodes/node-07/status', merge, body)
    expect(stored().spec.unschedulable).toBeUndefined()
    expect(stored().status.conditions).toHaveLength(0)
  })

  test("a PUT with an old resourceVersion is 409; a Pod's spec cannot be changed", async () => {
    const read = await client.get(`${pods}/a`)
    await patch(`${pods}/a`, merge, { metadata: { labels: { x: 'y' } } })
    expect(await client.request('PUT', `${pods}/a`, { body: read.body })).toMatchObject({
      code: 409,
      body: { reason: 'Conflict' },
    })
    const moved = await patch(`${pods}/a`, merge, { spec: { nodeName: 'node-08' } })
    expect(moved).toMatchObject({
      code: 422,
      body: { details: { causes: [{ reason: 'FieldValueForbidden', field: 'spec' }] } },
    })
  })

  test('a write that changes nothing makes no new resourceVersion', async () => {
    const before = versionOf(a())
    const same = await patch(`${pods}/a`, merge, { metadata: { labels: null } })
    expect(versionOf(same.body)).toBe(before)
  })

  test('dry runs answer as if, and store nothing', async () => {
    const before = api.store.revision
    const made = await client.request('POST', `${pods}?dryRun=All`, { body: pod('b') })
    expect(made).toMatchObject({
      code: 201,
      body: { spec: { restartPolicy: 'Always' }, status: { phase: 'Pending' } },
    })
    expect(
      (await patch('/api/v1/nodes/node-07?dryRun=All', merge, { spec: { unschedulable: true } })).body,
    ).toMatchObject({
      spec: { unschedulable: true },
    })
    expect((await client.request('DELETE', `${pods}/a?dryRun=All`)).code).toBe(200)
    expect(api.store.revision).toBe(before)
  })

  test('deletion: a bound Pod terminates, a second delete may shorten the grace, grace 0 removes at once', async () => {
    const first = await client.request('DELETE', `${pods}/a`)
    expect(first.body).toMatchObject({
      kind: 'Pod',
      metadata: { deletionTimestamp: '2026-11-30T15:00:02Z', deletionGracePeriodSeconds: 2, generation: 2 },
    })
    await client.request('DELETE', `${pods}/a`, { body: { gracePeriodSeconds: 1 } })
    expect(a()?.metadata.deletionGracePeriodSeconds).toBe(1)
    await client.request('DELETE', `${pods}/a`, { body: { gracePeriodSeconds: 0 } })
    expect(a()).toBeUndefined()
    api.store.create('pods', pod('unbound'))
    await client.request('DELETE', `${pods}/unbound`)
    expect(api.store.get('pods', 'payments', 'unbound')).toBeUndefined()
  })

  test('deletion: a precondition that does not hold is 409, other resources are answered with a Status', async () => {
    const wrong = await client.request('DELETE', `${pods}/a`, { body: { preconditions: { uid: 'x' } } })
    expect(wrong).toMatchObject({
      code: 409,
      body: { reason: 'Conflict', details: { name: 'a', kind: 'Pod' } },
    })
    expect(a()?.metadata.deletionTimestamp).toBeUndefined()
    const { uid } = api.store.create('daemonsets', workload('DaemonSet', 'agent')).metadata
    const gone = await client.request('DELETE', '/apis/apps/v1/namespaces/payments/daemonsets/agent')
    expect(gone.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'agent', group: 'apps', kind: 'daemonsets', uid },
      code: 200,
    })
  })

  test('binding gives an unbound Pod its node, once', async () => {
    api.store.create('pods', pod('b'))
    const bind = () =>
      client.request('POST', `${pods}/b/binding`, { body: { target: { kind: 'Node', name: 'node-07' } } })
    expect((await bind()).code).toBe(201)
    expect(api.store.get('pods', 'payments', 'b')?.metadata.generation).toBe(1)
    expect((await bind()).body).toMatchObject({
      code: 409,
      message: 'Operation cannot be fulfilled on pods "b": pod b is already assigned to node "node-07"',
    })
  })
})
