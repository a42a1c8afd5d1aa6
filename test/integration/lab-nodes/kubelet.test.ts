import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { completeAfter } from '../../lab/nodes/kubelet.js'
import type { KubeObject } from '../../lab/store.js'
import { fixture, KubeletLab, shape } from './kubelet-lab.js'

let world: KubeletLab
beforeEach(async () => {
  world = await KubeletLab.start()
})
afterEach(() => world.close())

describe('a Pod on a node with room', () => {
  test('runs with an address of the range, its status shaped as the real one', async () => {
    await world.create('log-shipper-1')
    const real = fixture('pod-running').status
    expect(shape(world.status('log-shipper-1'))).toEqual(shape(real))
    expect(world.status('log-shipper-1')).toMatchObject({
      phase: 'Running',
      podIP: '10.244.7.2',
      hostIP: '127.0.0.1',
    })
    expect(world.node.sandboxes()).toHaveLength(1)
    expect(world.events('Started')).toHaveLength(1)
  })

  test('on the host network takes no address', async () => {
    await world.create('exporter', {}, { hostNetwork: true })
    expect(world.status('exporter')).toMatchObject({ phase: 'Running', podIP: '127.0.0.1' })
    expect(world.node.allocations()).toEqual([])
  })

  test('gives its address back after its object is gone (P-V3)', async () => {
    await world.create('log-shipper-1')
    await world.restartKubelet({ releaseDelayMs: 200 })
    let atRemoval = -1
    const stop = world.store.onChange((type, resource) => {
      if (type === 'DELETED' && resource === 'pods') atRemoval = world.node.allocations().length
    })
    await world.markDeleted('log-shipper-1')
    stop()
    expect(world.get('log-shipper-1')).toBeUndefined()
    expect(atRemoval).toBe(1)
    expect(world.node.allocations()).toEqual([])
    expect(world.node.sandboxes().map(sandbox => sandbox.state)).toEqual(['notready'])
    await world.later(61_000)
    expect(world.node.sandboxes()).toEqual([])
  })

  test('of a Job ends by itself, its address free and its sandbox NotReady', async () => {
    await world.create('settle', { annotations: { [completeAfter]: '30' } }, { restartPolicy: 'Never' })
    const { podIP } = world.status('settle')
    await world.later(31_000)
    const real = fixture('pod-succeeded').status
    expect(shape(world.status('settle'))).toEqual(shape(real))
    expect(world.status('settle')).toMatchObject({ phase: 'Succeeded', podIP })
    expect(world.node.allocations()).toEqual([])
    expect(world.node.sandboxes().map(sandbox => sandbox.state)).toEqual(['notready'])
  })
})

describe('a Pod on a full node', () => {
  beforeEach(async () => {
    await world.node.leak(13)
  })

  test('waits in ContainerCreating on a Ready node, shaped as the real one (C1)', async () => {
    await world.create('log-shipper-1')
    const real = fixture('pod-stuck').status
    expect(shape(world.status('log-shipper-1'))).toEqual(shape(real))
    const conditions = world.store.get('nodes', undefined, 'node-07')?.status?.conditions as {
      type: string
    }[]
    expect(conditions.at(-1)).toMatchObject({ type: 'Ready', status: 'True' })
  })

  test('with init containers waits in PodInitializing (C1)', async () => {
    await world.create('with-init', {}, { initContainers: [{ name: 'wait', image: 'busybox' }] })
    const waiting = { state: { waiting: { reason: 'PodInitializing' } } }
    expect(world.status('with-init')).toMatchObject({
      initContainerStatuses: [{ name: 'wait', ...waiting }],
      containerStatuses: [waiting],
    })
  })

  test('gets nine single events, then one folded event, as the real kubelet sends them (P-E1)', async () => {
    await world.create('log-shipper-1')
    for (let retry = 1; retry < 14; retry += 1) await world.later(13_000)
    const failed = world.events('FailedCreatePodSandBox')
    const real = fixture('events-stuck') as unknown as KubeObject[]
    const withoutKind = failed.map(({ apiVersion: _version, kind: _kind, ...event }) => event)
    expect(withoutKind.map(shape)).toEqual(real.map(shape))
    const folded = failed.filter(event =>
      String(event.message).startsWith('(combined from similar events): '),
    )
    expect(folded).toHaveLength(1)
    expect(folded[0]).toMatchObject({ count: 5, reportingComponent: '', reportingInstance: '' })
    expect(folded[0]?.source).toEqual({ component: 'kubelet', host: 'node-07' })
    const ids = failed.map(event => /sandbox "([0-9a-f]{64})"/.exec(String(event.message))?.[1])
    expect(new Set(ids).size).toBe(10)
  })

  test('counts on over a jump of the clock, written every five minutes only (P-E1)', async () => {
    await world.create('log-shipper-1')
    await world.later(41 * 60_000)
    const failed = world.events('FailedCreatePodSandBox')
    expect(failed).toHaveLength(10)
    const counts = failed.map(event => event.count)
    expect(counts.filter(count => count === 1)).toHaveLength(9)
    const total = counts.reduce((sum: number, count) => sum + Number(count), 0)
    // One attempt every 12 to 13 s; the last write may lie up to five minutes back.
    expect(total).toBeGreaterThan((36 * 60) / 13)
    expect(total).toBeLessThanOrEqual((41 * 60) / 12 + 1)
    const journal = await world.lab.run(
      'node-07',
      'journalctl -u containerd -u kubelet -o cat --no-pager -g "no IP addresses"',
    )
    expect(journal).toContain('"Error syncing pod, skipping"')
    expect(journal).toContain('RunPodSandbox for &PodSandboxMetadata{Name:log-shipper-1,')
  })

  test('starts by itself at the next try once there is room', async () => {
    await world.create('log-shipper-1')
    const [orphan] = world.node.orphans()
    await world.lab.run(
      'node-07',
      `rm "$CNIBOT_NODE_ROOT/var/lib/cni/networks/k8s-pod-network/${orphan?.address}"`,
    )
    await world.later(13_000)
    expect(world.status('log-shipper-1')).toMatchObject({ phase: 'Running', podIP: orphan?.address })
  })

  test('is deleted at once while it is stuck', async () => {
    await world.create('log-shipper-1')
    await world.markDeleted('log-shipper-1')
    expect(world.get('log-shipper-1')).toBeUndefined()
  })
})

test('a Node object is shaped as the real one', () => {
  const { images: _real, declaredFeatures: _features, ...real } = fixture('node').status ?? {}
  const { images: _ours, ...ours } = world.store.get('nodes', undefined, 'node-07')?.status ?? {}
  expect(shape(ours)).toEqual(shape(real))
  expect(ours).toMatchObject({
    nodeInfo: { bootID: world.node.bootId, containerRuntimeVersion: 'containerd://1.7.24' },
  })
})
