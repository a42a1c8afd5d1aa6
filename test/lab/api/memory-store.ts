import { randomUUID } from 'node:crypto'
import type { ChangeType, KubeObject, LabStore } from '../store.js'
import { type Change, ChangeLog } from './change-log.js'
import { withDefaults, withTemplateGeneration } from './defaults.js'
import {
  freeze,
  headed,
  keyOf,
  generationSpec,
  nameSuffix,
  placeInOrder,
  sameJson,
  sorted,
  within,
} from './objects.js'
import { ownManager, withManagers } from './managed-fields.js'
import { resourceType, resourceTypes } from './resources.js'
import { type ReadClock, timestamp } from './shapes.js'
import { alreadyExists, conflict, notFound } from './status.js'

type Listener = (type: ChangeType, resource: string, object: KubeObject) => void

/** Events older than this are forgotten: the API server's --event-ttl. */
const eventLife = 3_600_000

/**
 * All objects and the last changes, in memory. Objects handed out are frozen: change a copy.
 * A write that changes nothing is no change: no new resourceVersion, nobody is told (as the real server does).
 */
export class MemoryStore implements LabStore {
  readonly clock: ReadClock
  readonly #random: () => number
  readonly #log: ChangeLog
  readonly #objects = new Map<string, Map<string, KubeObject>>()
  readonly #sorted = new Map<string, KubeObject[]>()
  readonly #listeners = new Set<(change: Change) => void>()
  #revision = 1
  #waiting: Change[] = []
  #telling = false

  constructor(options: { clock: ReadClock; random?: () => number; historyLength?: number }) {
    this.clock = options.clock
    this.#random = options.random ?? Math.random
    this.#log = new ChangeLog(options.historyLength ?? 4000)
    for (const type of resourceTypes) {
      this.#objects.set(type.resource, new Map())
      this.#sorted.set(type.resource, [])
    }
    for (const name of ['default', 'kube-node-lease', 'kube-public', 'kube-system'])
      this.#ensureNamespace(name)
  }

  get revision(): number {
    return this.#revision
  }

  /** The oldest revision from which a watch can go on. */
  get compacted(): number {
    return this.#log.compacted
  }

  /** Sorted as etcd sorts: by namespace, then name. */
  list(resource: string, namespace?: string): KubeObject[] {
    return within(this.#sortedOf(resource), namespace)
  }

  /** The list as it was at an earlier revision; undefined when that history is gone. */
  listAt(resource: string, namespace: string | undefined, revision: number): KubeObject[] | undefined {
    if (revision === this.#revision) return this.list(resource, namespace)
    const objects = this.#log.rewind(resource, this.#sortedOf(resource), revision)
    return objects === undefined ? undefined : within(sorted(objects), namespace)
  }

  get(resource: string, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.#of(resource).get(`${namespace ?? ''}/${name}`)
  }

  create(resource: string, object: KubeObject, manager = ownManager): KubeObject {
    const type = resourceType(resource)
    const draft = structuredClone(object)
    const generateName = draft.metadata.generateName
    if (typeof generateName === 'string' && (draft.metadata.name ?? '') === '')
      draft.metadata.name = generateName + nameSuffix(this.#random)
    if (type.namespaced) {
      draft.metadata.namespace ??= 'default'
      this.#ensureNamespace(draft.metadata.namespace)
    } else delete draft.metadata.namespace
    if (this.#of(resource).has(keyOf(draft))) throw alreadyExists(type, draft.metadata.name)
    const complete = withManagers(undefined, this.complete(resource, draft), manager, this.clock)
    if (resource === 'events') this.#forgetOldEvents()
    return this.#commit('ADDED', resource, complete, undefined)
  }

  /** The object with everything the server fills in on create, not stored: what a dry run answers. */
  complete(resource: string, object: KubeObject): KubeObject {
    const type = resourceType(resource)
    const draft = {
      ...object,
      metadata: {
        ...object.metadata,
        uid: randomUUID(),
        ...(type.generation ? { generation: 1 } : {}),
        creationTimestamp: timestamp(this.clock.now()),
      },
    }
    const filled = withDefaults(resource, draft, true, () => nameSuffix(this.#random))
    return headed(type, withTemplateGeneration(resource, filled, undefined))
  }

  /** @throws ApiError NotFound; Conflict when the object carries a resourceVersion that is not the newest. */
  update(resource: string, object: KubeObject, manager = ownManager): KubeObject {
    const type = resourceType(resource)
    const stored = this.#of(resource).get(keyOf(object))
    if (stored === undefined) throw notFound(type, object.metadata.name)
    const given = object.metadata.resourceVersion
    if (given !== undefined && given !== '' && given !== stored.metadata.resourceVersion)
      throw conflict(type, object.metadata.name)
    const next = withManagers(stored, this.revise(resource, stored, object), manager, this.clock)
    if (sameJson(next, stored)) return stored
    return this.#commit('MODIFIED', resource, next, stored)
  }

  /** What an update would store, except for the resourceVersion. */
  revise(resource: string, stored: KubeObject, object: KubeObject): KubeObject {
    const type = resourceType(resource)
    const {
      uid,
      creationTimestamp,
      resourceVersion,
      generation,
      deletionTimestamp,
      deletionGracePeriodSeconds,
    } = stored.metadata
    const filled = withDefaults(resource, structuredClone(object), false, () => nameSuffix(this.#random))
    // A deletion once begun cannot be taken back by a writer that did not see it.
    const kept = filled.metadata.deletionTimestamp === undefined
    const metadata: KubeObject['metadata'] = {
      ...filled.metadata,
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      ...(kept && deletionTimestamp !== undefined ? { deletionTimestamp } : {}),
      ...(kept && deletionGracePeriodSeconds !== undefined ? { deletionGracePeriodSeconds } : {}),
    }
    if (type.generation && generation !== undefined) {
      const begun = filled.metadata.deletionTimestamp !== undefined && deletionTimestamp === undefined
      const changed = begun || !sameJson(generationSpec(filled), generationSpec(stored))
      metadata.generation = changed ? generation + 1 : generation
    }
    return headed(type, withTemplateGeneration(resource, { ...filled, metadata }, stored))
  }

  remove(resource: string, namespace: string | undefined, name: string): void {
    const stored = this.get(resource, namespace, name)
    if (stored === undefined) throw notFound(resourceType(resource), name)
    this.#commit('DELETED', resource, stored, stored)
  }

  onChange(listener: Listener): () => void {
    return this.subscribe(change => listener(change.type, change.resource, change.object))
  }

  /** Like `onChange`, with the revision and the state before. */
  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Changes after `revision`; undefined when that history is gone. */
  changesSince(revision: number): Change[] | undefined {
    return this.#log.since(revision)
  }

  /** Forgets all history: watches and chunked lists from before answer 410. */
  compact(): void {
    this.#log.compact(this.#revision)
  }

  #of(resource: string): Map<string, KubeObject> {
    const objects = this.#objects.get(resourceType(resource).resource)
    if (objects === undefined) throw new Error(`no store for "${resource}"`)
    return objects
  }

  #sortedOf(resource: string): KubeObject[] {
    const objects = this.#sorted.get(resourceType(resource).resource)
    if (objects === undefined) throw new Error(`no store for "${resource}"`)
    return objects
  }

  #ensureNamespace(name: string): void {
    if (this.#of('namespaces').has(`/${name}`)) return
    this.#commit(
      'ADDED',
      'namespaces',
      this.complete('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
      undefined,
    )
  }

  #forgetOldEvents(): void {
    const oldest = timestamp(this.clock.now() - eventLife)
    for (const event of this.#of('events').values()) {
      const last =
        typeof event.lastTimestamp === 'string' ? event.lastTimestamp : event.metadata.creationTimestamp
      if ((last ?? '') < oldest) this.#commit('DELETED', 'events', event, event)
    }
  }

  #commit(
    type: ChangeType,
    resource: string,
    next: KubeObject,
    previous: KubeObject | undefined,
  ): KubeObject {
    this.#revision += 1
    const metadata = { ...next.metadata, resourceVersion: String(this.#revision) }
    const object = freeze({ ...next, metadata })
    placeInOrder(this.#sortedOf(resource), object, type === 'DELETED')
    if (type === 'DELETED') this.#of(resource).delete(keyOf(object))
    else this.#of(resource).set(keyOf(object), object)
    const change = { revision: this.#revision, type, resource, object, previous }
    this.#log.add(change)
    this.#tell(change)
    return object
  }

  /** A listener may write: its change waits, so that everybody hears of changes in the order they were made. */
  #tell(change: Change): void {
    this.#waiting.push(change)
    if (this.#telling) return
    this.#telling = true
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
        for (const listener of this.#listeners) listener(next)
    } finally {
      this.#telling = false
    }
  }
}
