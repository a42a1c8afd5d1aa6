import { afterEach, describe, expect, test } from '@jest/globals'
import { isActive } from '../../lab/api/controllers/world.js'
import { deleteObject } from '../../lab/api/index.js'
import { type Node, type Pod, type Workload, hasCondition } from '../../lab/api/shapes.js'
import { pod, startTinyCluster, type TinyCluster, until, workload } from './tiny-cluster.js'

let cluster: TinyCluster | undefined
afterEach(() => {
  cluster?.stop()
})

const start = (options: Parameters<typeof startTinyCluster>[0] = {}): TinyCluster => {
  cluster = startTinyCluster(options)
  return cluster
}

const pods = (of: TinyCluster) => of.store.list('pods') as Pod[]
const ascending = (a = 0, b = 0) => a - b
const read = (of: TinyCluster, resource: string, name: string) =>
  of.store.get(resource, 'payments', name) as Workload

const cordon = (of: TinyCluster, name: string, unschedulable: boolean) => {
  const found = of.store.get('nodes', undefined, name) as Node
  of.store.update('nodes', { ...found, spec: { ...found.spec, unschedulable } })
}

describe('scheduler', () => {
  test('takes the emptiest node, the first by name among equals', async () => {
    const lab = start()
    for (const name of ['a', 'b', 'c', 'd']) lab.store.create('pods', pod(name))
    await until(lab.store, () => pods(lab).every(each => each.spec.nodeName !== undefined), 'all Pods bound')
    expect(pods(lab).map(each => each.spec.nodeName)).toEqual(['node-01', 'node-02', 'node-03', 'node-01'])
    expect(hasCondition(read(lab, 'pods', 'a'), 'PodScheduled')).toBe(true)
    const events = lab.store.list('events', 'payments').filter(each => each.reason === 'Scheduled')
    expect(events.map(each => each.message)).toContain('Successfully assigned payments/b to node-02')
  })

  test('leaves a cordoned node out, says why when nothing is left, and comes back after uncordon', async () => {
    const lab = start({ nodes: 1 })
    cordon(lab, 'node-01', true)
    lab.store.create('pods', pod('a'))
    await until(lab.store, () => read(lab, 'pods', 'a').status.conditions !== undefined, 'a reason')
    const refused = (read(lab, 'pods', 'a') as Pod).status.conditions?.[0]
    expect(refused).toMatchObject({ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' })
    expect(refused?.message).toMatch(/^0\/1 nodes are available: 1 node\(s\) were unschedulable\./)
    const tainted = lab.store.get('nodes', undefined, 'node-01') as Node
    expect(tainted.spec.taints).toMatchObject([
      { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
    ])
    cordon(lab, 'node-01', false)
    await until(lab.store, () => read(lab, 'pods', 'a').spec.nodeName === 'node-01', 'the Pod bound')
    expect((lab.store.get('nodes', undefined, 'node-01') as Node).spec.taints).toBeUndefined()
  })

  test('places a test Pod by matchFields on a cordoned node that it tolerates', async () => {
    const lab = start()
    cordon(lab, 'node-02', true)
    const terms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-02'] }] }]
    lab.store.create(
      'pods',
      pod('canary', {
        affinity: {
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
        },
        tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }],
      }),
    )
    await until(
      lab.store,
      () => read(lab, 'pods', 'canary').spec.nodeName === 'node-02',
      'the canary on node-02',
    )
    expect(read(lab, 'pods', 'canary').spec.nodeName).toBe('node-02')
  })
})

describe('workloads', () => {
  test('a Deployment makes a ReplicaSet and Pods with real looking names; a deleted Pod is replaced', async () => {
    const lab = start()
    lab.store.create('deployments', workload('Deployment', 'api', { replicas: 3 }))
    await until(
      lab.store,
      () => read(lab, 'deployments', 'api').status.availableReplicas === 3,
      'three available',
    )
    const [set] = lab.store.list('replicasets')
    expect(set?.metadata.name).toMatch(/^api-[bcdf-hj-np-tv-xz2456789]{6,10}$/)
    expect(pods(lab).map(each => each.metadata.name.replace(/[^-]{5}$/, ''))).toEqual(
      Array.from({ length: 3 }, () => `${set?.metadata.name}-`),
    )
    const victim = pods(lab)[0] as Pod
    deleteObject(lab.store, lab.clock, 'pods', victim)
    await lab.controllers.settled()
    await until(
      lab.store,
      () => read(lab, 'deployments', 'api').status.availableReplicas === 3,
      'three again',
    )
    expect(pods(lab).map(each => each.metadata.uid)).not.toContain(victim.metadata.uid)
  })

  test('a Deployment rolls to a new template and keeps the old ReplicaSet at zero', async () => {
    const lab = start()
    lab.store.create('deployments', workload('Deployment', 'api', { replicas: 4 }))
    await until(
      lab.store,
      () => read(lab, 'deployments', 'api').status.availableReplicas === 4,
      'four available',
    )
    const old = read(lab, 'deployments', 'api')
    const template = {
      ...old.spec.template,
      metadata: { ...old.spec.template.metadata, annotations: { restarted: '1' } },
    }
    lab.store.update('deployments', { ...old, spec: { ...old.spec, template } })
    const done = () => {
      const { status, metadata } = read(lab, 'deployments', 'api')
      return (
        status.observedGeneration === metadata.generation &&
        status.updatedReplicas === 4 &&
        status.replicas === 4 &&
        status.availableReplicas === 4
      )
    }
    const counts: { active: number; ready: number }[] = []
    const stop = lab.store.onChange(() => {
      const active = pods(lab).filter(isActive)
      counts.push({ active: active.length, ready: active.filter(each => hasCondition(each, 'Ready')).length })
    })
    await until(lab.store, done, 'the rollout')
    stop()
    // 25 % of four: one more at most, one less at least.
    expect(Math.max(...counts.map(each => each.active))).toBe(5)
    expect(Math.min(...counts.map(each => each.ready))).toBeGreaterThanOrEqual(3)
    const sets = lab.store.list('replicasets') as Workload[]
    expect(sets.map(set => set.spec.replicas).toSorted(ascending)).toEqual([0, 4])
  })

  test('a StatefulSet starts its Pods in order; a Job completes; a removed owner takes its Pods along', async () => {
    const lab = start()
    lab.store.create(
      'statefulsets',
      workload('StatefulSet', 'ledger', { replicas: 2, serviceName: 'ledger' }),
    )
    await until(lab.store, () => read(lab, 'statefulsets', 'ledger').status.readyReplicas === 2, 'two ready')
    expect(pods(lab).map(each => each.metadata.name)).toEqual(['ledger-0', 'ledger-1'])
    lab.store.remove('statefulsets', 'payments', 'ledger')
    await until(lab.store, () => pods(lab).length === 0, 'no Pods left')
    const template = {
      metadata: { labels: { app: 'settle' } },
      spec: { containers: [{ name: 'w', image: 'x:1' }], restartPolicy: 'Never' },
    }
    lab.store.create('jobs', { ...workload('Job', 'settle'), apiVersion: 'batch/v1', spec: { template } })
    await until(lab.store, () => pods(lab)[0]?.status.phase === 'Running', 'the Job running')
    const running = pods(lab)[0] as Pod
    lab.store.update('pods', { ...running, status: { ...running.status, phase: 'Succeeded' } })
    await until(lab.store, () => hasCondition(read(lab, 'jobs', 'settle'), 'Complete'), 'the Job complete')
    expect(read(lab, 'jobs', 'settle').status.succeeded).toBe(1)
  })
})

describe('budgets', () => {
  const spec = { minAvailable: 2, selector: { matchLabels: { app: 'api' } } }

  test('an eviction is counted until its Pod is replaced', async () => {
    const lab = start()
    lab.store.create('deployments', workload('Deployment', 'api', { replicas: 3 }))
    const metadata = { name: 'api', namespace: 'payments' }
    lab.store.create('poddisruptionbudgets', {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec,
    })
    const status = () => lab.store.get('poddisruptionbudgets', 'payments', 'api')?.status
    await until(lab.store, () => status()?.disruptionsAllowed === 1, 'one disruption allowed')
    expect(status()).toMatchObject({
      currentHealthy: 3,
      desiredHealthy: 2,
      expectedPods: 3,
      observedGeneration: 1,
    })
    const seen: unknown[] = []
    const stop = lab.store.onChange((_type, resource, object) => {
      if (resource === 'poddisruptionbudgets') seen.push(object.status?.disruptionsAllowed)
    })
    deleteObject(lab.store, lab.clock, 'pods', pods(lab)[0] as Pod)
    await until(lab.store, () => seen.includes(0), 'no disruption allowed')
    await until(lab.store, () => status()?.disruptionsAllowed === 1, 'one allowed again')
    stop()
    expect(seen).toEqual([0, 1])
  })
})
