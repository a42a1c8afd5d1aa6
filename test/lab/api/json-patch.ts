import { sameJson } from './objects.js'
import { ApiError, badRequest } from './status.js'

interface Operation {
  op: string
  path: string
  from?: string
  value?: unknown
}

type Container = Record<string, unknown> | unknown[]

/** What the server answers when an operation cannot be applied, a failed `test` included. */
const refused = (): ApiError =>
  new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})

/**
 * RFC 6902 on a copy of `document`.
 * @throws ApiError 400 when the patch is no list of operations, 422 when one cannot be applied.
 */
export const applyJsonPatch = <T>(document: T, patch: unknown): T => {
  if (!Array.isArray(patch))
    throw badRequest(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    )
  const holder: Record<string, unknown> = { '': structuredClone(document) }
  for (const operation of patch as Operation[]) apply(holder, operation)
  return holder[''] as T
}

const apply = (root: Record<string, unknown>, operation: Operation): void => {
  switch (operation.op) {
    case 'test':
      if (!sameJson(read(root, operation.path), operation.value)) throw refused()
      return
    case 'add':
      write(root, operation.path, structuredClone(operation.value), true)
      return
    case 'replace':
      read(root, operation.path)
      write(root, operation.path, structuredClone(operation.value), false)
      return
    case 'remove':
      remove(root, operation.path)
      return
    case 'copy':
      write(root, operation.path, structuredClone(read(root, operation.from ?? '')), true)
      return
    case 'move': {
      const value = read(root, operation.from ?? '')
      remove(root, operation.from ?? '')
      write(root, operation.path, value, true)
      return
    }
    default:
      throw refused()
  }
}

/** `['']` is the whole document: the pointer `''` has no parts of its own. */
const locate = (root: Record<string, unknown>, pointer: string): { parent: Container; key: string } => {
  const parts = pointer.split('/').map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  let parent: Container = root
  for (const part of parts.slice(0, -1)) {
    const next: unknown = Array.isArray(parent) ? parent[Number(part)] : parent[part]
    if (typeof next !== 'object' || next === null) throw refused()
    parent = next as Container
  }
  return { parent, key: parts.at(-1) ?? '' }
}

const read = (root: Record<string, unknown>, pointer: string): unknown => {
  const { parent, key } = locate(root, pointer)
  if (Array.isArray(parent)) {
    if (!/^\d+$/.test(key) || Number(key) >= parent.length) throw refused()
    return parent[Number(key)]
  }
  if (!Object.hasOwn(parent, key)) throw refused()
  return parent[key]
}

const write = (root: Record<string, unknown>, pointer: string, value: unknown, insert: boolean): void => {
  const { parent, key } = locate(root, pointer)
  if (!Array.isArray(parent)) {
    parent[key] = value
    return
  }
  const index = key === '-' ? parent.length : Number(key)
  if (!Number.isInteger(index) || index > parent.length) throw refused()
  parent.splice(index, insert ? 0 : 1, value)
}

const remove = (root: Record<string, unknown>, pointer: string): void => {
  read(root, pointer)
  const { parent, key } = locate(root, pointer)
  if (Array.isArray(parent)) parent.splice(Number(key), 1)
  else delete parent[key]
}
