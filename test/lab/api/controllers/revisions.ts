import type { KubeObject } from '../../store.js'
import { templateHash } from '../hashes.js'
import { controllerOf, type Workload } from '../shapes.js'
import { namespaceOf, ownerReference, type World } from './world.js'

/** The hash of the owner's template, with a ControllerRevision that keeps the template under it. */
export const currentRevision = (world: World, owner: Workload): string => {
  const { template } = owner.spec
  const hash = templateHash(template)
  const name = `${owner.metadata.name}-${hash}`
  const all = world.store
    .list('controllerrevisions', owner.metadata.namespace)
    .filter(each => controllerOf(each)?.uid === owner.metadata.uid)
  const newest = Math.max(0, ...all.map(each => Number(each.revision ?? 0)))
  const known = all.find(each => each.metadata.name === name)
  if (known === undefined) world.store.create('controllerrevisions', revision(owner, name, hash, newest + 1))
  // Going back to an earlier template makes its revision the newest again.
  else if (Number(known.revision) < newest)
    world.store.update('controllerrevisions', { ...known, revision: newest + 1 })
  return hash
}

const revision = (owner: Workload, name: string, hash: string, number: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: {
    name,
    ...namespaceOf(owner),
    labels: { ...owner.spec.template.metadata?.labels, 'controller-revision-hash': hash },
    ownerReferences: [ownerReference(owner)],
  },
  data: { spec: { template: { ...owner.spec.template, $patch: 'replace' } } },
  revision: number,
})
