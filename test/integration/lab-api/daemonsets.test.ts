import { afterEach, describe, expect, test } from '@jest/globals'
import { targetNode } from '../../lab/api/controllers/daemonsets.js'
import type { Node, Pod, Workload } from '../../lab/api/shapes.js'
import { node, startTinyCluster, type TinyCluster, until, workload } from './tiny-cluster.js'

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
const targets = (of: TinyCluster) =>
  pods(of)
    .map(each => targetNode(each) ?? '')
    .toSorted((a, b) => a.localeCompare(b))
const read = (of: TinyCluster, resource: string, name: string) =>
  of.store.get(resource, 'payments', name) as Workload

const cordon = (of: TinyCluster, name: string, unschedulable: boolean) => {
  const found = of.store.get('nodes', undefined, name) as Node
  of.store.update('nodes', { ...found, spec: { ...found.spec, unschedulable } })
}

describe('DaemonSets', () => {
  test('C2: one node without a sandbox leaves the rollout at 17 of 18', async () => {
    const lab = start({ nodes: 18, refuse: each => each.spec.nodeName === 'node-07' })
    lab.store.create('daemonsets', workload('DaemonSet', 'log-shipper'))
    await until(lab.store, () => read(lab, 'daemonsets', 'log-shipper').status.numberReady === 17, '17 ready')
    await lab.controllers.settled()
    expect(read(lab, 'daemonsets', 'log-shipper').status).toEqual({
      currentNumberScheduled: 18,
      numberMisscheduled: 0,
      desiredNumberScheduled: 18,
      numberReady: 17,
      observedGeneration: 1,
      updatedNumberScheduled: 18,
      numberAvailable: 17,
      numberUnavailable: 1,
    })
    expect(targets(lab)).toEqual(lab.store.list('nodes').map(each => each.metadata.name))
  })

  test('a rolling update replaces one node at a time and stops at the first that does not come back', async () => {
    let broken = ''
    const lab = start({ nodes: 6, refuse: each => each.spec.nodeName === broken })
    lab.store.create('daemonsets', workload('DaemonSet', 'log-shipper'))
    await until(lab.store, () => read(lab, 'daemonsets', 'log-shipper').status.numberReady === 6, 'six ready')
    broken = 'node-03'
    const old = read(lab, 'daemonsets', 'log-shipper')
    const template = {
      ...old.spec.template,
      metadata: { ...old.spec.template.metadata, annotations: { restarted: '1' } },
    }
    lab.store.update('daemonsets', { ...old, spec: { ...old.spec, template } })
    const stuck = () =>
      pods(lab).some(
        each =>
          each.spec.nodeName === 'node-03' &&
          each.metadata.deletionTimestamp === undefined &&
          each.status.phase === 'Pending',
      )
    await until(lab.store, stuck, 'node-03 stuck')
    await lab.controllers.settled()
    const { status, metadata } = read(lab, 'daemonsets', 'log-shipper')
    expect(metadata.generation).toBe(2)
    expect(status).toMatchObject({
      observedGeneration: 2,
      desiredNumberScheduled: 6,
      numberReady: 5,
      numberUnavailable: 1,
    })
    expect(Number(status.updatedNumberScheduled)).toBeLessThanOrEqual(6)
    expect(
      lab.store
        .list('controllerrevisions')
        .map(each => Number(each.revision))
        .toSorted(ascending),
    ).toEqual([1, 2])
  })

  test('a new node gets its Pod, a cordoned one keeps it', async () => {
    const lab = start({ nodes: 2 })
    lab.store.create('daemonsets', workload('DaemonSet', 'agent'))
    await until(lab.store, () => read(lab, 'daemonsets', 'agent').status.numberReady === 2, 'two ready')
    cordon(lab, 'node-01', true)
    lab.store.create('nodes', node('node-09'))
    await until(lab.store, () => read(lab, 'daemonsets', 'agent').status.numberReady === 3, 'three ready')
    expect(targets(lab)).toEqual(['node-01', 'node-02', 'node-09'])
  })
})
