import type { KubeObject, LabStore } from '../store.js'
import type { ApiRequest } from './request.js'
import { at, isFinished, isRecord, type Pod, type ReadClock, timestamp } from './shapes.js'
import { preconditionFailed, success } from './status.js'
import { isDryRun } from './request.js'
import { existing } from './writes.js'
import { listObjects, requestFilter } from './list.js'
import type { MemoryStore } from './memory-store.js'

/**
 * Deletes as the server does. A Pod that a kubelet may be running only gets its deletion time; the kubelet removes it
 * at the end. A Pod that is not bound, has finished, or is given no grace goes at once, like everything else.
 * Returns the object as it is then, or as it was when it is gone.
 * @param grace seconds; undefined takes the Pod's own.
 */
export const deleteObject = (
  store: LabStore,
  clock: ReadClock,
  resource: string,
  object: KubeObject,
  grace?: number,
): KubeObject => {
  const seconds = resource === 'pods' ? podGrace(object as Pod, grace) : 0
  const finalizers = object.metadata.finalizers ?? []
  const { namespace, name } = object.metadata
  if (seconds === 0 && finalizers.length === 0) {
    store.remove(resource, namespace, name)
    return object
  }
  const begun = object.metadata.deletionGracePeriodSeconds
  // A second delete can only shorten the grace.
  if (begun !== undefined && begun <= seconds) return object
  return store.update(resource, {
    ...object,
    metadata: {
      ...object.metadata,
      deletionTimestamp: timestamp(clock.now() + seconds * 1000),
      deletionGracePeriodSeconds: seconds,
    },
  })
}

const podGrace = (pod: Pod, grace: number | undefined): number => {
  if ((pod.spec.nodeName ?? '') === '' || isFinished(pod)) return 0
  return Math.max(0, grace ?? pod.spec.terminationGracePeriodSeconds ?? 30)
}

/** @throws ApiError 409 when uid or resourceVersion of the options are not the object's. */
export const checkPreconditions = (request: ApiRequest, object: KubeObject, options: unknown): void => {
  const wanted = at(options, 'preconditions')
  if (!isRecord(wanted)) return
  const { name, uid, resourceVersion } = object.metadata
  const why = (given: unknown, real: unknown, what: string) =>
    `(${String(given)}) does not match the ${what} in record (${String(real)})`
  if (wanted.uid !== undefined && wanted.uid !== uid)
    throw preconditionFailed(request.type, name, 'UID', why(wanted.uid, uid, 'UID'))
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion)
    throw preconditionFailed(
      request.type,
      name,
      'ResourceVersion',
      why(wanted.resourceVersion, resourceVersion, 'ResourceVersion'),
    )
}

/** Answers DELETE of one object: a Pod is answered with itself, everything else with a Status. */
export const deleteOne = (store: MemoryStore, request: ApiRequest, options: unknown): object => {
  const object = existing(store, request)
  checkPreconditions(request, object, options)
  const inQuery = request.query.get('gracePeriodSeconds')
  const grace = at(options, 'gracePeriodSeconds') ?? (inQuery === null ? undefined : Number(inQuery))
  const { type } = request
  const left = isDryRun(request, options)
    ? object
    : deleteObject(store, store.clock, type.resource, object, typeof grace === 'number' ? grace : undefined)
  if (type.resource === 'pods') return left
  const { name, uid } = object.metadata
  return success(200, {
    name,
    ...(type.group === '' ? {} : { group: type.group }),
    kind: type.resource,
    ...(uid === undefined ? {} : { uid }),
  })
}

/** Answers DELETE of a collection with the list of what it selected. */
export const deleteCollection = (store: MemoryStore, request: ApiRequest, options: unknown): object => {
  const answer = listObjects(store, request)
  const { resource } = request.type
  if (!isDryRun(request, options))
    for (const object of store.list(resource, request.namespace).filter(requestFilter(request)))
      deleteObject(store, store.clock, resource, object)
  return answer
}
