import type { KubeObject } from '../../store.js'
import { deleteObject } from '../deletion.js'
import type { World } from './world.js'

/** What can be owned in the lab, owners' children first. */
const ownable = ['replicasets', 'controllerrevisions', 'jobs', 'pods']

/** Deletes what only a removed object owned, as the garbage collector does in the background. */
export const collectGarbage = (world: World, removed: KubeObject): void => {
  const { uid, namespace } = removed.metadata
  for (const resource of ownable)
    for (const object of world.store.list(resource, namespace))
      if (
        object.metadata.ownerReferences?.some(owner => owner.uid === uid) === true &&
        object.metadata.deletionTimestamp === undefined
      )
        deleteObject(world.store, world.clock, resource, object)
}
