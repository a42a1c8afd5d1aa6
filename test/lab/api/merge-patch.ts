import { isRecord } from './shapes.js'

/** RFC 7386: null removes, maps merge, everything else replaces. */
export const applyMergePatch = (document: unknown, patch: unknown): unknown => {
  if (!isRecord(patch)) return patch
  const merged: Record<string, unknown> = isRecord(document) ? { ...document } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key]
    else merged[key] = applyMergePatch(merged[key], value)
  }
  return merged
}

/**
 * Lists that a strategic merge joins by a key, by the name of their field. All other lists are replaced as a whole,
 * `taints` and `tolerations` among them (no patchStrategy in k8s.io/api/core/v1/types.go).
 */
const mergeKeys: Record<string, string[]> = {
  conditions: ['type'],
  addresses: ['type'],
  ownerReferences: ['uid'],
  containers: ['name'],
  initContainers: ['name'],
  ephemeralContainers: ['name'],
  env: ['name'],
  volumes: ['name'],
  volumeMounts: ['mountPath'],
  imagePullSecrets: ['name'],
  hostAliases: ['ip'],
  podIPs: ['ip'],
  hostIPs: ['ip'],
  ports: ['containerPort', 'port'],
  topologySpreadConstraints: ['topologyKey'],
}

/** Lists of plain values that are joined. */
const joined = new Set(['finalizers', 'podCIDRs'])

/** @param field name of the field that holds `document`: it decides how a list is merged. */
export const applyStrategicPatch = (document: unknown, patch: unknown, field = ''): unknown => {
  if (Array.isArray(patch)) return mergeList(Array.isArray(document) ? document : [], patch, field)
  if (!isRecord(patch)) return patch
  if (patch.$patch === 'replace') return without(patch, '$patch')
  const merged: Record<string, unknown> = isRecord(document) ? { ...document } : {}
  if (Array.isArray(patch.$retainKeys)) keepOnly(merged, patch.$retainKeys)
  for (const [key, value] of Object.entries(patch)) {
    if (key === '$patch' || key === '$retainKeys' || key.startsWith('$setElementOrder/')) continue
    const deletion = /^\$deleteFromPrimitiveList\/(.*)$/.exec(key)
    if (deletion !== null) {
      const name = deletion[1] ?? ''
      const old = merged[name]
      if (Array.isArray(old) && Array.isArray(value)) merged[name] = old.filter(each => !value.includes(each))
    } else if (value === null) delete merged[key]
    else if (isRecord(value) && value.$patch === 'delete') delete merged[key]
    else merged[key] = applyStrategicPatch(merged[key], value, key)
  }
  return merged
}

const keepOnly = (merged: Record<string, unknown>, keys: unknown[]): void => {
  for (const key of Object.keys(merged)) if (!keys.includes(key)) delete merged[key]
}

const mergeList = (old: unknown[], patch: unknown[], field: string): unknown[] => {
  if (joined.has(field)) return [...old, ...patch.filter(each => !old.includes(each))]
  const records = patch.filter(isRecord)
  if (records.some(each => each.$patch === 'replace'))
    return records.filter(each => each.$patch !== 'replace')
  const key = mergeKeys[field]?.find(each =>
    [...records, ...old].some(item => isRecord(item) && each in item),
  )
  if (key === undefined) return patch
  const merged = [...old]
  for (const item of records) {
    const index = merged.findIndex(each => isRecord(each) && each[key] === item[key])
    if (item.$patch === 'delete') {
      if (index >= 0) merged.splice(index, 1)
    } else if (index < 0) merged.push(applyStrategicPatch({}, item))
    else merged[index] = applyStrategicPatch(merged[index], item)
  }
  return merged
}

const without = (record: Record<string, unknown>, key: string): Record<string, unknown> => {
  const { [key]: _removed, ...rest } = record
  return rest
}
