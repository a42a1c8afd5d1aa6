import { createCluster } from '../../../src/adapters/kubernetes/cluster.js'
import type { TestPodSpec } from '../../../src/core/requests.js'
import type { Cluster } from '../../../src/ports.js'
import { type Controllers, startControllers } from '../../lab/api/controllers.js'
import type { ApiRequest } from '../../lab/api/request.js'
import { podObject, startTestApi, type TestApi, until } from './api.js'

const clock = { now: () => Date.now() }

describe('changing the cluster', () => {
  let api: TestApi
  let cluster: Cluster
  let controllers: Controllers | undefined
  let expectUid: string
  beforeEach(async () => {
    api = await startTestApi()
    cluster = createCluster(api.kube, clock)
    const { store } = api.server
    store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'cnibot' } })
    const node = (name: string, taints: object[] = []) =>
      store.create('nodes', {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name },
        spec: { taints },
        status: { allocatable: { pods: '110' }, conditions: [{ type: 'Ready', status: 'True' }] },
      })
    expectUid = node('node-07', [{ key: 'pool', value: 'batch', effect: 'NoSchedule' }]).metadata.uid ?? ''
    node('node-08')
  })
  afterEach(async () => {
    controllers?.stop()
    controllers = undefined
    await api.close()
  })
  const spec = (via: TestPodSpec['via']): TestPodSpec => ({
    namespace: 'cnibot',
    name: `test-${via}`,
    image: 'registry.k8s.io/pause:3.10',
    node: 'node-07',
    via,
    // The node's own, as a plan has read them.
    taints: [{ key: 'pool', effect: 'NoSchedule' }],
    labels: {},
    annotations: {},
  })
  const ours = () => ({ unschedulable: true, cordonedBy: 'node-07.1', expectUid })

  test('a node that changes between reading and patching is read again', async () => {
    let raced = 0
    // Somebody labels the node each time it has been read, twice.
    const race = ({ verb, name }: ApiRequest): boolean => {
      if (verb !== 'patch' || raced >= 2) return false
      raced += 1
      const node = api.server.store.get('nodes', undefined, name ?? '')
      if (node)
        api.server.store.update('nodes', {
          ...node,
          metadata: { ...node.metadata, labels: { raced: String(raced) } },
        })
      return false
    }
    api.server.faults.add({ when: race, answer: 'reset' })
    await cluster.setSchedulable('node-07', ours())
    expect(raced).toBe(2)
    expect(await cluster.node('node-07')).toMatchObject({
      unschedulable: true,
      cordonedBy: 'node-07.1',
      labels: { raced: '2' },
    })
  })

  test('somebody cordons in between: theirs stays theirs', async () => {
    let raced = false
    api.server.faults.add({
      when: ({ verb }) => {
        const node = api.server.store.get('nodes', undefined, 'node-07')
        if (verb === 'patch' && !raced && node) {
          raced = true
          api.server.store.update('nodes', { ...node, spec: { ...node.spec, unschedulable: true } })
        }
        return false
      },
      answer: 'reset',
    })
    expect(await cluster.setSchedulable('node-07', ours())).toEqual({
      wasUnschedulable: true,
      wasCordonedBy: undefined,
    })
    expect(await cluster.node('node-07')).toMatchObject({ unschedulable: true, cordonedBy: undefined })
  })

  test('a node that never stands still: Unreachable, after a few attempts', async () => {
    const answer = { code: 409, reason: 'Conflict', message: 'the object has been modified' }
    api.server.faults.add({ when: ({ verb }) => verb === 'patch', answer })
    await expect(cluster.setSchedulable('node-07', ours())).rejects.toThrow(
      /changed 5 times while it was read/,
    )
  })

  test('cordon and annotation go in one strategic merge patch', async () => {
    await cluster.setSchedulable('node-07', ours())
    expect(api.server.audit.filter(({ verb }) => verb === 'patch')).toHaveLength(1)
    await cluster.setSchedulable('node-07', ours())
    expect(api.server.audit.filter(({ verb }) => verb === 'patch')).toHaveLength(1)
  })

  test('P-V2: pinned runs on the cordoned node; through the scheduler it waits for the uncordon', async () => {
    controllers = startControllers({ store: api.server.store, clock })
    await cluster.setSchedulable('node-07', ours())
    await controllers.settled()
    await cluster.createTestPod(spec('pinned'))
    const { uid } = await cluster.createTestPod(spec('scheduler'))
    await controllers.settled()
    expect((await cluster.pod('cnibot', 'test-pinned'))?.node).toBe('node-07')
    expect((await cluster.pod('cnibot', 'test-scheduler'))?.node).toBeUndefined()
    expect((await cluster.podEvents('cnibot', 'test-scheduler', uid)).join('\n')).toMatch(
      /FailedScheduling: 0\/2 nodes/,
    )
    await cluster.setSchedulable('node-07', { unschedulable: false, cordonedBy: undefined, expectUid })
    await until(
      'the scheduler',
      async () => (await cluster.pod('cnibot', 'test-scheduler'))?.node === 'node-07',
    )
  })

  test('P-V2: the test Pod is what the restricted Pod Security level admits, and costs next to nothing', async () => {
    await cluster.createTestPod(spec('pinned'))
    const pod = api.server.store.get('pods', 'cnibot', 'test-pinned')
    expect(pod?.metadata.labels).toMatchObject({ 'cnibot.io/test-pod': 'true' })
    expect(pod?.spec).toMatchObject({
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      automountServiceAccountToken: false,
      restartPolicy: 'Never',
      activeDeadlineSeconds: 600,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          imagePullPolicy: 'IfNotPresent',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          resources: { requests: { cpu: '1m', memory: '8Mi' } },
        },
      ],
    })
    expect(pod?.spec).not.toHaveProperty('hostNetwork', true)
    expect(pod?.spec).not.toHaveProperty('volumes')
  })

  test('a namespace that is not there is named', async () => {
    await expect(cluster.createTestPod({ ...spec('pinned'), namespace: 'nowhere' })).rejects.toThrow(
      /could not create test Pod nowhere\/test-pinned: not found: namespaces "nowhere" not found/,
    )
  })

  test('lists are paged, however long', async () => {
    for (let n = 0; n < 1_001; n += 1)
      api.server.store.create('pods', podObject(`p-${n}`, { phase: 'Running' }))
    expect(await cluster.podsOnNode('node-07')).toHaveLength(1_001)
    const lists = api.asked.filter(({ verb, type }) => verb === 'list' && type.resource === 'pods')
    expect(lists.map(({ query }) => [query.get('limit'), query.get('fieldSelector')])).toEqual(
      Array.from({ length: 3 }, () => ['500', 'spec.nodeName=node-07']),
    )
  })
})
