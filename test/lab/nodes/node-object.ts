import type { KubeObject } from '../store.js'
import type { LabNode } from './lab-node.js'
import { secondsTime } from './sandbox-events.js'

interface Condition {
  type: string
  status: string
  lastTransitionTime?: string
  [key: string]: unknown
}

const fine: [string, string, string][] = [
  ['MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
]

/** Why the kubelet is not ready, in its own words; undefined when it is. An exhausted range is no reason. */
const notReady = (node: LabNode): string | undefined => {
  if (node.switches.isDown()) {
    return '[container runtime is down, PLEG is not healthy: pleg was last seen active 3m1.2s ago; threshold is 3m0s]'
  }
  return node.cni.loads()
    ? undefined
    : 'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized'
}

const conditions = (node: LabNode, before: Condition[], now: number): Condition[] => {
  const why = notReady(node)
  const ready =
    why === undefined
      ? ['True', 'KubeletReady', 'kubelet is posting ready status']
      : ['False', 'KubeletNotReady', why]
  const all = [...fine.map(([type, ...rest]) => [type, 'False', ...rest]), ['Ready', ...ready]]
  return all.map(([type = '', status = '', reason = '', message = '']) => {
    const old = before.find(each => each.type === type)
    const since = old?.status === status ? old.lastTransitionTime : undefined
    return {
      type,
      status,
      lastHeartbeatTime: secondsTime(now),
      lastTransitionTime: since ?? secondsTime(now),
      reason,
      message,
    }
  })
}

/** The Node as its kubelet registers it. */
export const newNodeObject = (node: LabNode): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: node.name,
    labels: {
      'beta.kubernetes.io/arch': 'amd64',
      'beta.kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/hostname': node.name,
      'kubernetes.io/os': 'linux',
    },
    annotations: {
      'node.alpha.kubernetes.io/ttl': '0',
      'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
    },
  },
  spec: { podCIDR: node.podCidr, podCIDRs: [node.podCidr] },
  status: {},
})

/** The same Node with the status of this moment; everything others wrote is kept. */
export const withNodeStatus = (object: KubeObject, node: LabNode, now: number): KubeObject => {
  const before = (object.status?.conditions ?? []) as Condition[]
  const machine = { cpu: '2', memory: '24684096Ki', 'ephemeral-storage': '264212084Ki' }
  const pods = { 'hugepages-1Gi': '0', 'hugepages-2Mi': '0', pods: '110' }
  const hexName = Buffer.from(node.name).toString('hex').padEnd(32, '0').slice(0, 32)
  return {
    ...object,
    status: {
      ...object.status,
      capacity: { ...machine, ...pods },
      allocatable: { ...machine, memory: '24581696Ki', ...pods },
      conditions: conditions(node, before, now),
      addresses: [
        { type: 'InternalIP', address: node.address },
        { type: 'Hostname', address: node.name },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: {
        machineID: hexName,
        systemUUID: hexName,
        bootID: node.bootId,
        kernelVersion: '6.1.0-41-amd64',
        osImage: 'Debian GNU/Linux 12 (bookworm)',
        containerRuntimeVersion: `containerd://${node.runtimeVersion}`,
        kubeletVersion: 'v1.36.2',
        kubeProxyVersion: '',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
      images: [{ names: ['registry.k8s.io/pause:3.10'], sizeBytes: 320368 }],
      runtimeHandlers: ['', 'runc'].map(name => ({
        name,
        features: { recursiveReadOnlyMounts: true, userNamespaces: false },
      })),
      features: { supplementalGroupsPolicy: true },
    },
  }
}
