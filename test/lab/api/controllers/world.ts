import type { KubeObject, LabStore } from '../../store.js'
import { nameSuffix, sameJson } from '../objects.js'
import {
  controllerOf,
  isFinished,
  type Node,
  type Pod,
  type ReadClock,
  timestamp,
  type Workload,
} from '../shapes.js'
import { deleteObject } from '../deletion.js'

/** What the controllers share: the store, the clock, and ways to make and delete Pods that leave events behind. */
export class World {
  readonly store: LabStore
  readonly clock: ReadClock
  readonly stopListening: () => void
  readonly #random: () => number
  /** Pods by their controller's uid, until the next change of a Pod. */
  #byOwner: Map<string, Pod[]> | undefined
  readonly #events = new Map<string, string>()

  constructor(store: LabStore, clock: ReadClock, random: () => number) {
    this.store = store
    this.clock = clock
    this.#random = random
    this.stopListening = store.onChange((_type, resource) => {
      if (resource === 'pods') this.#byOwner = undefined
    })
  }

  nodes(): Node[] {
    return this.store.list('nodes') as Node[]
  }

  pods(namespace?: string): Pod[] {
    return this.store.list('pods', namespace) as Pod[]
  }

  podsOf(owner: KubeObject): Pod[] {
    this.#byOwner ??= byController(this.pods())
    return [...(this.#byOwner.get(owner.metadata.uid ?? '') ?? [])]
  }

  workloads(resource: string): Workload[] {
    return this.store.list(resource) as Workload[]
  }

  suffix(): string {
    return nameSuffix(this.#random)
  }

  /** A Pod from the owner's template. `name` fixed, or `owner-xxxxx`. */
  createPod(owner: Workload, component: string, change: (pod: Pod) => Pod = pod => pod, name?: string): Pod {
    const { template } = owner.spec
    const generateName = `${owner.metadata.name}-`
    const pod = this.store.create(
      'pods',
      change({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: name ?? generateName + this.suffix(),
          generateName,
          ...namespaceOf(owner),
          ...(template.metadata?.labels === undefined ? {} : { labels: template.metadata.labels }),
          ...(template.metadata?.annotations === undefined
            ? {}
            : { annotations: template.metadata.annotations }),
          ownerReferences: [ownerReference(owner)],
        },
        spec: template.spec,
        status: {},
      }),
    )
    this.record(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`, component)
    return pod as Pod
  }

  deletePod(owner: KubeObject, pod: Pod, component: string): void {
    deleteObject(this.store, this.clock, 'pods', pod)
    this.record(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`, component)
  }

  setStatus(resource: string, object: KubeObject, status: Record<string, unknown>): void {
    if (!sameJson(object.status, status)) this.store.update(resource, { ...object, status })
  }

  /** An event in the legacy form, counted up when the same was said before. */
  record(about: KubeObject, type: string, reason: string, message: string, component: string): void {
    const { metadata } = about
    const key = [metadata.uid, type, reason, message, component].join('\n')
    const now = timestamp(this.clock.now())
    const namespace = metadata.namespace ?? 'default'
    const known = this.#events.get(key)
    const old = known === undefined ? undefined : this.store.get('events', namespace, known)
    if (old !== undefined) {
      this.store.update('events', { ...old, count: Number(old.count ?? 1) + 1, lastTimestamp: now })
      return
    }
    const serial = (
      BigInt(Math.round(this.clock.now())) * 1_000_000n +
      BigInt(Math.floor(this.#random() * 1e6))
    ).toString(16)
    const event = this.store.create('events', {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${metadata.name}.${serial}`, namespace },
      involvedObject: {
        kind: about.kind,
        ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
        name: metadata.name,
        uid: metadata.uid,
        apiVersion: about.apiVersion,
        resourceVersion: metadata.resourceVersion,
      },
      reason,
      message,
      source: { component },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
      type,
      eventTime: null,
      reportingComponent: component,
      reportingInstance: '',
    })
    this.#events.set(key, event.metadata.name)
  }
}

const byController = (pods: Pod[]): Map<string, Pod[]> => {
  const groups = new Map<string, Pod[]>()
  for (const pod of pods) {
    const uid = controllerOf(pod)?.uid ?? ''
    const group = groups.get(uid)
    if (group === undefined) groups.set(uid, [pod])
    else group.push(pod)
  }
  return groups
}

export const namespaceOf = (object: KubeObject): { namespace?: string } =>
  object.metadata.namespace === undefined ? {} : { namespace: object.metadata.namespace }

export const ownerReference = (owner: KubeObject) => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
})

/** Pods that count: neither finished nor on their way out. */
export const isActive = (pod: Pod): boolean =>
  !isFinished(pod) && pod.metadata.deletionTimestamp === undefined

/** A number or a percentage of `total`; percentages round up for surge and budgets, down for what may be missing. */
export const scaled = (value: number | string | undefined, total: number, round: 'up' | 'down'): number => {
  if (value === undefined) return 0
  if (typeof value === 'number') return value
  if (!value.endsWith('%')) return Number(value)
  const share = (Number(value.slice(0, -1)) * total) / 100
  return round === 'up' ? Math.ceil(share) : Math.floor(share)
}
