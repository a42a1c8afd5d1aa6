import type { ChangeType, KubeObject } from '../store.js'
import { keyOf } from './objects.js'

export interface Change {
  revision: number
  type: ChangeType
  resource: string
  /** For DELETED: the last state, with the revision of the removal. */
  object: KubeObject
  previous: KubeObject | undefined
}

/** The last changes, from which watches go on and earlier moments are rebuilt. */
export class ChangeLog {
  readonly #length: number
  #changes: Change[] = []
  #compacted = 1

  constructor(length: number) {
    this.#length = length
  }

  /** The oldest revision from which a watch can go on. */
  get compacted(): number {
    return this.#compacted
  }

  add(change: Change): void {
    this.#changes.push(change)
    if (this.#changes.length <= this.#length * 1.25) return
    this.#changes = this.#changes.slice(-this.#length)
    this.#compacted = (this.#changes[0]?.revision ?? change.revision) - 1
  }

  /** Changes after `revision`; undefined when that history is gone. */
  since(revision: number): Change[] | undefined {
    if (revision < this.#compacted) return undefined
    return this.#changes.filter(change => change.revision > revision)
  }

  /** A resource's objects as they were at `revision`, from those of now; undefined when that history is gone. */
  rewind(resource: string, now: Iterable<KubeObject>, revision: number): KubeObject[] | undefined {
    const later = this.since(revision)
    if (later === undefined) return undefined
    const objects = new Map([...now].map(object => [keyOf(object), object]))
    for (const change of later.toReversed()) {
      if (change.resource !== resource) continue
      if (change.previous === undefined) objects.delete(keyOf(change.object))
      else objects.set(keyOf(change.object), change.previous)
    }
    return [...objects.values()]
  }

  /** Forgets everything up to `revision`. */
  compact(revision: number): void {
    this.#changes = []
    this.#compacted = revision
  }
}
