import type { KubeObject } from '../store.js'

/** The parts of Kubernetes objects that the double and its controllers look at; all else passes through untouched. */
export interface Taint {
  key: string
  value?: string
  effect: string
  timeAdded?: string
}

export interface Toleration {
  key?: string
  operator?: string
  value?: string
  effect?: string
  tolerationSeconds?: number
}

export interface Condition {
  type: string
  status: string
  reason?: string
  message?: string
  observedGeneration?: number
  lastProbeTime?: string | null
  lastUpdateTime?: string
  lastTransitionTime?: string
}

export interface SelectorTerm {
  key: string
  operator: string
  values?: string[]
}

export interface NodeSelectorTerm {
  matchExpressions?: SelectorTerm[]
  matchFields?: SelectorTerm[]
}

export interface LabelSelector {
  matchLabels?: Record<string, string>
  matchExpressions?: SelectorTerm[]
}

export interface Container {
  name?: string
  image?: string
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> }
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[]
  [key: string]: unknown
}

export interface NodeAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: NodeSelectorTerm[] }
  [key: string]: unknown
}

export interface PodSpec {
  nodeName?: string
  nodeSelector?: Record<string, string>
  affinity?: { nodeAffinity?: NodeAffinity; [key: string]: unknown }
  tolerations?: Toleration[]
  containers?: Container[]
  initContainers?: Container[]
  volumes?: Record<string, unknown>[]
  hostNetwork?: boolean
  terminationGracePeriodSeconds?: number
  schedulerName?: string
  [key: string]: unknown
}

export interface ContainerStatus {
  name: string
  ready?: boolean
  restartCount?: number
  started?: boolean
  state?: {
    waiting?: { reason?: string }
    running?: { startedAt?: string }
    terminated?: { reason?: string; exitCode?: number; signal?: number; finishedAt?: string }
  }
  [key: string]: unknown
}

export interface PodStatus {
  phase?: string
  reason?: string
  conditions?: Condition[]
  podIP?: string
  podIPs?: { ip: string }[]
  nominatedNodeName?: string
  containerStatuses?: ContainerStatus[]
  initContainerStatuses?: ContainerStatus[]
  [key: string]: unknown
}

export interface Pod extends KubeObject {
  spec: PodSpec & Record<string, unknown>
  status: PodStatus & Record<string, unknown>
}

export interface Node extends KubeObject {
  spec: { unschedulable?: boolean; taints?: Taint[]; podCIDR?: string; [key: string]: unknown }
  status: {
    conditions?: Condition[]
    allocatable?: Record<string, string>
    addresses?: { type: string; address: string }[]
    nodeInfo?: Record<string, string>
    [key: string]: unknown
  }
}

export interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string>; [key: string]: unknown }
  spec: PodSpec & Record<string, unknown>
}

/** Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs. */
export interface Workload extends KubeObject {
  spec: {
    replicas?: number
    selector?: LabelSelector
    template: PodTemplate
    paused?: boolean
    minReadySeconds?: number
    revisionHistoryLimit?: number
    podManagementPolicy?: string
    strategy?: Rollout
    updateStrategy?: Rollout
    parallelism?: number
    completions?: number
    backoffLimit?: number
    suspend?: boolean
    [key: string]: unknown
  }
  status: Record<string, unknown>
}

export interface Rollout {
  type?: string
  rollingUpdate?: { maxUnavailable?: number | string; maxSurge?: number | string; partition?: number }
}

export interface Budget extends KubeObject {
  spec: {
    selector?: LabelSelector
    minAvailable?: number | string
    maxUnavailable?: number | string
    unhealthyPodEvictionPolicy?: string
    [key: string]: unknown
  }
  status: {
    observedGeneration?: number
    disruptionsAllowed?: number
    currentHealthy?: number
    desiredHealthy?: number
    expectedPods?: number
    disruptedPods?: Record<string, string>
    conditions?: Condition[]
    [key: string]: unknown
  }
}

export interface ReadClock {
  /** Milliseconds since 1970. */
  now(): number
}

/** The API server's time format: seconds, UTC. */
export const timestamp = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, 19)}Z`

/** The value at a dotted path, undefined where the path ends early. */
export const at = (object: unknown, path: string): unknown => {
  let value: unknown = object
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const hasCondition = (object: KubeObject, type: string): boolean =>
  ((object.status?.conditions ?? []) as Condition[]).some(
    each => each.type === type && each.status === 'True',
  )

export const isFinished = (pod: Pod): boolean =>
  pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed'

export const controllerOf = (object: KubeObject) =>
  object.metadata.ownerReferences?.find(owner => owner.controller === true)
