import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { MemoryStore } from '../../lab/api/memory-store.js'
import { completeAfter, type Kubelets, startKubelets } from '../../lab/nodes/kubelet.js'
import type { LabNode } from '../../lab/nodes/index.js'
import type { KubeObject } from '../../lab/store.js'
import { startTestLab, type TestLab } from './ssh.js'

let lab: TestLab
let store: MemoryStore
let kubelets: Kubelets
let node: LabNode

beforeEach(async () => {
  // A /28 has 13 addresses for Pods, so that it fills quickly.
  lab = await startTestLab(['node-07'], { podCidr: () => '10.244.7.0/28' })
  node = lab.nodes.node('node-07')
  store = new MemoryStore({ clock: lab.clock })
  kubelets = startKubelets({ store, nodes: lab.nodes, clock: lab.clock, releaseDelayMs: 20 })
})
afterEach(async () => {
  await kubelets.stop()
  await lab.close()
})

const fixture = (name: string) =>
  JSON.parse(readFileSync(`test/fixtures/lab-nodes/${name}.json`, 'utf8')) as KubeObject

/** Creates a Pod like the captured one and lets the kubelet do all that is due. */
const create = async (name: string, change: Partial<KubeObject['metadata']> = {}, spec = {}) => {
  const captured = fixture('pod-stuck')
  const { labels = {}, ownerReferences = [] } = captured.metadata
  store.create('pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'kube-system', labels, ownerReferences, ...change },
    spec: { ...captured.spec, ...spec },
  })
  await kubelets.settled()
  return get(name)
}
const get = (name: string) => store.get('pods', 'kube-system', name)
const status = (name: string) => get(name)?.status ?? {}
const events = (reason: string) => store.list('events').filter(event => event['reason'] === reason)
const later = async (ms: number) => {
  lab.clock.advance(ms)
  await kubelets.settled()
}
const markDeleted = async (name: string) => {
  const pod = get(name)
  if (pod === undefined) throw new Error(`no Pod ${name}`)
  const metadata = { ...pod.metadata, deletionTimestamp: new Date(lab.clock.now()).toISOString() }
  store.update('pods', { ...pod, metadata: { ...metadata, deletionGracePeriodSeconds: 1 } })
  await kubelets.settled()
}

/** Every key of an object with the kind of its value, to compare shapes and not values. */
const shape = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shape)
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, shape(inner)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}

describe('a Pod on a node with room', () => {
  test('runs with an address of the range, its status shaped as the real one', async () => {
    await create('log-shipper-1')
    const real = fixture('pod-running').status
    expect(shape(status('log-shipper-1'))).toEqual(shape(real))
    expect(status('log-shipper-1')).toMatchObject({
      phase: 'Running',
      podIP: '10.244.7.2',
      hostIP: '127.0.0.1',
    })
    expect(node.sandboxes()).toHaveLength(1)
    expect(events('Started')).toHaveLength(1)
  })

  test('on the host network takes no address', async () => {
    await create('exporter', {}, { hostNetwork: true })
    expect(status('exporter')).toMatchObject({ phase: 'Running', podIP: '127.0.0.1' })
    expect(node.allocations()).toEqual([])
  })

  test('gives its address back after its object is gone (P-V3)', async () => {
    await create('log-shipper-1')
    await kubelets.stop()
    kubelets = startKubelets({ store, nodes: lab.nodes, clock: lab.clock, releaseDelayMs: 200 })
    let atRemoval = -1
    const stop = store.onChange((type, resource) => {
      if (type === 'DELETED' && resource === 'pods') atRemoval = node.allocations().length
    })
    await markDeleted('log-shipper-1')
    stop()
    expect(get('log-shipper-1')).toBeUndefined()
    expect(atRemoval).toBe(1)
    expect(node.allocations()).toEqual([])
    expect(node.sandboxes().map(sandbox => sandbox.state)).toEqual(['notready'])
    await later(61_000)
    expect(node.sandboxes()).toEqual([])
  })

  test('of a Job ends by itself, its address free and its sandbox NotReady', async () => {
    await create('settle', { annotations: { [completeAfter]: '30' } }, { restartPolicy: 'Never' })
    const { podIP } = status('settle')
    await later(31_000)
    const real = fixture('pod-succeeded').status
    expect(shape(status('settle'))).toEqual(shape(real))
    expect(status('settle')).toMatchObject({ phase: 'Succeeded', podIP })
    expect(node.allocations()).toEqual([])
    expect(node.sandboxes().map(sandbox => sandbox.state)).toEqual(['notready'])
  })
})

describe('a Pod on a full node', () => {
  beforeEach(async () => {
    await node.leak(13)
  })

  test('waits in ContainerCreating on a Ready node, shaped as the real one (C1)', async () => {
    await create('log-shipper-1')
    const real = fixture('pod-stuck').status
    expect(shape(status('log-shipper-1'))).toEqual(shape(real))
    const conditions = store.get('nodes', undefined, 'node-07')?.status?.['conditions'] as { type: string }[]
    expect(conditions.at(-1)).toMatchObject({ type: 'Ready', status: 'True' })
  })

  test('with init containers waits in PodInitializing (C1)', async () => {
    await create('with-init', {}, { initContainers: [{ name: 'wait', image: 'busybox' }] })
    const waiting = { state: { waiting: { reason: 'PodInitializing' } } }
    expect(status('with-init')).toMatchObject({
      initContainerStatuses: [{ name: 'wait', ...waiting }],
      containerStatuses: [waiting],
    })
  })

  test('gets nine single events, then one folded event, as the real kubelet sends them (P-E1)', async () => {
    await create('log-shipper-1')
    for (let retry = 1; retry < 14; retry += 1) await later(13_000)
    const failed = events('FailedCreatePodSandBox')
    const real = fixture('events-stuck') as unknown as KubeObject[]
    const withoutKind = failed.map(({ apiVersion: _version, kind: _kind, ...event }) => event)
    expect(withoutKind.map(shape)).toEqual(real.map(shape))
    const folded = failed.filter(event =>
      String(event['message']).startsWith('(combined from similar events): '),
    )
    expect(folded).toHaveLength(1)
    expect(folded[0]).toMatchObject({ count: 5, reportingComponent: '', reportingInstance: '' })
    expect(folded[0]?.['source']).toEqual({ component: 'kubelet', host: 'node-07' })
    const ids = failed.map(event => /sandbox "([0-9a-f]{64})"/.exec(String(event['message']))?.[1])
    expect(new Set(ids).size).toBe(10)
  })

  test('counts on over a jump of the clock, written every five minutes only (P-E1)', async () => {
    await create('log-shipper-1')
    await later(41 * 60_000)
    const failed = events('FailedCreatePodSandBox')
    expect(failed).toHaveLength(10)
    const counts = failed.map(event => event['count'])
    expect(counts.filter(count => count === 1)).toHaveLength(9)
    const total = counts.reduce((sum: number, count) => sum + Number(count), 0)
    // One attempt every 12 to 13 s; the last write may lie up to five minutes back.
    expect(total).toBeGreaterThan((36 * 60) / 13)
    expect(total).toBeLessThanOrEqual((41 * 60) / 12 + 1)
    const journal = await lab.run(
      'node-07',
      'journalctl -u containerd -u kubelet -o cat --no-pager -g "no IP addresses"',
    )
    expect(journal).toContain('"Error syncing pod, skipping"')
    expect(journal).toContain('RunPodSandbox for &PodSandboxMetadata{Name:log-shipper-1,')
  })

  test('starts by itself at the next try once there is room', async () => {
    await create('log-shipper-1')
    const [orphan] = node.orphans()
    await lab.run('node-07', `rm "$CNIBOT_NODE_ROOT/var/lib/cni/networks/k8s-pod-network/${orphan?.address}"`)
    await later(13_000)
    expect(status('log-shipper-1')).toMatchObject({ phase: 'Running', podIP: orphan?.address })
  })

  test('is deleted at once while it is stuck', async () => {
    await create('log-shipper-1')
    await markDeleted('log-shipper-1')
    expect(get('log-shipper-1')).toBeUndefined()
  })
})

describe('trouble with the runtime', () => {
  test('a restart that loses its records leaks every address, and Pods get new sandboxes', async () => {
    await create('log-shipper-1')
    const [first] = node.sandboxes()
    const before = node.allocations()
    node.restartRuntime({ loseMetadata: true })
    expect(node.sandboxes()).toEqual([])
    await later(2000)
    expect(node.orphans()).toEqual(before)
    expect(node.sandboxes().map(sandbox => sandbox.pod.attempt)).toEqual([1])
    expect(node.sandboxes()[0]?.id).not.toBe(first?.id)
    expect(events('SandboxChanged')).toHaveLength(1)
    expect(status('log-shipper-1')).toMatchObject({
      phase: 'Running',
      containerStatuses: [{ restartCount: 1 }],
    })
  })

  test('on a full range the Pod stays Running without a sandbox, shaped as the real one (C1)', async () => {
    await create('log-shipper-1')
    await node.leak(12)
    node.restartRuntime({ loseMetadata: true })
    await later(2000)
    const real = fixture('pod-without-sandbox').status as { conditions: unknown }
    const { phase, conditions, podIP } = status('log-shipper-1')
    expect({ phase, podIP }).toEqual({ phase: 'Running', podIP: undefined })
    expect(shape(conditions)).toEqual(shape(real.conditions))
    expect(events('FailedCreatePodSandBox')).toHaveLength(1)
  })

  test('a reboot kills the sandboxes; their addresses are freed, leaked ones are not', async () => {
    await create('log-shipper-1')
    await node.leak(5)
    node.reboot()
    await later(1000)
    expect(node.orphans()).toHaveLength(5)
    expect(node.allocations()).toHaveLength(6)
    expect(status('log-shipper-1')).toMatchObject({ phase: 'Running' })
  })

  test('a failing DEL keeps the Pod in Terminating and its address taken (P-E7)', async () => {
    await create('log-shipper-1')
    node.breakDel('empty-cache')
    await markDeleted('log-shipper-1')
    expect(get('log-shipper-1')?.metadata.deletionTimestamp).toBeDefined()
    expect(node.allocations()).toHaveLength(1)
    const [event] = events('FailedKillPod')
    expect(event?.['message']).toMatch(
      /^error killing pod: failed to "KillPodSandbox" for "[0-9a-f-]{36}" with KillPodSandboxError: "rpc error: code = Unknown desc = failed to destroy network for sandbox \\"[0-9a-f]{64}\\": failed to get network/,
    )
    node.breakDel(false)
    await later(13_000)
    expect(get('log-shipper-1')).toBeUndefined()
    expect(node.allocations()).toEqual([])
  })

  test('a network that does not load makes the node NotReady; a full range does not (P-R1)', async () => {
    node.switches.conflistBroken(true)
    await create('log-shipper-1')
    expect(String(events('FailedCreatePodSandBox')[0]?.['message'])).toMatch(/": cni plugin not initialized$/)
    await kubelets.stop()
    kubelets = startKubelets({ store, nodes: lab.nodes, clock: lab.clock })
    const conditions = store.get('nodes', undefined, 'node-07')?.status?.['conditions'] as {
      message: string
    }[]
    expect(conditions.at(-1)?.message).toContain('Network plugin returns error: cni plugin not initialized')
  })
})

test('a Node object is shaped as the real one', () => {
  const { images: _real, declaredFeatures: _features, ...real } = fixture('node').status ?? {}
  const { images: _ours, ...ours } = store.get('nodes', undefined, 'node-07')?.status ?? {}
  expect(shape(ours)).toEqual(shape(real))
  expect(ours).toMatchObject({
    nodeInfo: { bootID: node.bootId, containerRuntimeVersion: 'containerd://1.7.24' },
  })
})
