import type { Workload } from '../../core/incident/symptom.js'
import type { TicketEnd } from '../../core/incident/ticket.js'
import type { Cluster } from '../../ports.js'
import { pages } from './call.js'
import type { Kube } from './connect.js'
import { podFacts } from './translate.js'

/** Object times are whole seconds: a replacement may look a moment older than the end it followed. */
const grainMs = 1_500

/** How long after the end a Pod may start and still be its replacement. By the clock. */
export const replacementWaitMs = 600_000

/** Pods whose owner is looked up at most, for one question. */
const askedAtMost = 50

/**
 * The Pod that took a deleted one's place and has started; undefined as long as there is none. Compared by workload,
 * not by controller: a CronJob's next Job and a Deployment's next ReplicaSet are replacements too.
 * `madeAfter` is for a Pod that may have gone while nobody watched: `at` is then only when that was noticed, and one made
 * before it, but after that time, is taken where there is none made later.
 * @throws Refused, Unreachable or Failed
 */
export const findReplacement = async (
  kube: Kube,
  cluster: Pick<Cluster, 'workloadOf'>,
  gone: { workload: Workload; podUid: string; at: number; madeAfter: number | undefined },
): Promise<TicketEnd['replacement']> => {
  const { namespace, kind, name } = gone.workload
  const pods = await pages(kube, `list the Pods in ${namespace}`, page =>
    kube.core.listNamespacedPod({ namespace, ...page }),
  )
  const since = gone.at - grainMs
  const until = gone.at + replacementWaitMs + grainMs
  const candidates = pods
    .map(podFacts)
    .filter(
      pod =>
        pod.uid !== gone.podUid &&
        pod.controller !== undefined &&
        pod.createdAt >= Math.min(since, gone.madeAfter ?? since) &&
        (pod.startedAt ?? Infinity) <= until,
    )
    .sort((a, b) => Number(a.createdAt < since) - Number(b.createdAt < since) || a.createdAt - b.createdAt)
    .slice(0, askedAtMost)
  for (const pod of candidates) {
    if (pod.node === undefined || pod.startedAt === undefined) continue
    const owner = await cluster.workloadOf(pod)
    if (owner.kind === kind && owner.name === name)
      return { pod: pod.name, node: pod.node, afterMs: Math.max(0, pod.startedAt - gone.at) }
  }
  return undefined
}
