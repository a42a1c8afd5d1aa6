import type { KubeObject } from '../store.js'
import { applyJsonPatch } from './json-patch.js'
import type { MemoryStore } from './memory-store.js'
import { applyMergePatch, applyStrategicPatch } from './merge-patch.js'
import { type ApiRequest, isDryRun } from './request.js'
import { isRecord } from './shapes.js'
import { ApiError, badRequest, conflict, notFound } from './status.js'
import { asStored } from './event-views.js'
import { validateNew, validateUpdate } from './validation.js'
import { apiVersionOf, qualifiedName } from './resources.js'

export interface Written {
  code: number
  object: KubeObject
}

/** @throws ApiError 400 for a body that is no such object, 404 for a missing namespace, 409, 422. */
export const createObject = (store: MemoryStore, request: ApiRequest, body: unknown): Written => {
  const { type } = request
  const object = asStored(type, readObject(request, body))
  if (object.metadata.namespace !== undefined && request.namespace !== object.metadata.namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  if (request.namespace !== undefined) {
    object.metadata.namespace = request.namespace
    if (store.get('namespaces', undefined, request.namespace) === undefined)
      throw new ApiError(404, 'NotFound', `namespaces "${request.namespace}" not found`, {
        name: request.namespace,
        kind: 'namespaces',
      })
  }
  delete object.metadata.resourceVersion
  delete object.metadata.deletionTimestamp
  delete object.metadata.managedFields
  if (type.resource === 'pods') delete object.status
  validateNew(type, object)
  if (isDryRun(request)) return { code: 201, object: store.complete(type.resource, object) }
  return { code: 201, object: store.create(type.resource, object, request.manager) }
}

export const replaceObject = (store: MemoryStore, request: ApiRequest, body: unknown): Written => {
  const stored = existing(store, request)
  const object = asStored(request.type, readObject(request, body))
  if (object.metadata.name !== stored.metadata.name)
    throw badRequest(
      `the name of the object (${object.metadata.name}) does not match the name on the URL (${stored.metadata.name})`,
    )
  return write(store, request, stored, { ...object, metadata: { ...object.metadata, ...place(stored) } })
}

const patchTypes =
  'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml, application/strategic-merge-patch+json'

export const patchObject = (store: MemoryStore, request: ApiRequest, patch: unknown): Written => {
  const stored = store.get(request.type.resource, request.namespace, request.name ?? '')
  if (request.contentType.startsWith('application/apply-patch'))
    return applyObject(store, request, stored, patch)
  if (stored === undefined) throw notFound(request.type, request.name ?? '')
  const next = patched(request.contentType, stored, patch)
  if (!isObject(next)) throw badRequest('the patch leaves no object')
  const given = next.metadata.resourceVersion
  if (given !== undefined && given !== stored.metadata.resourceVersion)
    throw conflict(request.type, stored.metadata.name)
  return write(store, request, stored, { ...next, metadata: { ...next.metadata, ...place(stored) } })
}

const patched = (contentType: string, stored: KubeObject, patch: unknown): unknown => {
  if (contentType === 'application/json-patch+json') return applyJsonPatch<unknown>(stored, patch)
  if (!contentType.includes('merge-patch+json'))
    throw new ApiError(
      415,
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: ${patchTypes}`,
      {},
    )
  if (!isRecord(patch))
    throw badRequest(
      'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    )
  return contentType.includes('strategic')
    ? applyStrategicPatch(stored, patch)
    : applyMergePatch(stored, patch)
}

/** Server-side apply without field ownership: what is given is merged, nothing is taken away. */
const applyObject = (
  store: MemoryStore,
  request: ApiRequest,
  stored: KubeObject | undefined,
  patch: unknown,
): Written => {
  if ((request.query.get('fieldManager') ?? '') === '')
    throw new ApiError(
      422,
      'Invalid',
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    )
  if (stored === undefined) return createObject(store, request, patch)
  const next = applyStrategicPatch(stored, readObject(request, patch))
  return write(store, request, stored, next as KubeObject)
}

/** The main resource leaves `status` alone, `/status` everything else but labels and annotations. */
const write = (store: MemoryStore, request: ApiRequest, stored: KubeObject, next: KubeObject): Written => {
  const { type } = request
  let object = next
  if (request.subresource === 'status') object = { ...stored, ...statusOf(next), metadata: next.metadata }
  else if (type.subresources.includes('status')) {
    const { status: _status, ...rest } = next
    object = { ...rest, ...statusOf(stored) } as KubeObject
    validateUpdate(type, stored, object)
  }
  if (isDryRun(request)) return { code: 200, object: store.revise(type.resource, stored, object) }
  const written = store.update(type.resource, object, request.manager)
  const finished =
    written.metadata.deletionTimestamp !== undefined &&
    (written.metadata.finalizers ?? []).length === 0 &&
    type.resource !== 'pods'
  if (finished) store.remove(type.resource, written.metadata.namespace, written.metadata.name)
  return { code: 200, object: written }
}

const statusOf = (object: KubeObject) => (object.status === undefined ? {} : { status: object.status })

const place = (stored: KubeObject) => ({
  name: stored.metadata.name,
  ...(stored.metadata.namespace === undefined ? {} : { namespace: stored.metadata.namespace }),
})

export const existing = (store: MemoryStore, request: ApiRequest): KubeObject => {
  const stored = store.get(request.type.resource, request.namespace, request.name ?? '')
  if (stored === undefined) throw notFound(request.type, request.name ?? '')
  return stored
}

const isObject = (value: unknown): value is KubeObject => isRecord(value) && isRecord(value.metadata)

/** @throws ApiError 400 when kind or apiVersion are not those of the path. */
const readObject = (request: ApiRequest, body: unknown): KubeObject => {
  const { type } = request
  if (!isObject(body))
    throw badRequest(`the body is no ${type.kind}: ${qualifiedName(type)} need a metadata object`)
  const version = apiVersionOf(type)
  if ((body.kind ?? type.kind) !== type.kind || (body.apiVersion ?? version) !== version)
    throw badRequest(
      `${String(body.kind)} in version "${String(body.apiVersion)}" cannot be handled as a ${type.kind}: the API version in the data (${String(body.apiVersion)}) does not match the expected API version (${version})`,
    )
  return structuredClone({ ...body, kind: type.kind, apiVersion: version })
}
