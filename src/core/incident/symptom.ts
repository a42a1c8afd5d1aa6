import type { Controller, SandboxEvents } from '../evidence/bundle.js'

/** The workload a Pod belongs to, named as people name it: the Deployment rather than its ReplicaSet. */
export interface Workload {
  namespace: string
  kind: string
  name: string
}

/** One observation about one node. */
export type Symptom = StuckSandbox | StuckRollout

export interface StuckSandbox {
  kind: 'stuck-sandbox'
  node: string
  workload: Workload
  pod: string
  podUid: string
  /** Since when the Pod has been waiting for its sandbox. */
  since: number
  /** The CNI message of the newest FailedCreatePodSandBox event. */
  message: string | undefined
  /** The message says that the range is used up: counts at once, without the threshold. */
  exhausted: boolean
}

export interface StuckRollout {
  kind: 'stuck-rollout'
  node: string
  workload: Workload
  pod: string | undefined
  podUid: string | undefined
  /** Since when the same node has lacked the same Pod without progress. */
  since: number
  desired: number
  ready: number
}

/** The label by which the bot knows the test Pods it made itself; they never become symptoms. */
export const testPodLabel = 'cnibot.io/test-pod'

/** What the watch keeps of one Pod: enough to tell a stuck sandbox, a few hundred bytes. */
export interface WatchedPod {
  namespace: string
  name: string
  uid: string
  node: string | undefined
  phase: string
  hostNetwork: boolean
  controller: Controller | undefined
  /** `pod-template-hash`: what a ReplicaSet's name has more than its Deployment's. */
  templateHash: string | undefined
  /** Carries `testPodLabel`. */
  testPod: boolean
  createdAt: number
  /** When PodScheduled became True; the wait for a sandbox cannot be older. */
  scheduledAt: number | undefined
  deletedAt: number | undefined
  /** Waiting containers, init containers too: ContainerCreating, PodInitializing, ImagePullBackOff, … */
  waiting: { reason: string; init: boolean }[]
  /** The kubelet has written no container status at all. */
  statusesMissing: boolean
  /** `PodReadyToStartContainers`; undefined on kubelets without it. */
  sandboxReady: boolean | undefined
  /** When that condition last changed. */
  sandboxReadyChangedAt: number | undefined
}

/** What the API's events say of one Pod. */
export interface PodEvents {
  /** Its FailedCreatePodSandBox events. */
  sandbox: SandboxEvents | undefined
  /** Its other Warning events as `reason: message`, newest last. */
  others: string[]
}

export type PodReading =
  | { kind: 'stuck'; symptom: StuckSandbox }
  /** Waits for its sandbox, but not yet for long enough; look again at `dueAt`. */
  | { kind: 'waiting'; since: number; dueAt: number }
  /** Not started, for a reason that is not the sandbox. */
  | { kind: 'other'; reason: string }
  | { kind: 'fine' }
