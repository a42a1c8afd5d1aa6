import { type Controllers, startControllers } from '../../lab/api/controllers.js'
import { MemoryStore } from '../../lab/api/index.js'
import { isFinished, type Pod, timestamp } from '../../lab/api/shapes.js'
import type { KubeObject, LabStore } from '../../lab/store.js'

export const start = Date.parse('2026-11-30T15:00:00Z')

export const fixedClock = () => {
  let time = start
  return {
    now: () => time,
    advance: (milliseconds: number) => {
      time += milliseconds
    },
  }
}

export const node = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' } },
  spec: { podCIDR: '10.244.7.0/24' },
  status: {
    allocatable: { cpu: '2', memory: '24581696Ki', pods: '110' },
    capacity: { cpu: '2', memory: '24684096Ki', pods: '110' },
    addresses: [{ type: 'InternalIP', address: '10.250.0.7' }],
    conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
    nodeInfo: {
      kubeletVersion: 'v1.36.2',
      osImage: 'Debian GNU/Linux 12 (bookworm)',
      kernelVersion: '6.1.0',
      architecture: 'amd64',
      containerRuntimeVersion: 'containerd://2.1.9',
    },
  },
})

const spec = {
  containers: [{ name: 'main', image: 'lab.local/busybox:1.35' }],
  terminationGracePeriodSeconds: 2,
}

export const pod = (
  name: string,
  more: Record<string, unknown> = {},
  labels?: Record<string, string>,
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'payments', ...(labels === undefined ? {} : { labels }) },
  spec: { ...spec, ...more },
})

export const workload = (kind: string, name: string, more: Record<string, unknown> = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name, namespace: 'payments', labels: { app: name } },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec },
    ...more,
  },
})

const conditionTypes = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady']

/**
 * Starts every bound Pod at once and ends those that are being deleted. `refuse` names Pods that stay as they are.
 * Works in the next turn, as a kubelet does not act inside somebody else's write.
 */
export const startKubelet = (store: LabStore, refuse: (pod: Pod) => boolean = () => false): (() => void) => {
  const act = (name: string, namespace: string | undefined) => {
    const found = store.get('pods', namespace, name) as Pod | undefined
    if (found === undefined || found.spec.nodeName === undefined) return
    if (found.metadata.deletionTimestamp !== undefined) {
      store.remove('pods', namespace, name)
      return
    }
    if (isFinished(found) || found.status.phase === 'Running' || refuse(found)) return
    const kept = (found.status.conditions ?? []).filter(each => !conditionTypes.includes(each.type))
    const lastTransitionTime = timestamp(start)
    const conditions = conditionTypes.map(type => ({
      type,
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime,
    }))
    const containerStatuses = (found.spec.containers ?? []).map(each => ({
      name: each.name ?? '',
      ready: true,
      restartCount: 0,
      state: { running: { startedAt: lastTransitionTime } },
    }))
    const status = {
      ...found.status,
      phase: 'Running',
      podIP: '10.244.7.5',
      conditions: [...conditions, ...kept],
      containerStatuses,
    }
    store.update('pods', { ...found, status })
  }
  return store.onChange((type, resource, object) => {
    if (resource === 'pods' && type !== 'DELETED')
      setImmediate(() => act(object.metadata.name, object.metadata.namespace))
  })
}

export interface TinyCluster {
  store: MemoryStore
  clock: ReturnType<typeof fixedClock>
  controllers: Controllers
  stop(): void
}

/** Nodes node-01 … with controllers and a kubelet, all in this process. Random names are the same each time. */
export const startTinyCluster = (
  options: { nodes?: number; refuse?: (pod: Pod) => boolean; store?: MemoryStore } = {},
): TinyCluster => {
  const clock = fixedClock()
  const store = options.store ?? new MemoryStore({ clock, random: seeded(1) })
  for (let index = 1; index <= (options.nodes ?? 3); index += 1)
    store.create('nodes', node(`node-${String(index).padStart(2, '0')}`))
  const stopKubelet = startKubelet(store, options.refuse)
  const controllers = startControllers({ store, clock, random: seeded(2) })
  return {
    store,
    clock,
    controllers,
    stop: () => {
      stopKubelet()
      controllers.stop()
    },
  }
}

/** mulberry32 */
export const seeded = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Resolves once `condition` holds, looked at after each change; fails after ten seconds. */
export const until = (store: LabStore, condition: () => boolean, what: string): Promise<void> =>
  new Promise((resolve, reject) => {
    if (condition()) return resolve()
    const finish = (act: () => void) => {
      clearTimeout(deadline)
      stop()
      act()
    }
    const deadline = setTimeout(() => finish(() => reject(new Error(`never happened: ${what}`))), 10_000)
    const stop = store.onChange(() => {
      if (condition()) finish(resolve)
    })
  })
