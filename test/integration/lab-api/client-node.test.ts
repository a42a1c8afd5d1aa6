import {
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  PatchStrategy,
  PolicyV1Api,
  setHeaderOptions,
  Watch,
} from '@kubernetes/client-node'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type LabApi, startApiServer } from '../../lab/api/index.js'
import type { Node, Pod } from '../../lab/api/shapes.js'
import { fixedClock, node, pod, workload } from './tiny-cluster.js'

let api: LabApi
let config: KubeConfig
let core: CoreV1Api

beforeEach(async () => {
  api = await startApiServer({ clock: fixedClock() })
  config = new KubeConfig()
  config.loadFromString(api.kubeconfig('worker'))
  core = config.makeApiClient(CoreV1Api)
  api.store.create('nodes', node('node-07'))
  api.store.create('pods', pod('a', { nodeName: 'node-07' }))
})

afterEach(() => api.close())

const stored = () => api.store.get('nodes', undefined, 'node-07') as Node

describe('the real @kubernetes/client-node', () => {
  test('lists in pages and by field, with dates parsed', async () => {
    api.store.create('pods', pod('b'))
    const first = await core.listPodForAllNamespaces({ limit: 1 })
    expect(first.items.map(each => each.metadata?.name)).toEqual(['a'])
    expect(first.items[0]?.metadata?.creationTimestamp).toEqual(new Date('2026-11-30T15:00:00Z'))
    const second = await core.listPodForAllNamespaces({
      limit: 1,
      _continue: first.metadata?._continue ?? '',
    })
    expect(second.items.map(each => each.metadata?.name)).toEqual(['b'])
    const there = await core.listPodForAllNamespaces({ fieldSelector: 'spec.nodeName=node-07' })
    expect(there.items).toHaveLength(1)
  })

  test('patchNode needs its content type: without one the object body is refused', async () => {
    const body = { spec: { unschedulable: true } }
    await expect(core.patchNode({ name: 'node-07', body })).rejects.toMatchObject({ code: 400 })
    await core.patchNode(
      { name: 'node-07', body },
      setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch),
    )
    expect(stored().spec.unschedulable).toBe(true)
    expect(api.audit.at(-1)).toMatchObject({
      verb: 'patch',
      resource: 'nodes',
      name: 'node-07',
      user: 'worker',
    })
  })

  test('creates, reads status, evicts and gets real errors', async () => {
    const { uid } = await core
      .readNamespacedPod({ name: 'a', namespace: 'payments' })
      .then(each => each.metadata ?? {})
    const eviction = (wanted: string | undefined) => ({
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'a', namespace: 'payments' },
      deleteOptions: wanted === undefined ? {} : { preconditions: { uid: wanted } },
    })
    const evict = (wanted: string | undefined) =>
      core.createNamespacedPodEviction({ name: 'a', namespace: 'payments', body: eviction(wanted) })
    await expect(evict('other')).rejects.toMatchObject({ code: 409 })
    await evict(uid)
    expect((api.store.get('pods', 'payments', 'a') as Pod).metadata.deletionTimestamp).toBe(
      '2026-11-30T15:00:02Z',
    )
    await expect(core.readNamespacedPod({ name: 'none', namespace: 'payments' })).rejects.toMatchObject({
      code: 404,
    })
    const policy = config.makeApiClient(PolicyV1Api)
    expect((await policy.listPodDisruptionBudgetForAllNamespaces()).items).toEqual([])
    api.store.create('daemonsets', workload('DaemonSet', 'agent'))
    const sets = await config.makeApiClient(AppsV1Api).listDaemonSetForAllNamespaces()
    expect(sets.items[0]?.spec?.updateStrategy?.rollingUpdate?.maxUnavailable).toBe(1)
  })

  test('Watch sees frames, bookmarks and the clean end', async () => {
    const seen: string[] = []
    const list = await core.listPodForAllNamespaces()
    const query = {
      resourceVersion: list.metadata?.resourceVersion,
      allowWatchBookmarks: true,
      fieldSelector: 'status.phase=Pending',
    }
    await new Promise<void>((resolve, reject) => {
      const watch = new Watch(config).watch(
        '/api/v1/pods',
        query,
        (phase: string, object: { metadata?: { name?: string } }) => {
          seen.push(`${phase} ${object.metadata?.name ?? ''}`.trim())
          if (phase === 'ADDED') api.faults.bookmark()
          if (phase === 'BOOKMARK') api.faults.endWatches()
        },
        error => (error === undefined || error === null ? resolve() : reject(error as Error)),
      )
      watch.then(() => api.store.create('pods', pod('b')), reject)
    })
    expect(seen).toEqual(['ADDED b', 'BOOKMARK'])
  })
})
