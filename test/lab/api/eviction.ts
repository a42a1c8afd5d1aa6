import type { LabStore } from '../store.js'
import { checkPreconditions, deleteObject } from './deletion.js'
import type { MemoryStore } from './memory-store.js'
import { type ApiRequest, isDryRun } from './request.js'
import { selects } from './selectors.js'
import { at, type Budget, hasCondition, isFinished, type Pod, timestamp } from './shapes.js'
import { ApiError, type Status, success } from './status.js'
import { existing } from './writes.js'

const wouldViolate = "Cannot evict pod as it would violate the pod's disruption budget."

const tooMany = (message: string, retryAfterSeconds?: number): ApiError =>
  new ApiError(429, 'TooManyRequests', wouldViolate, {
    causes: [{ reason: 'DisruptionBudget', message }],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })

/**
 * Evicts a Pod, or says which budget forbids it. Source: pkg/registry/core/pod/storage/eviction.go.
 * @throws ApiError 404; 409 for another uid; 429 with the cause DisruptionBudget; 500 when two budgets match.
 */
export const evict = (store: MemoryStore, request: ApiRequest, body: unknown): Status => {
  const pod = existing(store, request) as Pod
  const options = at(body, 'deleteOptions')
  checkPreconditions(request, pod, options)
  const dryRun = isDryRun(request, options)
  const budgets = canIgnoreBudgets(pod) ? [] : budgetsOf(store, pod)
  if (budgets.length > 1)
    throw new ApiError(
      500,
      '',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  const budget = budgets[0]
  if (budget !== undefined) spend(store, budget, pod, dryRun)
  if (dryRun) return success(201)
  const grace = at(options, 'gracePeriodSeconds')
  const marked = canIgnoreBudgets(pod) ? pod : markDisrupted(store, pod)
  deleteObject(store, store.clock, 'pods', marked, typeof grace === 'number' ? grace : undefined)
  return success(201)
}

const canIgnoreBudgets = (pod: Pod): boolean =>
  isFinished(pod) || pod.status.phase === 'Pending' || pod.metadata.deletionTimestamp !== undefined

const budgetsOf = (store: LabStore, pod: Pod): Budget[] =>
  (store.list('poddisruptionbudgets', pod.metadata.namespace) as Budget[]).filter(budget =>
    selects(budget.spec.selector, pod.metadata.labels),
  )

/** Takes one disruption from the budget. */
const spend = (store: MemoryStore, budget: Budget, pod: Pod, dryRun: boolean): void => {
  const { status, spec, metadata } = budget
  const { currentHealthy = 0, desiredHealthy = 0, disruptionsAllowed = 0 } = status
  if (!hasCondition(pod, 'Ready')) {
    if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return
    if (currentHealthy >= desiredHealthy && desiredHealthy > 0) return
  }
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0))
    throw tooMany(`The disruption budget ${metadata.name} is still being processed by the server.`, 10)
  if (disruptionsAllowed <= 0)
    throw tooMany(
      `The disruption budget ${metadata.name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
    )
  if (dryRun) return
  const disruptedPods = { ...status.disruptedPods, [pod.metadata.name]: timestamp(store.clock.now()) }
  store.update('poddisruptionbudgets', {
    ...budget,
    status: { ...status, disruptionsAllowed: disruptionsAllowed - 1, disruptedPods },
  })
}

const markDisrupted = (store: MemoryStore, pod: Pod): Pod => {
  const conditions = (pod.status.conditions ?? []).filter(each => each.type !== 'DisruptionTarget')
  conditions.push({
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(store.clock.now()),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  })
  return store.update('pods', { ...pod, status: { ...pod.status, conditions } }) as Pod
}
