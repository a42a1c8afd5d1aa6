/** One node of the API, trimmed. */
export interface NodeFacts {
  name: string
  uid: string
  bootId: string
  internalIp: string | undefined
  conditions: { type: string; status: string; reason: string; message: string }[]
  unschedulable: boolean
  taints: { key: string; effect: string }[]
  maxPods: number
  podCidrs: string[]
  runtimeVersion: string
  kubeletVersion: string
  labels: Record<string, string>
  /** Our mark, where the cordon that stands is ours; undefined for somebody else's, even where our mark was left behind. */
  cordonedBy: string | undefined
  /** With what somebody else cordoned it: `kubectl`. */
  cordonedWith?: string | undefined
  createdAt: number
}

export interface Controller {
  kind: string
  name: string
  uid: string
}

/** One Pod of the API, trimmed to what a decision needs. */
export interface PodFacts {
  namespace: string
  name: string
  uid: string
  node: string | undefined
  phase: string
  hostNetwork: boolean
  ips: string[]
  ready: boolean
  controller: Controller | undefined
  labels: Record<string, string>
  createdAt: number
  scheduledAt: number | undefined
  startedAt: number | undefined
  deletedAt: number | undefined
  /** `PodReadyToStartContainers`: the sandbox is up. undefined on kubelets without it. */
  sandboxReady: boolean | undefined
  mirror: boolean
}

/** FailedCreatePodSandBox events of one Pod, singles and the folded one together. */
export interface SandboxEvents {
  namespace: string
  pod: string
  podUid: string
  node: string | undefined
  count: number
  first: number
  last: number
  /** The newest message, without the "(combined from similar events)" prefix. */
  message: string
  /** Whether the server has begun to fold them. */
  folded: boolean
}

export interface Rollout {
  namespace: string
  name: string
  uid: string
  generation: number
  observedGeneration: number
  desired: number
  ready: number
  updated: number
  available: number
  /** Nodes that should run its Pod and have none available, with that Pod where there is one. */
  missing: { node: string; pod: string | undefined; podUid: string | undefined }[]
}
