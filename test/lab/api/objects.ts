import type { KubeObject } from '../store.js'
import { apiVersionOf, type ResourceType } from './resources.js'

const letters = 'bcdfghjklmnpqrstvwxz2456789'

/** Five characters as the server appends to `generateName`. */
export const nameSuffix = (random: () => number): string =>
  Array.from({ length: 5 }, () => letters[Math.floor(random() * letters.length)]).join('')

export const keyOf = (object: KubeObject): string =>
  `${object.metadata.namespace ?? ''}/${object.metadata.name}`

/** Objects in etcd's order: by namespace, then name. */
export const sorted = (objects: Iterable<KubeObject>): KubeObject[] =>
  [...objects].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))

/** Keeps a sorted list right after one change, in place. */
export const placeInOrder = (list: KubeObject[], object: KubeObject, gone: boolean): void => {
  const key = keyOf(object)
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = list[middle]
    if (other !== undefined && keyOf(other) < key) low = middle + 1
    else high = middle
  }
  const found = list[low]
  const known = found !== undefined && keyOf(found) === key
  if (gone) list.splice(low, known ? 1 : 0)
  else list.splice(low, known ? 1 : 0, object)
}

/** kind and apiVersion first, then metadata: the order of the server's JSON. */
export const headed = (type: ResourceType, object: KubeObject): KubeObject => {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object
  return { kind: type.kind, apiVersion: apiVersionOf(type), ...rest }
}

export const freeze = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) freeze(inner)
  return Object.freeze(value)
}

export const partial = (object: KubeObject) => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: object.metadata,
})

/**
 * Whether two JSON values say the same; a field that is undefined is one that is missing.
 * Not node:util's isDeepStrictEqual: that also compares prototypes, which differ between jest's realm and structuredClone's.
 */
export const sameJson = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  return Object.keys({ ...left, ...right }).every(key => sameJson(left[key], right[key]))
}

/** A copy: the caller may sort or shorten it. */
export const within = (objects: KubeObject[], namespace: string | undefined): KubeObject[] =>
  namespace === undefined ? [...objects] : objects.filter(object => object.metadata.namespace === namespace)

/** Giving a Pod its node is no change of what is wanted of it. */
export const generationSpec = (object: KubeObject): unknown =>
  object.kind === 'Pod' ? { ...object.spec, nodeName: '' } : object.spec
