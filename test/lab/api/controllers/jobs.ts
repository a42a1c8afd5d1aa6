import { type Condition, hasCondition, type Pod, timestamp, type Workload } from '../shapes.js'
import { count } from './replicasets.js'
import { isActive, type World } from './world.js'

const component = 'job-controller'

/** Keeps a Pod in the API until its Job has counted it. */
const tracking = 'batch.kubernetes.io/job-tracking'

/** Runs each Job's Pods until enough have succeeded; the kubelet says when one has. */
export const reconcileJobs = (world: World): void => {
  for (const job of world.workloads('jobs'))
    if (
      job.metadata.deletionTimestamp === undefined &&
      !hasCondition(job, 'Complete') &&
      !hasCondition(job, 'Failed')
    )
      reconcile(world, job)
}

const reconcile = (world: World, job: Workload): void => {
  const pods = world.podsOf(job)
  const succeeded = pods.filter(pod => pod.status.phase === 'Succeeded').length
  const failed = pods.filter(pod => pod.status.phase === 'Failed').length
  const active = pods.filter(isActive)
  const wanted = job.spec.completions ?? 1
  const over = succeeded >= wanted ? 'Complete' : failed > (job.spec.backoffLimit ?? 6) ? 'Failed' : undefined
  const running =
    over !== undefined || job.spec.suspend === true
      ? 0
      : Math.min(job.spec.parallelism ?? 1, wanted - succeeded)
  for (let missing = running - active.length; missing > 0; missing -= 1)
    world.createPod(job, component, pod => ({
      ...pod,
      metadata: { ...pod.metadata, finalizers: [tracking] },
    }))
  for (const pod of active.slice(running)) world.deletePod(job, pod, component)
  const now = timestamp(world.clock.now())
  for (const pod of world.podsOf(job)) if (!isActive(pod)) untrack(world, pod)
  const left = world.podsOf(job)
  if (over === 'Complete') world.record(job, 'Normal', 'Completed', 'Job completed', component)
  world.setStatus('jobs', job, {
    ...(over === undefined ? {} : { conditions: conditions(over, now) }),
    startTime: job.status.startTime ?? now,
    ...(over === 'Complete' ? { completionTime: now } : {}),
    ...count('active', left.filter(isActive).length),
    ...count('succeeded', succeeded),
    ...count('failed', failed),
    terminating: left.filter(pod => pod.metadata.deletionTimestamp !== undefined).length,
    uncountedTerminatedPods: {},
    ready: left.filter(pod => isActive(pod) && hasCondition(pod, 'Ready')).length,
  })
}

/** A Pod that was deleted while its finalizer held it goes now; one that a kubelet still runs goes by that kubelet. */
const untrack = (world: World, pod: Pod): void => {
  const { finalizers, ...metadata } = pod.metadata
  if (finalizers?.includes(tracking) !== true) return
  const freed = world.store.update('pods', { ...pod, metadata })
  if (metadata.deletionGracePeriodSeconds === 0)
    world.store.remove('pods', freed.metadata.namespace, freed.metadata.name)
}

const conditions = (over: 'Complete' | 'Failed', now: string): Condition[] => {
  const times = { lastProbeTime: now, lastTransitionTime: now }
  const why =
    over === 'Complete'
      ? { reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' }
      : { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' }
  const first = over === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget'
  return [first, over].map(type => ({ type, status: 'True', ...times, ...why }))
}
