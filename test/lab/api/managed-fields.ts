import type { KubeObject } from '../store.js'
import { isRecord, type ReadClock, timestamp } from './shapes.js'

/** Whoever writes without the API: the lab's own controllers, and tests. */
export const ownManager = 'kube-controller-manager'

interface Entry {
  manager: string
  operation: 'Update'
  apiVersion: string
  time: string
  fieldsType: 'FieldsV1'
  fieldsV1: object
}

/** Path → value, as JSON. Lists are one field each; status is left out: nobody here asks who wrote it. */
type Fields = Map<string, string>

const collect = (value: unknown, path: readonly string[], fields: Fields): void => {
  if (isRecord(value) && path.length < 3)
    for (const [key, inner] of Object.entries(value)) collect(inner, [...path, `f:${key}`], fields)
  else if (value !== undefined) fields.set(JSON.stringify(path), JSON.stringify(value))
}

const fieldsOf = (object: KubeObject | undefined): Fields => {
  const fields: Fields = new Map()
  const { labels, annotations } = object?.metadata ?? {}
  collect({ ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) }, ['f:metadata'], fields)
  collect(object?.spec, ['f:spec'], fields)
  return fields
}

const asTree = (paths: Iterable<string>): object => {
  const tree: Record<string, unknown> = {}
  for (const path of paths) {
    let at = tree
    for (const part of JSON.parse(path) as string[]) {
      const inner = isRecord(at[part]) ? at[part] : {}
      at[part] = inner
      at = inner
    }
  }
  return tree
}

const asPaths = (tree: unknown, path: readonly string[] = []): string[] =>
  isRecord(tree) && Object.keys(tree).length > 0
    ? Object.entries(tree).flatMap(([part, inner]) => asPaths(inner, [...path, part]))
    : [JSON.stringify(path)]

const isEntry = (value: unknown): value is Entry => isRecord(value) && typeof value.manager === 'string'

/**
 * Who wrote which field last, as the server keeps it for updates: a field goes to whoever changes its value, an unchanged
 * one stays with whoever has it, and one that is removed is nobody's.
 */
const managed = (
  stored: KubeObject | undefined,
  next: KubeObject,
  manager: string,
  clock: ReadClock,
): Entry[] => {
  const before = fieldsOf(stored)
  const after = fieldsOf(next)
  const changed = [...after].filter(([path, value]) => before.get(path) !== value).map(([path]) => path)
  const kept = stored?.metadata.managedFields
  const entries = (Array.isArray(kept) ? kept : []).filter(isEntry)
  if (changed.length === 0 && [...before.keys()].every(path => after.has(path))) return entries
  const others = entries.flatMap(entry => {
    const own = entry.manager === manager
    const paths = asPaths(entry.fieldsV1).filter(path => after.has(path) && (own || !changed.includes(path)))
    const all = own ? [...new Set([...paths, ...changed])] : paths
    const time = own && changed.length > 0 ? timestamp(clock.now()) : entry.time
    return all.length === 0 ? [] : [{ ...entry, time, fieldsV1: asTree(all) }]
  })
  if (changed.length === 0 || entries.some(entry => entry.manager === manager)) return others
  const { apiVersion } = next
  return [
    ...others,
    {
      manager,
      operation: 'Update',
      apiVersion: typeof apiVersion === 'string' ? apiVersion : 'v1',
      time: timestamp(clock.now()),
      fieldsType: 'FieldsV1',
      fieldsV1: asTree(changed),
    },
  ]
}

/** Only of nodes is it ever asked who wrote a field: whose cordon it is. */
export const withManagers = (
  stored: KubeObject | undefined,
  next: KubeObject,
  manager: string,
  clock: ReadClock,
): KubeObject => {
  if (next.kind !== 'Node') return next
  return { ...next, metadata: { ...next.metadata, managedFields: managed(stored, next, manager, clock) } }
}
