import type { Controller, PodFacts } from '../../core/evidence/bundle.js'
import { callUnless } from './call.js'
import type { Kube } from './connect.js'
import { controllerOf } from './translate.js'

type Owned = Pick<PodFacts, 'namespace' | 'name' | 'controller' | 'labels'>
type Named = { kind: string; name: string }

/** Resolved controllers kept at most; the oldest goes first. */
const keptAtMost = 2_000

/** Names the workload behind a Pod as people do. An answer is kept by the controller's uid: owners do not change. */
export const workloadResolver = (kube: Kube): ((pod: Owned) => Promise<Named>) => {
  const kept = new Map<string, Promise<Named>>()
  return async pod => {
    const { controller } = pod
    if (controller === undefined) return { kind: 'Pod', name: pod.name }
    const known = kept.get(controller.uid)
    if (known) return known
    const found = ownerOf(kube, pod, controller)
    kept.set(controller.uid, found)
    const oldest = kept.keys().next().value
    if (kept.size > keptAtMost && oldest !== undefined) kept.delete(oldest)
    // A failed look-up must not be remembered.
    found.catch(() => kept.delete(controller.uid))
    return found
  }
}

const ownerOf = async (kube: Kube, pod: Owned, controller: Controller): Promise<Named> => {
  const { namespace } = pod
  const { kind, name, uid } = controller
  const asked = `read ${kind} ${namespace}/${name}`
  if (kind === 'ReplicaSet') {
    const found = await callUnless(kube, [404], asked, () =>
      kube.apps.readNamespacedReplicaSet({ namespace, name }),
    )
    const owner = found?.metadata?.uid === uid ? controllerOf(found.metadata) : undefined
    if (owner) return { kind: owner.kind, name: owner.name }
    // The ReplicaSet is gone already; its name still holds the Deployment's.
    const hash = pod.labels['pod-template-hash']
    if (found === undefined && hash !== undefined && name.endsWith(`-${hash}`))
      return { kind: 'Deployment', name: name.slice(0, -hash.length - 1) }
  }
  if (kind === 'Job') {
    const found = await callUnless(kube, [404], asked, () =>
      kube.batch.readNamespacedJob({ namespace, name }),
    )
    const owner = found?.metadata?.uid === uid ? controllerOf(found.metadata) : undefined
    if (owner) return { kind: owner.kind, name: owner.name }
    // A CronJob names its Jobs for the minute they were due.
    const cron = /^(.+)-\d{8,}$/.exec(name)?.[1]
    if (found === undefined && cron !== undefined) return { kind: 'CronJob', name: cron }
  }
  return { kind, name }
}
