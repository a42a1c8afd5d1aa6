import type { V1LabelSelector, V1PodDisruptionBudget } from '@kubernetes/client-node'
import type { Budget, LabelSelector } from '../../core/drain/budget.js'
import { pages } from './call.js'
import type { Kube } from './connect.js'
import type { Wire } from './wire.js'

const selectorOf = (selector: Wire<V1LabelSelector> | undefined): LabelSelector | undefined =>
  selector && {
    matchLabels: selector.matchLabels ?? {},
    matchExpressions: (selector.matchExpressions ?? []).map(({ key, operator, values }) => ({
      key,
      operator,
      values: values ?? [],
    })),
  }

export const budgetFacts = ({ metadata, spec, status }: Wire<V1PodDisruptionBudget>): Budget => ({
  namespace: metadata?.namespace ?? '',
  name: metadata?.name ?? '',
  selector: selectorOf(spec?.selector),
  allowed: status?.disruptionsAllowed ?? 0,
  healthy: status?.currentHealthy ?? 0,
  desired: status?.desiredHealthy ?? 0,
  expected: status?.expectedPods ?? 0,
  counted: (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0),
  unhealthyMayGo: spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow',
})

export const readBudgets = async (kube: Kube): Promise<Budget[]> =>
  (
    await pages(kube, 'list PodDisruptionBudgets', page =>
      kube.policy.listPodDisruptionBudgetForAllNamespaces(page),
    )
  ).map(budgetFacts)
