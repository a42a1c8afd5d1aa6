import type { KubeObject, LabStore } from '../store.js'
import { isFinished, type Pod, type ReadClock, timestamp } from './shapes.js'

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
