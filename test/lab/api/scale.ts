import type { KubeObject } from '../store.js'
import type { MemoryStore } from './memory-store.js'
import { applyMergePatch } from './merge-patch.js'
import type { ApiRequest } from './request.js'
import { at, type Workload } from './shapes.js'
import { badRequest, conflict, unknownPath } from './status.js'
import { existing } from './writes.js'

/** autoscaling/v1 Scale: the number of replicas, seen by itself. */
const scaleOf = (object: KubeObject): KubeObject => {
  const { spec } = object as Workload
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const labels = Object.entries(spec.selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`)
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: { replicas: spec.replicas ?? 1 },
    status: { replicas: Number(object.status?.replicas ?? 0), selector: labels.join(',') },
  }
}

/** Answers GET, PUT and PATCH (merge) of `…/scale`. */
export const scaleObject = (store: MemoryStore, request: ApiRequest, body: unknown): object => {
  const object = existing(store, request)
  if (request.verb === 'get') return scaleOf(object)
  if (request.verb !== 'update' && request.verb !== 'patch') throw unknownPath()
  const wanted = request.verb === 'patch' ? applyMergePatch(scaleOf(object), body) : body
  const replicas = at(wanted, 'spec.replicas')
  if (typeof replicas !== 'number' || replicas < 0)
    throw badRequest('spec.replicas: must be a number of 0 or more')
  const version = at(wanted, 'metadata.resourceVersion')
  if (typeof version === 'string' && version !== '' && version !== object.metadata.resourceVersion)
    throw conflict(request.type, object.metadata.name)
  return scaleOf(store.update(request.type.resource, { ...object, spec: { ...object.spec, replicas } }))
}
