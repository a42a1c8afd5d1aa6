import type { KubeObject } from '../../store.js'
import { templateHash } from '../hashes.js'
import { type Condition, controllerOf, timestamp, type Workload } from '../shapes.js'
import { count } from './replicasets.js'
import { namespaceOf, ownerReference, scaled, type World } from './world.js'

const component = 'deployment-controller'

/** Rolls each Deployment's ReplicaSets towards its template. */
export const reconcileDeployments = (world: World): void => {
  for (const each of world.workloads('deployments'))
    if (each.metadata.deletionTimestamp === undefined) reconcile(world, each)
}

const reconcile = (world: World, deployment: Workload): void => {
  const owned = () =>
    (world.store.list('replicasets', deployment.metadata.namespace) as Workload[]).filter(
      set => controllerOf(set)?.uid === deployment.metadata.uid,
    )
  const hash = templateHash(deployment.spec.template)
  const current = owned().find(set => set.metadata.labels?.['pod-template-hash'] === hash)
  if (current === undefined) createSet(world, deployment, hash, owned())
  else if (deployment.spec.paused !== true)
    roll(
      world,
      deployment,
      current,
      owned().filter(set => set !== current),
    )
  setStatus(world, deployment, owned(), hash)
}

const replicasOf = (set: Workload): number => set.spec.replicas ?? 0
const statusNumber = (object: KubeObject, name: string): number => Number(object.status?.[name] ?? 0)
const sum = (sets: Workload[], of: (set: Workload) => number): number =>
  sets.reduce((total, set) => total + of(set), 0)

const revisionKey = 'deployment.kubernetes.io/revision'

const surgeOf = (deployment: Workload): number =>
  scaled(deployment.spec.strategy?.rollingUpdate?.maxSurge, deployment.spec.replicas ?? 1, 'up')

/** The ReplicaSet of the newest template: at full size when there is no other, else at zero, to be rolled up. */
const createSet = (world: World, deployment: Workload, hash: string, others: Workload[]): void => {
  const wanted = deployment.spec.replicas ?? 1
  const replicas = sum(others, replicasOf) === 0 ? wanted : 0
  const newest = Math.max(0, ...others.map(set => Number(set.metadata.annotations?.[revisionKey] ?? 0)))
  const labels = { ...deployment.spec.template.metadata?.labels, 'pod-template-hash': hash }
  const { template, selector } = deployment.spec
  const set = world.store.create('replicasets', {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${deployment.metadata.name}-${hash}`,
      ...namespaceOf(deployment),
      labels,
      annotations: {
        'deployment.kubernetes.io/desired-replicas': String(wanted),
        'deployment.kubernetes.io/max-replicas': String(wanted + surgeOf(deployment)),
        [revisionKey]: String(newest + 1),
      },
      ownerReferences: [ownerReference(deployment)],
    },
    spec: {
      replicas,
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, 'pod-template-hash': hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  })
  if (replicas > 0) recordScale(world, deployment, set.metadata.name, 0, replicas)
  const annotations = { ...deployment.metadata.annotations, [revisionKey]: String(newest + 1) }
  world.store.update('deployments', { ...deployment, metadata: { ...deployment.metadata, annotations } })
}

const recordScale = (world: World, deployment: KubeObject, name: string, from: number, to: number): void => {
  const message = `Scaled ${to > from ? 'up' : 'down'} replica set ${name} from ${from} to ${to}`
  world.record(deployment, 'Normal', 'ScalingReplicaSet', message, component)
}

const scale = (world: World, deployment: Workload, set: Workload, to: number): void => {
  if (replicasOf(set) === to) return
  recordScale(world, deployment, set.metadata.name, replicasOf(set), to)
  world.store.update('replicasets', { ...set, spec: { ...set.spec, replicas: to } })
}

const roll = (world: World, deployment: Workload, current: Workload, old: Workload[]): void => {
  const wanted = deployment.spec.replicas ?? 1
  const left = old.filter(set => replicasOf(set) > 0)
  if (left.length === 0) {
    scale(world, deployment, current, wanted)
    return
  }
  if (deployment.spec.strategy?.type === 'Recreate') {
    for (const set of left) scale(world, deployment, set, 0)
    return
  }
  const total = sum([current, ...old], replicasOf)
  const grown = Math.min(wanted, replicasOf(current) + Math.max(0, wanted + surgeOf(deployment) - total))
  // Growing comes first; the next pass, woken by it, sees what may go.
  if (grown > replicasOf(current)) scale(world, deployment, current, grown)
  else shrink(world, deployment, current, left)
}

/** Old Pods that are not available go first, available ones only as far as enough stay (deployment/rolling.go). */
const shrink = (world: World, deployment: Workload, current: Workload, left: Workload[]): void => {
  const wanted = deployment.spec.replicas ?? 1
  const minimum = wanted - scaled(deployment.spec.strategy?.rollingUpdate?.maxUnavailable, wanted, 'down')
  const availableOf = (set: Workload) => statusNumber(set, 'availableReplicas')
  const all = [current, ...left]
  const notYet = replicasOf(current) - availableOf(current)
  let unhealthy = Math.max(0, sum(all, replicasOf) - minimum - notYet)
  let healthy = Math.max(0, sum(all, availableOf) - minimum)
  for (const set of left) {
    const broken = Math.min(unhealthy, Math.max(0, replicasOf(set) - availableOf(set)))
    const spare = Math.min(healthy, unhealthy - broken, availableOf(set))
    unhealthy -= broken + spare
    healthy -= spare
    scale(world, deployment, set, replicasOf(set) - broken - spare)
  }
}

const setStatus = (world: World, deployment: Workload, sets: Workload[], hash: string): void => {
  const stored = world.store.get('deployments', deployment.metadata.namespace, deployment.metadata.name) as
    | Workload
    | undefined
  if (stored === undefined) return
  const updated = sets.filter(set => set.metadata.labels?.['pod-template-hash'] === hash)
  const wanted = deployment.spec.replicas ?? 1
  const total = sum(sets, set => statusNumber(set, 'replicas'))
  const fresh = sum(updated, set => statusNumber(set, 'replicas'))
  const available = sum(sets, set => statusNumber(set, 'availableReplicas'))
  const enough =
    available >= wanted - scaled(deployment.spec.strategy?.rollingUpdate?.maxUnavailable, wanted, 'down')
  const complete = fresh === wanted && total === wanted && available === wanted
  const old = (stored.status.conditions ?? []) as Condition[]
  world.setStatus('deployments', stored, {
    observedGeneration: deployment.metadata.generation,
    ...count('replicas', total),
    ...count('updatedReplicas', fresh),
    ...count(
      'readyReplicas',
      sum(sets, set => statusNumber(set, 'readyReplicas')),
    ),
    ...count('availableReplicas', available),
    ...count('unavailableReplicas', Math.max(0, Math.max(wanted, total) - available)),
    terminatingReplicas: sum(sets, set => statusNumber(set, 'terminatingReplicas')),
    conditions: [
      condition(world, old, progressing(updated[0]?.metadata.name ?? '', complete)),
      condition(world, old, availability(enough)),
    ],
  })
}

const progressing = (name: string, complete: boolean): Condition => ({
  type: 'Progressing',
  status: 'True',
  reason: complete ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
  message: `ReplicaSet "${name}" ${complete ? 'has successfully progressed' : 'is progressing'}.`,
})

const availability = (enough: boolean): Condition => ({
  type: 'Available',
  status: enough ? 'True' : 'False',
  reason: enough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
  message: `Deployment ${enough ? 'has' : 'does not have'} minimum availability.`,
})

/** The old condition where nothing but the time would change. */
const condition = (world: World, old: Condition[], next: Condition): Condition => {
  const known = old.find(each => each.type === next.type)
  if (
    known !== undefined &&
    known.status === next.status &&
    known.reason === next.reason &&
    known.message === next.message
  )
    return known
  const now = timestamp(world.clock.now())
  const { type, status, ...why } = next
  const lastTransitionTime = known?.status === next.status ? (known.lastTransitionTime ?? now) : now
  return { type, status, lastUpdateTime: now, lastTransitionTime, ...why }
}
