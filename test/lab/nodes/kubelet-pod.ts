import { setTimeout as delay } from 'node:timers/promises'
import type { LabStore } from '../store.js'
import type { LabNode } from './lab-node.js'
import { newId, type Sandbox, SandboxError } from './model.js'
import { lostStatus, type PodObject, runningStatus, succeededStatus, waitingStatus } from './pod-status.js'
import { type KubeletEvent, kubeletEvent, SandboxEvents } from './sandbox-events.js'
import { kubeletRunFailed, kubeletStopFailed, killFailure, runtimeLines } from './wordings.js'

/** On a Pod: its container ends by itself, successfully, after so many (virtual) seconds. */
export const completeAfter = 'lab.cnibot.dev/complete-after-seconds'

/** Of attempts made up after a jump of the clock, at most so many get lines in the journal. */
const journalledAttempts = 40

export interface PodContext {
  store: LabStore
  node: LabNode
  now: () => number
  /** Virtual milliseconds between two attempts, at least. */
  retryMs: number
  /** Real milliseconds from the Pod object's end to its DEL. */
  releaseDelayMs: number
  signal: AbortSignal
  /** The sandbox stays listed as NotReady; somebody removes it later. */
  onFinished: (node: LabNode, sandbox: Sandbox) => void
}

/** What the kubelet does for one Pod. Every call of `step` does the one thing that is due. */
export class PodWorker {
  readonly uid: string
  busy = false
  gone = false
  private readonly context: PodContext
  private readonly namespace: string
  private readonly name: string
  private sandbox: Sandbox | undefined
  private attempt = 0
  private restarts = 0
  private failures = 0
  private nextTry: number
  private nextKill = 0
  private completeAt: number | undefined
  private lost = false
  private last: PodObject
  private readonly events: SandboxEvents
  private told = 0

  constructor(context: PodContext, pod: PodObject) {
    this.context = context
    this.last = pod
    this.uid = pod.metadata.uid ?? ''
    this.namespace = pod.metadata.namespace ?? 'default'
    this.name = pod.metadata.name
    this.nextTry = context.now()
    this.events = new SandboxEvents(context.store, context.node.name, this.reference())
  }

  /** Takes over a sandbox that exists already, for a Pod that runs from the beginning. */
  adopt(sandbox: Sandbox): void {
    this.sandbox = sandbox
  }

  due(): boolean {
    const now = this.context.now()
    const pod = this.current()
    if (pod === undefined) return true
    if (pod.metadata.deletionTimestamp !== undefined) return now >= this.nextKill
    if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return false
    if (this.sandbox === undefined || this.vanished(this.sandbox)) return now >= this.nextTry
    return this.completeAt !== undefined && now >= this.completeAt
  }

  /** True when the Pod and everything of it are gone. */
  async step(): Promise<boolean> {
    const pod = this.current()
    if (pod === undefined) {
      await this.release()
      return true
    }
    this.last = pod
    if (pod.metadata.deletionTimestamp !== undefined) return this.terminate(pod)
    if (this.sandbox !== undefined && this.vanished(this.sandbox)) await this.notice(pod, this.sandbox)
    if (this.sandbox === undefined) await this.start()
    else if (this.completeAt !== undefined && this.context.now() >= this.completeAt) await this.complete()
    return false
  }

  private current(): PodObject | undefined {
    const object = this.context.store.get('pods', this.namespace, this.name)
    return object?.metadata.uid === this.uid ? (object as PodObject) : undefined
  }

  private vanished(sandbox: Sandbox): boolean {
    return sandbox.state === 'notready' || this.context.node.runtime.sandboxes.get(sandbox.id) !== sandbox
  }

  private async start(): Promise<void> {
    const { node, now } = this.context
    const began = now()
    const { labels = {} } = this.last.metadata
    const { hostNetwork = false } = this.last.spec
    const request = { name: this.name, namespace: this.namespace, uid: this.uid, labels, hostNetwork }
    try {
      const sandbox = await node.add({ ...request, attempt: this.attempt })
      this.sandbox = sandbox
      this.attempt += 1
      this.failures = 0
      this.lost = false
      this.write(pod => runningStatus(pod, sandbox, node.address, now(), this.restarts))
      this.restarts += 1
      this.tellStarted()
      const seconds = Number(this.last.metadata.annotations?.[completeAfter])
      this.completeAt = Number.isFinite(seconds) ? now() + seconds * 1000 : undefined
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error
      this.failed(began, error)
    }
  }

  /** The retries that a jump of the clock left out happened as well: they failed in the same way. */
  private failed(now: number, { message, sandboxId }: SandboxError): void {
    const { node, retryMs } = this.context
    const skipped = this.failures === 0 ? 0 : Math.floor((now - this.nextTry) / retryMs)
    const attempts = Array.from({ length: skipped }, (_, index) => ({
      time: this.nextTry + index * retryMs,
      error: message.replace(sandboxId, newId()),
    }))
    const pod = { ...this.reference(), attempt: this.attempt }
    for (const { time, error } of attempts.slice(-journalledAttempts)) {
      runtimeLines(node.journal).runFailed(time, pod, error)
      kubeletRunFailed(node.journal, time + 1, pod, error)
    }
    kubeletRunFailed(node.journal, now + 1, pod, message)
    this.events.record([...attempts, { time: now, error: message }])
    this.failures += 1
    // The kubelet's retries drift by up to a second.
    this.nextTry = now + retryMs + ((this.failures * 397) % 1000)
    if (!this.lost) this.write(current => waitingStatus(current, node.address, now))
  }

  /** The sandbox is dead or forgotten while the Pod is meant to run. */
  private async notice(pod: PodObject, sandbox: Sandbox): Promise<void> {
    const { node, now } = this.context
    if (node.runtime.sandboxes.get(sandbox.id) === sandbox && !sandbox.released) {
      if (!(await this.stop(pod, sandbox))) return
    }
    if (node.runtime.sandboxes.get(sandbox.id) === sandbox) this.context.onFinished(node, sandbox)
    this.sandbox = undefined
    this.lost = true
    this.nextTry = now()
    this.tell({
      type: 'Normal',
      reason: 'SandboxChanged',
      message: 'Pod sandbox changed, it will be killed and re-created.',
    })
    this.write(current => lostStatus(current, sandbox, node.address, now(), Math.max(0, this.restarts - 1)))
  }

  private async complete(): Promise<void> {
    const { node, now } = this.context
    const { sandbox } = this
    if (sandbox === undefined || !(await this.stop(this.last, sandbox))) return
    this.completeAt = undefined
    this.write(pod => succeededStatus(pod, sandbox, node.address, now()))
  }

  /** The object goes first and the address a moment later; a DEL that fails keeps the Pod in Terminating. */
  private async terminate(pod: PodObject): Promise<boolean> {
    const { node, store } = this.context
    const { sandbox } = this
    const known = sandbox !== undefined && node.runtime.sandboxes.get(sandbox.id) === sandbox
    if (known && !sandbox.released && (node.cni.delFails() || sandbox.state === 'notready')) {
      if (!(await this.stop(pod, sandbox))) return false
    }
    for (const { name } of sandbox === undefined ? [] : pod.spec.containers) {
      this.tell({
        type: 'Normal',
        reason: 'Killing',
        message: `Stopping container ${name}`,
        fieldPath: `spec.containers{${name}}`,
      })
    }
    if (this.current() !== undefined) store.remove('pods', this.namespace, this.name)
    await this.release()
    return true
  }

  private async release(): Promise<void> {
    const { node, releaseDelayMs, signal } = this.context
    const { sandbox } = this
    this.gone = true
    if (sandbox === undefined || node.runtime.sandboxes.get(sandbox.id) !== sandbox) return
    if (releaseDelayMs > 0) await delay(releaseDelayMs, undefined, { signal })
    if (!sandbox.released) await this.stop(this.last, sandbox)
    this.context.onFinished(node, sandbox)
  }

  /** False when the DEL failed: told to everybody, tried again later. */
  private async stop(pod: PodObject, sandbox: Sandbox): Promise<boolean> {
    const { node, now, retryMs } = this.context
    try {
      await node.stop(sandbox.id)
      return true
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error
      kubeletStopFailed(node.journal, now(), sandbox, error.message)
      this.tell({
        type: 'Warning',
        reason: 'FailedKillPod',
        message: `error killing pod: ${killFailure(this.uid, error.message)}`,
      })
      this.nextKill = now() + retryMs
      this.nextTry = this.nextKill
      if (pod.status?.phase === 'Running') {
        this.write(current =>
          lostStatus(current, sandbox, node.address, now(), Math.max(0, this.restarts - 1)),
        )
      }
      return false
    }
  }

  private tellStarted(): void {
    for (const { name, image } of this.last.spec.containers) {
      const fieldPath = `spec.containers{${name}}`
      const present = `Container image "${image}" already present on machine and can be accessed by the pod`
      this.tell({ type: 'Normal', reason: 'Pulled', message: present, fieldPath })
      this.tell({ type: 'Normal', reason: 'Created', message: 'Container created', fieldPath })
      this.tell({ type: 'Normal', reason: 'Started', message: 'Container started', fieldPath })
    }
  }

  private tell(event: KubeletEvent): void {
    const { store, node, now } = this.context
    this.told += 1
    const index = this.told
    store.create('events', kubeletEvent(node.name, this.reference(), now(), { ...event, index }))
  }

  private write(status: (pod: PodObject) => Record<string, unknown>): void {
    const pod = this.current()
    if (pod !== undefined) this.context.store.update('pods', { ...pod, status: status(pod) })
  }

  private reference() {
    const { resourceVersion = '' } = this.last.metadata
    return { name: this.name, namespace: this.namespace, uid: this.uid, resourceVersion }
  }
}
