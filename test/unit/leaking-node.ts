import {
  type Allocation,
  type Bundle,
  known,
  type PodFacts,
  type Sandbox,
} from '../../src/core/evidence/bundle.js'
import { bundleWithoutAnswers } from '../fakes/bundle.js'

export const now = Date.UTC(2026, 10, 4, 11, 31)
export const minute = 60_000
export const day = 24 * 60 * minute
/** The containerd restarts of the story: fifteen days ago. */
export const restarts = [now - 15 * day, now - 15 * day + 18 * minute]

export const idOf = (n: number): string => n.toString(16).padStart(64, '0')
export const allocation = (n: number, over: Partial<Allocation> = {}): Allocation => {
  const owner = over.owner ?? idOf(n)
  return {
    ip: `10.244.7.${n}`,
    owner,
    ifname: 'eth0',
    content: owner === '' ? '' : `${owner}\r\neth0`,
    inode: 5_000 + n,
    size: owner === '' ? 0 : 70,
    mtime: now - 20 * day,
    ...over,
  }
}
export const sandbox = (n: number, over: Partial<Sandbox> = {}): Sandbox => ({
  id: idOf(n),
  namespace: 'payments',
  pod: `api-${n}`,
  podUid: `uid-${n}`,
  attempt: 0,
  state: 'ready',
  createdAt: now - 20 * day,
  ...over,
})
export const pod = (n: number, over: Partial<PodFacts> = {}): PodFacts => ({
  namespace: 'payments',
  name: `api-${n}`,
  uid: `uid-${n}`,
  node: 'node-07',
  phase: 'Running',
  hostNetwork: false,
  ips: [`10.244.7.${n}`],
  ready: true,
  controller: { kind: 'ReplicaSet', name: 'api-55447db4fc', uid: 'rs' },
  labels: {},
  createdAt: now - 20 * day,
  scheduledAt: now - 20 * day,
  startedAt: now - 20 * day,
  deletedAt: undefined,
  sandboxReady: true,
  mirror: false,
  ...over,
})

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

export const storeWith = (allocations: Allocation[]) => ({
  network: 'k8s-pod-network',
  dir: '/var/lib/cni/networks/k8s-pod-network',
  allocations,
  bookkeeping: ['last_reserved_ip.0', 'lock'],
  foreign: [],
  unreadable: [],
  entries: allocations.length + 2,
  lockInode: 4_711,
})

/** `live` sandboxes with addresses from .2 on, then `orphans` made around the restarts fifteen days ago. */
export const leakingNode = (live: number, orphans: number, over: Partial<Bundle> = {}): Bundle => {
  const living = range(2, live + 1)
  const gone = range(live + 2, live + orphans + 1)
  const allocations = [
    ...living.map(n => allocation(n)),
    ...gone.map((n, i) => allocation(n, { mtime: (restarts[1] ?? 0) - 1_000 * (orphans - i) })),
  ]
  return {
    ...bundleWithoutAnswers('node-07', now),
    shown: 'probe',
    facts: known(
      {
        name: 'node-07',
        uid: 'node-uid',
        bootId: 'boot-1',
        internalIp: '10.250.0.7',
        conditions: [
          { type: 'MemoryPressure', status: 'False', reason: '', message: '' },
          { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' },
        ],
        unschedulable: true,
        taints: [],
        maxPods: 110,
        podCidrs: ['10.244.7.0/24'],
        runtimeVersion: 'containerd://1.7.24',
        kubeletVersion: 'v1.33.1',
        labels: {},
        cordonedBy: undefined,
        createdAt: now - 300 * day,
      },
      now,
    ),
    pods: known(
      living.map(n => pod(n)),
      now,
    ),
    events: known([], now),
    rollouts: known([], now),
    host: known({ hostname: 'node-07', now, skewMs: 0, bootId: 'boot-1', bootedAt: now - 200 * day }, now),
    conflist: known(
      {
        path: '/etc/cni/net.d/10-k8s-pod-network.conflist',
        name: 'k8s-pod-network',
        cniVersion: '1.0.0',
        plugins: ['bridge', 'portmap'],
        ipam: {
          type: 'host-local',
          dataDir: '/var/lib/cni/networks',
          rangeSets: [[{ subnet: '10.244.7.0/24' }]],
        },
        others: [],
      },
      now,
    ),
    stores: known([storeWith(allocations)], now),
    runtime: known(
      {
        name: 'containerd',
        version: '1.7.24',
        endpoint: 'unix:///run/containerd/containerd.sock',
        endpointFrom: "the kubelet's configuration",
        startedAt: restarts[1],
      },
      now,
    ),
    sandboxes: known(
      living.map(n => sandbox(n)),
      now + 1,
    ),
    records: known({ source: 'ctr -n k8s.io containers ls -q', ids: living.map(idOf) }, now + 2),
    owners: known(
      gone.slice(0, 3).map(n => ({ ip: `10.244.7.${n}`, owner: idOf(n), known: false, said: 'not found' })),
      now,
    ),
    held: known(
      living.map(n => ({ ip: `10.244.7.${n}`, by: 'namespace' as const, where: `cni-${n}` })),
      now,
    ),
    journal: known(
      {
        units: ['containerd', 'kubelet'],
        since: now - 16 * day,
        until: now,
        reachesBackTo: now - 60 * day,
        lines: [],
        dropped: 0,
      },
      now,
    ),
    restarts: known({ runtime: restarts, kubelet: [], boots: [] }, now),
    leftovers: known({ veths: live, orphanedVeths: 0, natChains: live, cachedResults: live }, now),
    peers: [],
    ...over,
  }
}
