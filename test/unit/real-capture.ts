import { readFileSync } from 'node:fs'
import {
  type Bundle,
  known,
  type NetworkStore,
  type PodFacts,
  type Sandbox,
} from '../../src/core/evidence/bundle.js'
import { bundleWithoutAnswers } from '../fakes/bundle.js'

interface CapturedPod {
  metadata: { namespace: string; name: string; uid: string; creationTimestamp: string }
  spec: { nodeName: string; hostNetwork?: boolean }
  status: {
    phase: string
    startTime: string | null
    podIPs: { ip: string }[]
    conditions: { type: string; status: string; lastTransitionTime: string }[]
  }
}
interface CapturedSandbox {
  id: string
  metadata: { name: string; uid: string; namespace: string; attempt: number }
  state: string
  createdAt: string
}
interface CapturedConflist {
  name: string
  cniVersion: string
  plugins: { type: string; ipam?: { ranges: { subnet: string }[][] } }[]
}

const folder = (moment: string): string => `test/fixtures/real-cluster/${moment}`
const json = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T

const storeOf = (moment: string): NetworkStore => {
  const lines = readFileSync(`${folder(moment)}/store.tsv`, 'utf8')
    .trimEnd()
    .split('\n')
  const files = lines.map((line, index) => {
    const [name = '', mtime = '', size = '', content = '""'] = line.split('\t')
    return {
      name,
      mtime: Number(mtime),
      size: Number(size),
      content: JSON.parse(content) as string,
      inode: 1_000 + index,
    }
  })
  const bookkeeping = files.filter(({ name }) => name === 'lock' || name.startsWith('last_reserved_ip'))
  return {
    network: 'k8s-pod-network',
    dir: '/var/lib/cni/networks/k8s-pod-network',
    allocations: files
      .filter(file => !bookkeeping.includes(file))
      .map(({ name, ...file }) => {
        const [owner = '', ifname] = file.content.split('\r\n')
        return { ip: name, owner, ifname, ...file }
      }),
    bookkeeping: bookkeeping.map(({ name }) => name),
    foreign: [],
    unreadable: [],
    entries: files.length,
    lockInode: files.find(({ name }) => name === 'lock')?.inode,
  }
}

const sandboxesOf = (moment: string): Sandbox[] =>
  json<{ items: CapturedSandbox[] }>(`${folder(moment)}/crictl-pods.json`).items.map(item => {
    const nanoseconds = BigInt(item.createdAt)
    return {
      id: item.id,
      namespace: item.metadata.namespace,
      pod: item.metadata.name,
      podUid: item.metadata.uid,
      attempt: item.metadata.attempt,
      state: item.state === 'SANDBOX_READY' ? 'ready' : 'notready',
      createdAt: nanoseconds < 0n ? undefined : Number(nanoseconds / 1_000_000n),
    }
  })

const podsOf = (moment: string): PodFacts[] =>
  json<{ items: CapturedPod[] }>(`${folder(moment)}/pods.json`).items.map(({ metadata, spec, status }) => {
    const condition = (type: string): boolean | undefined => {
      const found = status.conditions.find(entry => entry.type === type)
      return found && found.status === 'True'
    }
    return {
      namespace: metadata.namespace,
      name: metadata.name,
      uid: metadata.uid,
      node: spec.nodeName,
      phase: status.phase,
      hostNetwork: spec.hostNetwork === true,
      ips: status.podIPs.map(({ ip }) => ip),
      ready: condition('Ready') === true,
      controller: undefined,
      labels: {},
      createdAt: Date.parse(metadata.creationTimestamp),
      scheduledAt: undefined,
      startedAt: status.startTime === null ? undefined : Date.parse(status.startTime),
      deletedAt: undefined,
      sandboxReady: condition('PodReadyToStartContainers'),
      mirror: false,
    }
  })

/** A captured moment as a bundle, as if read `afterMs` after the youngest file was made. Journal and API facts are unknown. */
export const realCapture = (moment: string, options: { pods?: boolean; afterMs?: number } = {}): Bundle => {
  const store = storeOf(moment)
  const conflist = json<CapturedConflist>(`${folder(moment)}/10-k8s-pod-network.conflist`)
  const at = Math.max(...store.allocations.map(({ mtime }) => mtime)) + (options.afterMs ?? 20 * 60_000)
  return {
    ...bundleWithoutAnswers(moment.startsWith('node-09') ? 'node-09' : 'node-07', at),
    shown: 'probe',
    ...(options.pods !== false && { pods: known(podsOf(moment), at) }),
    host: known(
      { hostname: 'node-07', now: at, skewMs: 0, bootId: 'boot-1', bootedAt: Date.UTC(2026, 10, 30, 12) },
      at,
    ),
    conflist: known(
      {
        path: '/etc/cni/net.d/10-k8s-pod-network.conflist',
        name: conflist.name,
        cniVersion: conflist.cniVersion,
        plugins: conflist.plugins.map(({ type }) => type),
        ipam: {
          type: 'host-local',
          dataDir: '/var/lib/cni/networks',
          rangeSets: conflist.plugins[0]?.ipam?.ranges ?? [],
        },
        others: [],
      },
      at,
    ),
    stores: known([store], at),
    runtime: known(
      {
        name: 'containerd',
        version: '2.1.9',
        endpoint: 'unix:///run/containerd/containerd.sock',
        endpointFrom: "the kubelet's configuration",
        startedAt: Date.UTC(2026, 10, 30, 15, 23, 34),
      },
      at,
    ),
    sandboxes: known(sandboxesOf(moment), at),
  }
}
