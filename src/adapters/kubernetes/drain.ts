import type { V1Pod } from '@kubernetes/client-node'
import type { DrainPod } from '../../core/evictable.js'
import type { Cluster } from '../../ports.js'
import { readBudgets } from './budgets.js'
import { pages } from './call.js'
import type { Kube } from './connect.js'
import { evict } from './evict.js'
import { podFacts } from './translate.js'
import { whereabouts } from './whereabouts.js'
import type { Wire } from './wire.js'

/** What the server assumes where a Pod says nothing. */
const defaultGraceSeconds = 30

export const drainPod = (pod: Wire<V1Pod>): DrainPod => ({
  ...podFacts(pod),
  emptyDirs: (pod.spec?.volumes ?? []).flatMap(({ name, emptyDir }) =>
    emptyDir === undefined || emptyDir === null ? [] : [name],
  ),
  graceMs: (pod.spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds) * 1_000,
  finalizers: pod.metadata?.finalizers ?? [],
})

type Draining = Pick<Cluster, 'podsToDrain' | 'budgets' | 'evict' | 'whereabouts'>

/** The part of ports.Cluster that a drain uses. */
export const draining = (kube: Kube): Draining => ({
  podsToDrain: async node => {
    const fieldSelector = `spec.nodeName=${node}`
    const pods = await pages(kube, `list the Pods on ${node}`, page =>
      kube.core.listPodForAllNamespaces({ fieldSelector, ...page }),
    )
    return pods.map(drainPod)
  },
  budgets: () => readBudgets(kube),
  evict: (pod, guard) => evict(kube, pod, guard),
  whereabouts: (host, namespace) => whereabouts(kube, host, namespace),
})
