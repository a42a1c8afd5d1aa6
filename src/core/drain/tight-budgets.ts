import { goes, type PodVerdict } from '../evictable.js'
import { type Budget, budgetsOf } from './budget.js'

/** How many of the Pods that go a budget counts: those that are ready. */
export const countedBy = (budget: Budget, verdicts: readonly PodVerdict[]): number =>
  verdicts.filter(one => goes(one) && one.pod.ready && budgetsOf(one.pod, [budget]).length > 0).length

/** Budgets that stop no first Pod, but let only some of these go at a time: `shop/front 1 of 3`. */
export const tightBudgets = (budgets: readonly Budget[], verdicts: readonly PodVerdict[]): string[] =>
  budgets.flatMap(budget => {
    const counts = countedBy(budget, verdicts)
    const { namespace, name, allowed, counted } = budget
    return counted && allowed > 0 && counts > allowed ? [`${namespace}/${name} ${allowed} of ${counts}`] : []
  })
