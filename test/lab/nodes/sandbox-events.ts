import type { KubeObject, LabStore } from '../store.js'

/** Constants of client-go's event correlator (tools/record/events_cache.go). */
const singlesBeforeFolding = 10
const foldingWindow = 600_000
const burst = 25
const refillEvery = 300_000

export interface EventPod {
  name: string
  namespace: string
  uid: string
  resourceVersion: string
}

export const secondsTime = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')

/** `log-shipper-q29hj.18ecdc13efb5bb25`: the time in nanoseconds, in hex. */
const eventName = (pod: string, time: number, index: number): string =>
  `${pod}.${(BigInt(Math.round(time)) * 1_000_000n + BigInt(index)).toString(16)}`

export interface KubeletEvent {
  type: 'Normal' | 'Warning'
  reason: string
  message: string
  fieldPath?: string
  /** Two events of one millisecond get names of their own by it. */
  index?: number
}

export const kubeletEvent = (
  node: string,
  pod: EventPod,
  time: number,
  { type, reason, message, fieldPath, index = 0 }: KubeletEvent,
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: eventName(pod.name, time, index), namespace: pod.namespace },
  involvedObject: {
    kind: 'Pod',
    namespace: pod.namespace,
    name: pod.name,
    uid: pod.uid,
    apiVersion: 'v1',
    resourceVersion: pod.resourceVersion,
    ...(fieldPath === undefined ? {} : { fieldPath }),
  },
  reason,
  message,
  source: { component: 'kubelet', host: node },
  firstTimestamp: secondsTime(time),
  lastTimestamp: secondsTime(time),
  count: 1,
  type,
  eventTime: null,
  reportingComponent: 'kubelet',
  reportingInstance: node,
})

/**
 * FailedCreatePodSandBox of one Pod, as the kubelet's event correlator sends them: nine single events, then one
 * folded event whose count grows; after 25 of them only one more write every five minutes, though the count goes on.
 */
export class SandboxEvents {
  private readonly store: LabStore
  private readonly node: string
  private readonly pod: EventPod
  private similar = 0
  private last = Number.NEGATIVE_INFINITY
  private folded: { name: string; count: number; first: number } | undefined
  private tokens = burst
  private refilled = 0

  constructor(store: LabStore, node: string, pod: EventPod) {
    this.store = store
    this.node = node
    this.pod = pod
  }

  /** Failed attempts in order of time, in milliseconds. Of the folded ones only the last that passes is written. */
  record(failures: { time: number; error: string }[]): void {
    let pending: { time: number; text: string; count: number } | undefined
    for (const [index, { time, error }] of failures.entries()) {
      if (time - this.last > foldingWindow) {
        this.similar = 0
        this.folded = undefined
      }
      this.last = time
      this.similar += 1
      const text = `Failed to create pod sandbox: ${error}`
      if (this.similar < singlesBeforeFolding) {
        if (this.takeToken(time)) this.single(time, text, index)
        continue
      }
      this.folded ??= { name: eventName(this.pod.name, time, index), count: 0, first: time }
      this.folded.count += 1
      const { count } = this.folded
      if (this.takeToken(time)) pending = { time, text: `(combined from similar events): ${text}`, count }
    }
    if (pending !== undefined) this.writeFolded(pending)
  }

  private single(time: number, message: string, index: number): void {
    this.store.create(
      'events',
      kubeletEvent(this.node, this.pod, time, {
        type: 'Warning',
        reason: 'FailedCreatePodSandBox',
        message,
        index,
      }),
    )
  }

  private writeFolded({ time, text: message, count }: { time: number; text: string; count: number }): void {
    const { folded, pod } = this
    if (folded === undefined) return
    const stored = this.store.get('events', pod.namespace, folded.name)
    const change = {
      message,
      count,
      firstTimestamp: secondsTime(folded.first),
      lastTimestamp: secondsTime(time),
    }
    if (stored !== undefined) {
      this.store.update('events', { ...stored, ...change })
      return
    }
    const fresh = kubeletEvent(this.node, pod, time, {
      type: 'Warning',
      reason: 'FailedCreatePodSandBox',
      message,
    })
    this.store.create('events', {
      ...fresh,
      ...change,
      metadata: { ...fresh.metadata, name: folded.name },
      reportingComponent: '',
      reportingInstance: '',
    })
  }

  private takeToken(time: number): boolean {
    if (this.refilled === 0) this.refilled = time
    const gained = (time - this.refilled) / refillEvery
    this.tokens = Math.min(burst, this.tokens + gained)
    this.refilled = time
    if (this.tokens < 1) return false
    this.tokens -= 1
    return true
  }
}
