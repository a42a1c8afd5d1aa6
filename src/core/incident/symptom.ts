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
