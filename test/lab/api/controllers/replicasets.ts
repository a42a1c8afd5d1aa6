import { type Pod, hasCondition, type Workload } from '../shapes.js'
import { isActive, type World } from './world.js'

const component = 'replicaset-controller'

/** Keeps each ReplicaSet at its number of Pods; a Pod on its way out is replaced at once. */
export const reconcileReplicaSets = (world: World): void => {
  for (const set of world.workloads('replicasets'))
    if (set.metadata.deletionTimestamp === undefined) reconcile(world, set)
}

const reconcile = (world: World, set: Workload): void => {
  const active = world.podsOf(set).filter(isActive)
  const wanted = set.spec.replicas ?? 1
  for (let missing = wanted - active.length; missing > 0; missing -= 1) world.createPod(set, component)
  const extra = [...active].sort((a, b) => rank(a) - rank(b)).slice(0, Math.max(0, active.length - wanted))
  for (const pod of extra) world.deletePod(set, pod, component)
  const now = world.podsOf(set).filter(isActive)
  const ready = now.filter(pod => hasCondition(pod, 'Ready')).length
  world.setStatus('replicasets', set, {
    replicas: now.length,
    ...count('fullyLabeledReplicas', now.length),
    ...count('readyReplicas', ready),
    ...count('availableReplicas', ready),
    terminatingReplicas: world.podsOf(set).filter(pod => pod.metadata.deletionTimestamp !== undefined).length,
    observedGeneration: set.metadata.generation,
  })
}

/** Zero counters are left out, as the real server does for `omitempty` fields. */
export const count = (name: string, value: number): Record<string, number> =>
  value === 0 ? {} : { [name]: value }

/** Which Pods go first when there are too many: without a node, then Pending, then not ready. */
export const rank = (pod: Pod): number => {
  if ((pod.spec.nodeName ?? '') === '') return 0
  if (pod.status.phase === 'Pending') return 1
  return hasCondition(pod, 'Ready') ? 3 : 2
}
