import { fitsNodeTerm } from '../selectors.js'
import type { Node, Pod, PodSpec, Taint, Toleration } from '../shapes.js'

export const tolerates = (tolerations: Toleration[] | undefined, taint: Taint): boolean =>
  (tolerations ?? []).some(
    each =>
      ((each.key ?? '') === '' ? each.operator === 'Exists' : each.key === taint.key) &&
      ((each.effect ?? '') === '' || each.effect === taint.effect) &&
      (each.operator === 'Exists' || (each.value ?? '') === (taint.value ?? '')),
  )

/** Node selector and required node affinity; terms are alternatives. */
export const fitsAffinity = (spec: PodSpec, node: Node): boolean => {
  const labels = node.metadata.labels ?? {}
  if (!Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return terms === undefined || terms.some(term => fitsNodeTerm(term, node))
}

const unschedulable: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }

/** The first taint that keeps a Pod away; `spec.unschedulable` counts before its taint appears. */
export const repellingTaint = (tolerations: Toleration[] | undefined, node: Node): Taint | undefined => {
  const taints = (node.spec.taints ?? []).filter(each => each.effect !== 'PreferNoSchedule')
  return taints.find(taint => !tolerates(tolerations, taint))
}

export interface Filtered {
  fits: boolean
  /** Why not, in the scheduler's words. */
  why?: string
}

export const filterNode = (pod: Pod, node: Node, podsThere: number): Filtered => {
  const { spec } = pod
  if (node.spec.unschedulable === true && !tolerates(spec.tolerations, unschedulable))
    return { fits: false, why: 'node(s) were unschedulable' }
  const taint = repellingTaint(spec.tolerations, node)
  if (taint !== undefined) return { fits: false, why: `node(s) had untolerated taint(s)` }
  if (!fitsAffinity(spec, node))
    return { fits: false, why: "node(s) didn't match Pod's node affinity/selector" }
  if (podsThere >= Number(node.status.allocatable?.pods ?? 110)) return { fits: false, why: 'Too many pods' }
  return { fits: true }
}

/** `0/3 nodes are available: 1 node(s) were unschedulable, 2 Too many pods. …` */
export const whyNowhere = (total: number, reasons: string[]): string => {
  const counts = new Map<string, number>()
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  const parts = [...counts].map(([reason, count]) => `${count} ${reason}`).sort()
  const detail = parts.length === 0 ? '.' : `: ${parts.join(', ')}.`
  return total === 0
    ? 'no nodes available to schedule pods'
    : `0/${total} nodes are available${detail} preemption: 0/${total} nodes are available: ${total} Preemption is not helpful for scheduling.`
}
