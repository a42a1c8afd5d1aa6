import type { V1DaemonSet, V1LabelSelector, V1Node, V1Pod } from '@kubernetes/client-node'
import pLimit from 'p-limit'
import type { Rollout } from '../../core/evidence/bundle.js'
import { pages } from './call.js'
import type { Kube } from './connect.js'
import { shouldRunOn } from './eligible.js'
import { controllerOf, podCondition } from './translate.js'
import { millis, type Wire } from './wire.js'

/** Whether the counters say that a node lacks an available Pod; only then are the Pods worth a list. */
export const incomplete = ({ status }: Wire<V1DaemonSet>): boolean =>
  (status?.numberAvailable ?? 0) < (status?.desiredNumberScheduled ?? 0)

/** Reads the Pods of each DaemonSet whose counters are short, and the nodes where Pods alone cannot name the gap. */
export const readRollouts = async (
  kube: Kube,
  daemonSets: Wire<V1DaemonSet>[],
  now: number,
): Promise<Rollout[]> => {
  const few = pLimit(4)
  const lists = await Promise.all(
    daemonSets.map(daemonSet => few(() => (incomplete(daemonSet) ? podsOf(kube, daemonSet) : []))),
  )
  const uncovered = daemonSets.some(
    (daemonSet, index) => incomplete(daemonSet) && nodesOf(lists[index] ?? []).size < desiredOf(daemonSet),
  )
  const nodes = uncovered ? await pages(kube, 'list nodes', page => kube.core.listNode(page)) : []
  return daemonSets.map((daemonSet, index) => rolloutOf(daemonSet, lists[index] ?? [], nodes, now))
}

/**
 * Which eligible node lacks an available Pod is in no status field: it is worked out from the DaemonSet's own Pods
 * (by controller uid), and from `nodes` for an eligible node that has no Pod at all.
 */
export const rolloutOf = (
  daemonSet: Wire<V1DaemonSet>,
  pods: Wire<V1Pod>[],
  nodes: Wire<V1Node>[],
  now: number,
): Rollout => {
  const { metadata, status } = daemonSet
  const desired = desiredOf(daemonSet)
  const minReadyMs = (daemonSet.spec?.minReadySeconds ?? 0) * 1_000
  return {
    namespace: metadata?.namespace ?? '',
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    generation: metadata?.generation ?? 0,
    observedGeneration: status?.observedGeneration ?? 0,
    desired,
    ready: status?.numberReady ?? 0,
    updated: status?.updatedNumberScheduled ?? 0,
    available: status?.numberAvailable ?? 0,
    missing: incomplete(daemonSet) ? missing(daemonSet, pods, nodes, now - minReadyMs) : [],
  }
}

const missing = (
  daemonSet: Wire<V1DaemonSet>,
  pods: Wire<V1Pod>[],
  nodes: Wire<V1Node>[],
  readySince: number,
): Rollout['missing'] => {
  const byNode = new Map<string, Wire<V1Pod>[]>()
  for (const pod of pods) {
    const node = nodeOf(pod)
    if (node !== undefined) byNode.set(node, [...(byNode.get(node) ?? []), pod])
  }
  const found: Rollout['missing'] = []
  for (const [node, here] of byNode) {
    if (here.some(pod => availableSince(pod, readySince))) continue
    const shown = here.toSorted(staying).at(-1)
    found.push({ node, pod: shown?.metadata?.name, podUid: shown?.metadata?.uid })
  }
  for (const node of nodes) {
    const name = node.metadata?.name
    if (name !== undefined && !byNode.has(name) && shouldRunOn(daemonSet, node))
      found.push({ node: name, pod: undefined, podUid: undefined })
  }
  return found.sort((a, b) => a.node.localeCompare(b.node))
}

const availableSince = (pod: Wire<V1Pod>, readySince: number): boolean => {
  const ready = podCondition(pod, 'Ready')
  if (pod.metadata?.deletionTimestamp !== undefined || ready?.status !== 'True') return false
  return (millis(ready.lastTransitionTime) ?? 0) <= readySince
}

/** A Pod on its way out comes before one that stays, an older one before a younger one. */
const staying = (a: Wire<V1Pod>, b: Wire<V1Pod>): number =>
  Number(a.metadata?.deletionTimestamp === undefined) - Number(b.metadata?.deletionTimestamp === undefined) ||
  (millis(a.metadata?.creationTimestamp) ?? 0) - (millis(b.metadata?.creationTimestamp) ?? 0)

/** A Pod that the scheduler has not placed yet is pinned to its node by the controller. */
const nodeOf = (pod: Wire<V1Pod>): string | undefined => {
  if (pod.spec?.nodeName) return pod.spec.nodeName
  const terms =
    pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  const pin = terms?.flatMap(term => term.matchFields ?? []).find(field => field.key === 'metadata.name')
  return pin?.values?.[0]
}

const nodesOf = (pods: Wire<V1Pod>[]): Set<string> => new Set(pods.flatMap(pod => nodeOf(pod) ?? []))

const desiredOf = (daemonSet: Wire<V1DaemonSet>): number => daemonSet.status?.desiredNumberScheduled ?? 0

const podsOf = async (kube: Kube, daemonSet: Wire<V1DaemonSet>): Promise<V1Pod[]> => {
  const { namespace = '', name = '', uid } = daemonSet.metadata ?? {}
  const labelSelector = selectorText(daemonSet.spec?.selector)
  const pods = await pages(kube, `list the Pods of DaemonSet ${namespace}/${name}`, page =>
    kube.core.listNamespacedPod({ namespace, labelSelector, ...page }),
  )
  return pods.filter(pod => controllerOf(pod.metadata)?.uid === uid)
}

/** A label selector as the query parameter takes it. */
export const selectorText = (selector: V1LabelSelector | undefined): string => {
  const equal = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`)
  const expressions = (selector?.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key
    if (operator === 'DoesNotExist') return `!${key}`
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`
  })
  return [...equal, ...expressions].join(',')
}
