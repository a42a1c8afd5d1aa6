import { hasCondition, isFinished, type Node, type Pod, type Toleration, type Workload } from '../shapes.js'
import { fitsAffinity, repellingTaint } from './placement.js'
import { count } from './replicasets.js'
import { currentRevision } from './revisions.js'
import { scaled, type World } from './world.js'

const component = 'daemonset-controller'

/** Added to every daemon Pod; source: pkg/controller/daemon/util AddOrUpdateDaemonPodTolerations. */
const daemonTolerations = (hostNetwork: boolean): Toleration[] => [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
  ...(hostNetwork
    ? [{ key: 'node.kubernetes.io/network-unavailable', operator: 'Exists', effect: 'NoSchedule' }]
    : []),
]

const tolerationsOf = (set: Workload): Toleration[] => [
  ...(set.spec.template.spec.tolerations ?? []),
  ...daemonTolerations(set.spec.template.spec.hostNetwork === true),
]

/** One Pod of each DaemonSet on every node that may have it, replaced node by node when the template changes. */
export const reconcileDaemonSets = (world: World): void => {
  for (const set of world.workloads('daemonsets'))
    if (set.metadata.deletionTimestamp === undefined) reconcile(world, set)
}

/** The node a daemon Pod is for: its own, or the one its affinity names while it waits for the scheduler. */
export const targetNode = (pod: Pod): string | undefined => {
  if (pod.spec.nodeName !== undefined) return pod.spec.nodeName
  const terms =
    pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return terms?.[0]?.matchFields?.[0]?.values?.[0]
}

const reconcile = (world: World, set: Workload): void => {
  const hash = currentRevision(world, set)
  const nodes = world.nodes()
  const eligible = nodes.filter(node => isEligible(set, node))
  const names = new Set(eligible.map(node => node.metadata.name))
  for (const pod of world.podsOf(set)) {
    if (pod.metadata.deletionTimestamp !== undefined) continue
    const misplaced = !names.has(targetNode(pod) ?? '')
    if (pod.status.phase === 'Failed') {
      const message = `Found failed daemon pod ${pod.metadata.namespace}/${pod.metadata.name} on node ${targetNode(pod)}, will try to kill it`
      world.record(set, 'Warning', 'FailedDaemonPod', message, component)
    }
    if (misplaced || isFinished(pod)) world.deletePod(set, pod, component)
  }
  if (set.spec.updateStrategy?.type !== 'OnDelete') replaceOld(world, set, hash, names)
  // A Pod on its way out still holds its node: the next one comes when it is gone.
  const taken = new Set(world.podsOf(set).map(targetNode))
  for (const node of eligible)
    if (!taken.has(node.metadata.name)) createFor(world, set, node.metadata.name, hash)
  setStatus(world, set, hash, names)
}

const isEligible = (set: Workload, node: Node): boolean =>
  fitsAffinity(set.spec.template.spec, node) && repellingTaint(tolerationsOf(set), node) === undefined

const createFor = (world: World, set: Workload, node: string, hash: string): void => {
  const labels = {
    'controller-revision-hash': hash,
    'pod-template-generation': set.metadata.annotations?.['deprecated.daemonset.template.generation'] ?? '1',
  }
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }]
  world.createPod(set, component, pod => ({
    ...pod,
    metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...labels } },
    spec: {
      ...pod.spec,
      tolerations: tolerationsOf(set),
      affinity: {
        ...pod.spec.affinity,
        nodeAffinity: {
          ...pod.spec.affinity?.nodeAffinity,
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: nodeTerms(set, matchFields),
          },
        },
      },
    },
  }))
}

/** The node's name goes into each term of the template, since terms are alternatives. */
const nodeTerms = (set: Workload, matchFields: { key: string; operator: string; values: string[] }[]) => {
  const given =
    set.spec.template.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      ?.nodeSelectorTerms
  return given === undefined || given.length === 0
    ? [{ matchFields }]
    : given.map(term => ({ ...term, matchFields }))
}

/**
 * Deletes old Pods as far as `maxUnavailable` allows. Old Pods that are not available go regardless of it, and every
 * node that lacks an available Pod uses up the allowance: one bad node stops a rollout (daemon/update.go).
 */
const replaceOld = (world: World, set: Workload, hash: string, nodes: ReadonlySet<string>): void => {
  const pods = world.podsOf(set).filter(pod => nodes.has(targetNode(pod) ?? ''))
  const present = pods.filter(pod => pod.metadata.deletionTimestamp === undefined)
  const isOld = (pod: Pod) => pod.metadata.labels?.['controller-revision-hash'] !== hash
  const available = present.filter(pod => hasCondition(pod, 'Ready'))
  const allowed = Math.max(
    1,
    scaled(set.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, nodes.size, 'up'),
  )
  const broken = present.filter(pod => isOld(pod) && !hasCondition(pod, 'Ready'))
  let unavailable = nodes.size - available.length
  for (const pod of broken) world.deletePod(set, pod, component)
  for (const pod of available.filter(isOld)) {
    if (unavailable >= allowed) return
    world.deletePod(set, pod, component)
    unavailable += 1
  }
}

const setStatus = (world: World, set: Workload, hash: string, nodes: ReadonlySet<string>): void => {
  const pods = world.podsOf(set)
  const placed = pods.filter(pod => nodes.has(targetNode(pod) ?? ''))
  const serving = placed.filter(pod => pod.metadata.deletionTimestamp === undefined)
  const ready = new Set(serving.filter(pod => hasCondition(pod, 'Ready')).map(targetNode)).size
  const updated = serving.filter(pod => pod.metadata.labels?.['controller-revision-hash'] === hash)
  const stored = world.store.get('daemonsets', set.metadata.namespace, set.metadata.name)
  if (stored === undefined) return
  world.setStatus('daemonsets', stored, {
    currentNumberScheduled: new Set(placed.map(targetNode)).size,
    numberMisscheduled: pods.length - placed.length,
    desiredNumberScheduled: nodes.size,
    numberReady: ready,
    observedGeneration: set.metadata.generation,
    ...count('updatedNumberScheduled', new Set(updated.map(targetNode)).size),
    ...count('numberAvailable', ready),
    ...count('numberUnavailable', nodes.size - ready),
  })
}
