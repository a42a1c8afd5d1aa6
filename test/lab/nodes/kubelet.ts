import pLimit from 'p-limit'
import type { KubeObject, LabStore } from '../store.js'
import type { LabNodes } from './index.js'
import { PodWorker } from './kubelet-pod.js'
import type { LabNode } from './lab-node.js'
import { type Sandbox, SandboxError } from './model.js'
import { newNodeObject, withNodeStatus } from './node-object.js'
import type { PodObject } from './pod-status.js'

export { completeAfter } from './kubelet-pod.js'

export interface KubeletsOptions {
  store: LabStore
  nodes: LabNodes
  clock: { now(): number }
  /** Virtual milliseconds between two attempts to make a sandbox; default 12,000 and up to a second more. */
  retryMs?: number
  /** Real milliseconds from the end of a Pod object to its DEL; default 300. */
  releaseDelayMs?: number
  /** Virtual milliseconds for which a finished sandbox stays listed; default 60,000. */
  lingerMs?: number
  /** Real milliseconds between two looks at the clock; default 100. */
  tickMs?: number
}

export interface Kubelets {
  /** Ends after what is under way. */
  stop(): Promise<void>
  /** Resolves when no Pod has anything due at the clock's present time. */
  settled(): Promise<void>
}

const heartbeatMs = 300_000

/** A kubelet on each lab node. An error that no kubelet would survive ends the process. */
export const startKubelets = (options: KubeletsOptions): Kubelets => new Loop(options)

class Loop implements Kubelets {
  private readonly options: Required<KubeletsOptions>
  private readonly workers = new Map<string, PodWorker>()
  private readonly finished: { node: LabNode; sandbox: Sandbox; at: number }[] = []
  private readonly synced = new Map<string, { at: number; seen: string }>()
  private readonly limit = pLimit(4)
  private readonly running = new Set<Promise<void>>()
  private readonly stopping = new AbortController()
  private readonly stopListening: () => void
  private readonly timer: NodeJS.Timeout
  private woken = false
  private reported = 0

  constructor(options: KubeletsOptions) {
    const defaults = { retryMs: 12_000, releaseDelayMs: 300, lingerMs: 60_000, tickMs: 100 }
    this.options = { ...defaults, ...options }
    const { store, nodes, tickMs } = this.options
    for (const node of nodes.nodes.values()) this.register(node)
    for (const pod of store.list('pods')) this.meet(pod)
    this.stopListening = store.onChange((_type, resource, object) => {
      if (resource !== 'pods') return
      this.meet(object)
      this.wake()
    })
    this.timer = setInterval(() => this.look(), tickMs)
    this.look()
  }

  async stop(): Promise<void> {
    clearInterval(this.timer)
    this.stopListening()
    this.stopping.abort()
    await Promise.all(this.running)
  }

  async settled(): Promise<void> {
    do {
      this.look()
      await Promise.all(this.running)
    } while (!this.stopping.signal.aborted && this.busy())
  }

  private busy(): boolean {
    return [...this.workers.values()].some(worker => worker.busy || worker.due())
  }

  private meet(object: KubeObject): void {
    const pod = object as PodObject
    const node = this.options.nodes.nodes.get(pod.spec.nodeName ?? '')
    const uid = pod.metadata.uid ?? ''
    if (node === undefined || this.workers.has(uid)) return
    const { store, clock, retryMs, releaseDelayMs } = this.options
    // A deletion is told about as well: only Pods that still exist get a worker.
    if (store.get('pods', pod.metadata.namespace, pod.metadata.name)?.metadata.uid !== uid) return
    const worker = new PodWorker(
      {
        store,
        node,
        now: () => clock.now(),
        retryMs,
        releaseDelayMs,
        signal: this.stopping.signal,
        onFinished: (where, sandbox) => this.linger(where, sandbox),
      },
      pod,
    )
    const known = node.sandboxes().find(sandbox => sandbox.pod.uid === uid && sandbox.state === 'ready')
    if (known !== undefined) worker.adopt(known)
    this.workers.set(uid, worker)
  }

  private wake(): void {
    if (this.woken) return
    this.woken = true
    setImmediate(() => {
      this.woken = false
      this.look()
    })
  }

  private look(): void {
    if (this.stopping.signal.aborted) return
    for (const worker of this.workers.values()) {
      if (!worker.busy && worker.due()) this.begin(worker)
    }
    this.sweep()
    // Reads each node's conflist, so not at every look.
    if (Date.now() - this.reported < 500) return
    this.reported = Date.now()
    for (const node of this.options.nodes.nodes.values()) this.report(node)
  }

  private begin(worker: PodWorker): void {
    worker.busy = true
    this.track(
      this.limit(async () => {
        if (this.stopping.signal.aborted) return
        if (await worker.step()) this.workers.delete(worker.uid)
      }).finally(() => {
        worker.busy = false
      }),
    )
  }

  private track(work: Promise<void>): void {
    const guarded = work.catch((error: unknown) => {
      // After the end, timers are aborted and folders may be gone.
      if (this.stopping.signal.aborted) return
      queueMicrotask(() => {
        throw error
      })
    })
    const entry = guarded.finally(() => this.running.delete(entry))
    this.running.add(entry)
  }

  private linger(node: LabNode, sandbox: Sandbox): void {
    this.finished.push({ node, sandbox, at: this.options.clock.now() + this.options.lingerMs })
  }

  /** RemovePodSandbox for what has been NotReady long enough; what cannot be torn down waits for another round. */
  private sweep(): void {
    const now = this.options.clock.now()
    for (const entry of this.finished.splice(0)) {
      const { node, sandbox, at } = entry
      if (now < at) {
        this.finished.push(entry)
      } else if (node.runtime.sandboxes.get(sandbox.id) === sandbox) {
        this.track(
          node.remove(sandbox.id).catch((error: unknown) => {
            if (!(error instanceof SandboxError)) throw error
            this.linger(node, sandbox)
          }),
        )
      }
    }
  }

  private register(node: LabNode): void {
    const { store } = this.options
    if (store.get('nodes', undefined, node.name) === undefined) store.create('nodes', newNodeObject(node))
    this.report(node)
  }

  /** The Node's status: at once when something changed, else every five (virtual) minutes. */
  private report(node: LabNode): void {
    const { store, clock } = this.options
    const seen = `${node.bootId} ${node.switches.isDown()} ${node.cni.loads()}`
    const last = this.synced.get(node.name)
    if (last !== undefined && last.seen === seen && clock.now() - last.at < heartbeatMs) return
    const object = store.get('nodes', undefined, node.name)
    if (object === undefined) return
    this.synced.set(node.name, { at: clock.now(), seen })
    store.update('nodes', withNodeStatus(object, node, clock.now()))
  }
}
