import type { Budget } from '../core/drain/budget.js'
import { type OwnGround, ownGround } from '../core/drain/own-ground.js'
import { type DrainPod, drainVerdicts, nameOf, type PodVerdict } from '../core/evictable.js'
import type { NodeFacts } from '../core/evidence/bundle.js'
import type { StepSpec } from '../core/runbook/schema.js'
import type { Cluster } from '../ports.js'
import type { StepSettings } from './step.js'

/** What a drain is judged by reaches for this much, in the step and in the comparison of repairs alike. */
export interface DrainReach {
  cluster: Pick<Cluster, 'budgets' | 'rollouts' | 'pod' | 'whereabouts'>
  settings: Pick<StepSettings, 'testPodNamespace' | 'own'>
}

/** Whether this process, another part of cnibot or its Redis is among the node's Pods. */
export const readGround = async (
  { cluster, settings }: DrainReach,
  node: NodeFacts,
  pods: readonly DrainPod[],
): Promise<OwnGround> => {
  const { podNamespace, podName, redisHost } = settings.own
  const [self, redis] = await Promise.all([
    podNamespace && podName ? cluster.pod(podNamespace, podName) : undefined,
    cluster.whereabouts(redisHost, podNamespace),
  ])
  return ownGround({ node, pods, self, redis })
}

/** Each Pod with its verdict, and the budgets of their namespaces. */
export const readVerdicts = async (
  { cluster, settings }: DrainReach,
  node: string,
  pods: readonly DrainPod[],
  params: StepSpec & { kind: 'drain' },
): Promise<{ verdicts: PodVerdict[]; budgets: Budget[] }> => {
  const [all, rollouts] = await Promise.all([cluster.budgets(), cluster.rollouts(node)])
  const here = new Set(pods.map(({ namespace }) => namespace))
  const budgets = all.filter(({ namespace }) => here.has(namespace))
  const daemonSets = new Set(rollouts.map(nameOf))
  const verdicts = drainVerdicts(
    pods,
    { budgets, daemonSets },
    {
      deleteEmptydirData: params.delete_emptydir_data,
      evictUnmanaged: params.evict_unmanaged,
      testPodNamespace: settings.testPodNamespace,
    },
  )
  return { verdicts, budgets }
}
