import type { KubeObject } from '../store.js'
import { apiVersionOf, type ResourceType } from './resources.js'

const letters = 'bcdfghjklmnpqrstvwxz2456789'

/** Five characters as the server appends to `generateName`. */
export const nameSuffix = (random: () => number): string =>
  Array.from({ length: 5 }, () => letters[Math.floor(random() * letters.length)]).join('')

export const keyOf = (object: KubeObject): string =>
  `${object.metadata.namespace ?? ''}/${object.metadata.name}`

export const sorted = (objects: Iterable<KubeObject>, namespace: string | undefined): KubeObject[] =>
  [...objects]
    .filter(object => namespace === undefined || object.metadata.namespace === namespace)
    .sort((a, b) => compare(keyOf(a), keyOf(b)))

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

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
