import { hasCondition, isFinished, type Pod, type Workload } from '../shapes.js'
import { count } from './replicasets.js'
import { currentRevision } from './revisions.js'
import { isActive, type World } from './world.js'

const component = 'statefulset-controller'

/** Pods `name-0`, `name-1`, … each started when the one before is ready (or all at once with Parallel). */
export const reconcileStatefulSets = (world: World): void => {
  for (const set of world.workloads('statefulsets'))
    if (set.metadata.deletionTimestamp === undefined) reconcile(world, set)
}

const ordinal = (pod: Pod): number => Number(/-(\d+)$/.exec(pod.metadata.name)?.[1] ?? 0)

const reconcile = (world: World, set: Workload): void => {
  const revision = `${set.metadata.name}-${currentRevision(world, set)}`
  const wanted = set.spec.replicas ?? 1
  const parallel = set.spec.podManagementPolicy === 'Parallel'
  const byOrdinal = new Map(world.podsOf(set).map(pod => [ordinal(pod), pod]))
  for (const [index, pod] of byOrdinal)
    if (pod.metadata.deletionTimestamp === undefined && (index >= wanted || isFinished(pod)))
      world.deletePod(set, pod, component)
  for (let index = 0; index < wanted; index += 1) {
    const pod = byOrdinal.get(index)
    if (pod === undefined) create(world, set, index, revision)
    if (!parallel && (pod === undefined || !isActive(pod) || !hasCondition(pod, 'Ready'))) break
  }
  replaceOld(world, set, revision)
  setStatus(world, set, revision)
}

const create = (world: World, set: Workload, index: number, revision: string): void => {
  const name = `${set.metadata.name}-${index}`
  const labels = {
    'apps.kubernetes.io/pod-index': String(index),
    'controller-revision-hash': revision,
    'statefulset.kubernetes.io/pod-name': name,
  }
  const change = (pod: Pod): Pod => ({
    ...pod,
    metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...labels } },
    spec: { ...pod.spec, hostname: name, subdomain: set.spec.serviceName },
  })
  world.createPod(set, component, change, name)
}

/** From the highest ordinal down, one at a time, and only while all are ready. */
const replaceOld = (world: World, set: Workload, revision: string): void => {
  if (set.spec.updateStrategy?.type === 'OnDelete') return
  const pods = world.podsOf(set).sort((a, b) => ordinal(b) - ordinal(a))
  if (pods.some(pod => !isActive(pod))) return
  const old = pods.find(pod => pod.metadata.labels?.['controller-revision-hash'] !== revision)
  if (old === undefined || ordinal(old) < (set.spec.updateStrategy?.rollingUpdate?.partition ?? 0)) return
  if (pods.every(pod => pod === old || hasCondition(pod, 'Ready'))) world.deletePod(set, old, component)
}

const setStatus = (world: World, set: Workload, revision: string): void => {
  const pods = world.podsOf(set)
  const ready = pods.filter(pod => isActive(pod) && hasCondition(pod, 'Ready')).length
  const updated = pods.filter(pod => pod.metadata.labels?.['controller-revision-hash'] === revision).length
  const stored = world.store.get('statefulsets', set.metadata.namespace, set.metadata.name)
  if (stored === undefined) return
  const complete = updated === pods.length && ready === (set.spec.replicas ?? 1)
  const before = stored.status?.currentRevision
  world.setStatus('statefulsets', stored, {
    observedGeneration: set.metadata.generation,
    replicas: pods.length,
    ...count('readyReplicas', ready),
    ...count('currentReplicas', complete ? updated : pods.length - updated),
    ...count('updatedReplicas', updated),
    currentRevision: complete || typeof before !== 'string' ? revision : before,
    updateRevision: revision,
    collisionCount: 0,
    availableReplicas: ready,
  })
}
