/** What the lab's parts need of the API server double: an object store that tells of its changes. */
export interface KubeObject {
  apiVersion: string
  kind: string
  metadata: {
    name: string
    namespace?: string
    uid?: string
    resourceVersion?: string
    generation?: number
    creationTimestamp?: string
    deletionTimestamp?: string
    deletionGracePeriodSeconds?: number
    labels?: Record<string, string>
    annotations?: Record<string, string>
    ownerReferences?: { apiVersion: string; kind: string; name: string; uid: string; controller?: boolean }[]
    finalizers?: string[]
    [key: string]: unknown
  }
  spec?: Record<string, unknown>
  status?: Record<string, unknown>
  [key: string]: unknown
}

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED'

/**
 * `resource` is the plural REST name: pods, nodes, events, daemonsets, deployments, replicasets, jobs, …
 * Objects handed out are frozen: change a copy and give it to `update`.
 */
export interface LabStore {
  list(resource: string, namespace?: string): KubeObject[]
  get(resource: string, namespace: string | undefined, name: string): KubeObject | undefined
  /** Fills uid, resourceVersion, creationTimestamp. Throws when the name is taken. `manager`: who is said to have written it. */
  create(resource: string, object: KubeObject, manager?: string): KubeObject
  /**
   * Replaces the object, raises its resourceVersion, tells the watchers. Nothing happens when nothing differs.
   * Throws when it is gone, or carries a resourceVersion that is not the newest: read it again just before.
   */
  update(resource: string, object: KubeObject, manager?: string): KubeObject
  /** Removes at once, without grace: what a kubelet does at the end of a Pod's termination. */
  remove(resource: string, namespace: string | undefined, name: string): void
  onChange(listener: (type: ChangeType, resource: string, object: KubeObject) => void): () => void
}
