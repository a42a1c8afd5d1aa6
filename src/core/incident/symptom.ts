import { readCniMessage } from '../diagnosis/cni-message.js'
import type { Controller, PodFacts, SandboxEvents } from '../evidence/bundle.js'

/** The workload a Pod belongs to, named as people name it: the Deployment rather than its ReplicaSet. */
export interface Workload {
  namespace: string
  kind: string
  name: string
}

/** One observation about one node. */
export type Symptom = StuckSandbox | StuckRollout

export interface StuckSandbox {
  kind: 'stuck-sandbox'
  node: string
  workload: Workload
  pod: string
  podUid: string
  /** Since when the Pod has been waiting for its sandbox. */
  since: number
  /** The CNI message of the newest FailedCreatePodSandBox event. */
  message: string | undefined
  /** The message says that the range is used up: counts at once, without the threshold. */
  exhausted: boolean
}

export interface StuckRollout {
  kind: 'stuck-rollout'
  node: string
  workload: Workload
  pod: string | undefined
  podUid: string | undefined
  /** Since when the same node has lacked the same Pod without progress. */
  since: number
  desired: number
  ready: number
}

/** The label by which the bot knows the test Pods it made itself; they never become symptoms. */
export const testPodLabel = 'cnibot.io/test-pod'

/** What the watch keeps of one Pod: enough to tell a stuck sandbox, a few hundred bytes. */
export interface WatchedPod {
  namespace: string
  name: string
  uid: string
  node: string | undefined
  phase: string
  hostNetwork: boolean
  controller: Controller | undefined
  /** `pod-template-hash`: what a ReplicaSet's name has more than its Deployment's. */
  templateHash: string | undefined
  /** Carries `testPodLabel`. */
  testPod: boolean
  createdAt: number
  /** When PodScheduled became True; the wait for a sandbox cannot be older. */
  scheduledAt: number | undefined
  deletedAt: number | undefined
  /** Waiting containers, init containers too: ContainerCreating, PodInitializing, ImagePullBackOff, … */
  waiting: { reason: string; init: boolean }[]
  /** The kubelet has written no container status at all. */
  statusesMissing: boolean
  /** `PodReadyToStartContainers`; undefined on kubelets without it. */
  sandboxReady: boolean | undefined
  /** When that condition last changed. */
  sandboxReadyChangedAt: number | undefined
}

/** What the API's events say of one Pod. */
export interface PodEvents {
  /** Its FailedCreatePodSandBox events. */
  sandbox: SandboxEvents | undefined
  /** Its other Warning events as `reason: message`, newest last. */
  others: string[]
}

export type PodReading =
  | { kind: 'stuck'; symptom: StuckSandbox }
  /** Waits for its sandbox, but not yet for long enough; look again at `dueAt`. */
  | { kind: 'waiting'; since: number; dueAt: number }
  /** Not started, for a reason that is not the sandbox. */
  | { kind: 'other'; reason: string }
  | { kind: 'fine' }

export interface SymptomThresholds {
  /** How long a Pod may wait for its sandbox. */
  stuckAfterMs: number
}

const sandboxWaits = new Set(['ContainerCreating', 'PodInitializing'])
const finished = new Set(['Succeeded', 'Failed'])
/** Event reasons that name another culprit while the container still says ContainerCreating. */
const otherReasons =
  /^(FailedMount|FailedAttachVolume|FailedMapVolume|ErrImage\w*|ImagePullBackOff|Failed|BackOff|InspectFailed|FailedCreatePodContainer|Evicted|OutOf\w+|NodeAffinity):/

/**
 * The workload as people name it, from the Pod alone: a ReplicaSet without its template hash is the Deployment, a Job
 * with a CronJob's minute stamp is the CronJob. A guess where the API is not asked; the API's answer wins.
 */
export const workloadFromPod = (
  pod: Pick<WatchedPod, 'namespace' | 'name' | 'controller' | 'templateHash'>,
): Workload => {
  const { namespace, controller, templateHash } = pod
  if (controller === undefined) return { namespace, kind: 'Pod', name: pod.name }
  if (controller.kind === 'ReplicaSet' && templateHash && controller.name.endsWith(`-${templateHash}`))
    return { namespace, kind: 'Deployment', name: controller.name.slice(0, -templateHash.length - 1) }
  const stamp = controller.kind === 'Job' ? /^(.+)-\d{8,10}$/.exec(controller.name)?.[1] : undefined
  if (stamp !== undefined) return { namespace, kind: 'CronJob', name: stamp }
  return { namespace, kind: controller.kind, name: controller.name }
}

/** A Pod that is not in the watch's selection, asked for by name because an event named it. */
export const watchedFromFacts = (pod: PodFacts): WatchedPod => ({
  namespace: pod.namespace,
  name: pod.name,
  uid: pod.uid,
  node: pod.node,
  phase: pod.phase,
  hostNetwork: pod.hostNetwork,
  controller: pod.controller,
  templateHash: pod.labels['pod-template-hash'],
  testPod: testPodLabel in pod.labels,
  createdAt: pod.createdAt,
  scheduledAt: pod.scheduledAt,
  deletedAt: pod.deletedAt,
  waiting: [],
  statusesMissing: false,
  sandboxReady: pod.sandboxReady,
  sandboxReadyChangedAt: undefined,
})

/**
 * Since when this Pod has been waiting for its sandbox, undefined where it is not. `PodReadyToStartContainers` is the
 * kubelet's own word and wins; without it, waiting reasons, or no status at all on a Pod that has been placed. A Pod of
 * phase Running can have lost its sandbox: after a restart on a full range no other field tells.
 */
const waitingSince = (pod: WatchedPod): number | undefined => {
  const placed = pod.scheduledAt ?? pod.createdAt
  if (pod.sandboxReady === false) {
    if (pod.phase === 'Running') return Math.max(placed, pod.sandboxReadyChangedAt ?? placed)
    return placed
  }
  if (pod.sandboxReady === true || pod.phase !== 'Pending') return undefined
  if (pod.statusesMissing || pod.waiting.some(({ reason }) => sandboxWaits.has(reason))) return placed
  return undefined
}

/** A reason that a waiting container or an event gives and that is not the sandbox. */
const otherReason = (pod: WatchedPod, events: PodEvents): string | undefined => {
  const waits = pod.waiting.find(({ reason }) => reason !== '' && !sandboxWaits.has(reason))
  if (waits) return waits.reason
  if (events.sandbox !== undefined) return undefined
  return events.others.findLast(event => otherReasons.test(event))
}

/** One Pod and its events → what it shows about its node. `now` and all times are the API server's clock. */
export const readSymptom = (
  pod: WatchedPod,
  events: PodEvents,
  now: number,
  thresholds: SymptomThresholds,
): PodReading => {
  if (pod.testPod || pod.deletedAt !== undefined || finished.has(pod.phase)) return { kind: 'fine' }
  if (pod.node === undefined) {
    return pod.phase === 'Pending' ? { kind: 'other', reason: 'not scheduled yet' } : { kind: 'fine' }
  }
  const failing = events.sandbox
  const since = waitingSince(pod) ?? eventsSince(pod, failing, now, thresholds)
  const other = otherReason(pod, events)
  if (since === undefined) return other === undefined ? { kind: 'fine' } : { kind: 'other', reason: other }
  if (pod.hostNetwork)
    return { kind: 'other', reason: 'host network: it needs no address, so the network plugin is not asked' }
  const message = failing?.message
  const reading = message === undefined ? undefined : readCniMessage(message)
  const exhausted = reading?.kind === 'exhausted'
  if (other !== undefined && !exhausted) return { kind: 'other', reason: other }
  if (reading?.notCni) return { kind: 'other', reason: reading.says }
  const symptom: StuckSandbox = {
    kind: 'stuck-sandbox',
    node: pod.node,
    workload: workloadFromPod(pod),
    pod: pod.name,
    podUid: pod.uid,
    since,
    message,
    exhausted,
  }
  const dueAt = since + thresholds.stuckAfterMs
  return exhausted || now >= dueAt ? { kind: 'stuck', symptom } : { kind: 'waiting', since, dueAt }
}

/**
 * Kubelets without `PodReadyToStartContainers`: fresh FailedCreatePodSandBox events alone say that a Pod of phase
 * Running has no sandbox. The kubelet tries again about every 13 s, the folded event follows; older than the threshold
 * is history.
 */
const eventsSince = (
  pod: WatchedPod,
  events: SandboxEvents | undefined,
  now: number,
  thresholds: SymptomThresholds,
): number | undefined => {
  if (events === undefined || pod.sandboxReady === true || events.podUid !== pod.uid) return undefined
  if (now - events.last > thresholds.stuckAfterMs) return undefined
  return events.first
}
