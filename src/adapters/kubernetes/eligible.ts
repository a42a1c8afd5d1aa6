import type {
  V1DaemonSet,
  V1Node,
  V1NodeSelectorRequirement,
  V1NodeSelectorTerm,
  V1Toleration,
} from '@kubernetes/client-node'
import type { Wire } from './wire.js'

/**
 * Whether the DaemonSet controller wants a Pod on this node: selector, required affinity, and taints that keep Pods
 * off. Cordons, pressure and not-ready do not count: the controller adds those tolerations itself.
 * Source: kubernetes pkg/controller/daemon `NodeShouldRunDaemonPod`, util `AddOrUpdateDaemonPodTolerations`.
 */
export const shouldRunOn = (daemonSet: Wire<V1DaemonSet>, node: Wire<V1Node>): boolean => {
  const template = daemonSet.spec?.template.spec
  const labels = node.metadata?.labels ?? {}
  const selected = Object.entries(template?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)
  const terms =
    template?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return (
    selected &&
    (terms === undefined || terms.some(term => termHolds(term, node))) &&
    tolerated(template?.tolerations ?? [], node)
  )
}

const termHolds = (term: Wire<V1NodeSelectorTerm>, node: Wire<V1Node>): boolean => {
  const labels = node.metadata?.labels ?? {}
  const expressions = term.matchExpressions ?? []
  const fields = term.matchFields ?? []
  if (expressions.length + fields.length === 0) return false
  return (
    expressions.every(each => requirementHolds(each, labels[each.key])) &&
    fields.every(each => each.key === 'metadata.name' && requirementHolds(each, node.metadata?.name))
  )
}

const requirementHolds = (
  { operator, values }: V1NodeSelectorRequirement,
  value: string | undefined,
): boolean => {
  switch (operator) {
    case 'In':
      return value !== undefined && (values ?? []).includes(value)
    case 'NotIn':
      return value === undefined || !(values ?? []).includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return Number(value) > Number(values?.[0])
    case 'Lt':
      return Number(value) < Number(values?.[0])
    default:
      return false
  }
}

const addedByController = new Set(
  [
    'not-ready',
    'unreachable',
    'disk-pressure',
    'memory-pressure',
    'pid-pressure',
    'unschedulable',
    'network-unavailable',
  ].map(name => `node.kubernetes.io/${name}`),
)

const tolerated = (tolerations: Wire<V1Toleration>[], node: Wire<V1Node>): boolean =>
  (node.spec?.taints ?? [])
    .filter(taint => taint.effect !== 'PreferNoSchedule' && !addedByController.has(taint.key))
    .every(taint =>
      tolerations.some(
        toleration =>
          (toleration.effect === undefined ||
            toleration.effect === '' ||
            toleration.effect === taint.effect) &&
          (toleration.operator === 'Exists'
            ? toleration.key === undefined || toleration.key === '' || toleration.key === taint.key
            : toleration.key === taint.key && (toleration.value ?? '') === (taint.value ?? '')),
      ),
    )
