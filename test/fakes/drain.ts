import { budgetsOf, type Budget } from '../../src/core/drain/budget.js'
import type { Whereabouts } from '../../src/core/drain/own-ground.js'
import type { DrainPod } from '../../src/core/evictable.js'
import type { PodFacts } from '../../src/core/evidence/bundle.js'
import type { Cluster, Eviction } from '../../src/ports.js'

export type FakePod = PodFacts & Partial<Pick<DrainPod, 'emptyDirs' | 'graceMs' | 'finalizers'>>

/** What a drain needs beside the Pods. */
export interface DrainWorld {
  budgets: Budget[]
  whereabouts: Map<string, Whereabouts>
  /** Stands in for the kubelet: what becomes of a Pod whose eviction was accepted. By default it is gone at once. */
  onEvicted: (pod: FakePod) => void
}

type Draining = Pick<Cluster, 'podsToDrain' | 'budgets' | 'evict' | 'whereabouts'>
type Answer = <T>(method: keyof Cluster, read: () => T) => Promise<T>

export const fakeBudget = (namespace: string, name: string, over: Partial<Budget> = {}): Budget => ({
  namespace,
  name,
  selector: { matchLabels: {}, matchExpressions: [] },
  allowed: 1,
  healthy: 2,
  desired: 1,
  expected: 2,
  counted: true,
  unhealthyMayGo: false,
  ...over,
})

const judge = (pod: FakePod, budgets: Budget[]): Eviction => {
  const free = pod.deletedAt !== undefined || ['Pending', 'Succeeded', 'Failed'].includes(pod.phase)
  const found = free ? [] : budgetsOf(pod, budgets)
  const [budget] = found
  if (found.length > 1)
    return {
      outcome: 'never',
      says: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    }
  if (!budget) return { outcome: 'accepted' }
  if (!pod.ready && (budget.unhealthyMayGo || (budget.desired > 0 && budget.healthy >= budget.desired)))
    return { outcome: 'accepted' }
  const { name, desired, healthy } = budget
  const waits = { outcome: 'waits', because: 'budget' } as const
  if (!budget.counted) {
    const says = `The disruption budget ${name} is still being processed by the server.`
    return { ...waits, says, retryAfterMs: 10_000 }
  }
  if (budget.allowed <= 0) {
    const says = `The disruption budget ${name} needs ${desired} healthy pods and has ${healthy} currently`
    return { ...waits, says, retryAfterMs: undefined }
  }
  budget.allowed -= 1
  return { outcome: 'accepted' }
}

export const fakeDraining = (
  pods: FakePod[],
  world: DrainWorld,
  changes: string[],
  answer: Answer,
): Draining => ({
  podsToDrain: node =>
    answer('podsToDrain', () =>
      pods
        .filter(pod => pod.node === node)
        .map(pod => ({ emptyDirs: [], graceMs: 30_000, finalizers: [], ...pod })),
    ),
  budgets: () => answer('budgets', () => world.budgets),
  whereabouts: host =>
    answer('whereabouts', () => world.whereabouts.get(host) ?? { host, why: `${host} has no address here` }),
  evict: async ({ namespace, name, uid }, guard) => {
    await guard?.()
    return answer('evict', (): Eviction => {
      const pod = pods.find(each => each.namespace === namespace && each.name === name)
      if (!pod || pod.uid !== uid) return { outcome: 'gone' }
      const judged = judge(pod, world.budgets)
      if (judged.outcome !== 'accepted') return judged
      changes.push(`evict ${namespace}/${name}`)
      world.onEvicted(pod)
      return judged
    })
  },
})
