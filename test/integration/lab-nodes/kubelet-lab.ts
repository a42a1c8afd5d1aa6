import { readFileSync } from 'node:fs'
import { MemoryStore } from '../../lab/api/memory-store.js'
import type { LabNode } from '../../lab/nodes/index.js'
import { type Kubelets, type KubeletsOptions, startKubelets } from '../../lab/nodes/kubelet.js'
import type { KubeObject } from '../../lab/store.js'
import { startTestLab, type TestLab } from './ssh.js'

export const fixture = (name: string) =>
  JSON.parse(readFileSync(`test/fixtures/lab-nodes/${name}.json`, 'utf8')) as KubeObject

/** One node, its kubelet, and the store that an API server would serve. */
export class KubeletLab {
  readonly lab: TestLab
  readonly store: MemoryStore
  readonly node: LabNode
  kubelets: Kubelets

  private constructor(lab: TestLab) {
    this.lab = lab
    this.node = lab.nodes.node('node-07')
    this.store = new MemoryStore({ clock: lab.clock })
    this.kubelets = this.kubelet({ releaseDelayMs: 20 })
  }

  /** A /28 has 13 addresses for Pods, so that it fills quickly. */
  static async start(): Promise<KubeletLab> {
    return new KubeletLab(await startTestLab(['node-07'], { podCidr: () => '10.244.7.0/28' }))
  }

  async restartKubelet(options: Partial<KubeletsOptions> = {}): Promise<void> {
    await this.kubelets.stop()
    this.kubelets = this.kubelet(options)
  }

  async close(): Promise<void> {
    await this.kubelets.stop()
    await this.lab.close()
  }

  /** Creates a Pod like the captured one and lets the kubelet do all that is due. */
  async create(name: string, change: Partial<KubeObject['metadata']> = {}, spec = {}): Promise<void> {
    const captured = fixture('pod-stuck')
    const { labels = {}, ownerReferences = [] } = captured.metadata
    this.store.create('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'kube-system', labels, ownerReferences, ...change },
      spec: { ...captured.spec, ...spec },
    })
    await this.kubelets.settled()
  }

  get(name: string): KubeObject | undefined {
    return this.store.get('pods', 'kube-system', name)
  }

  status(name: string): Record<string, unknown> {
    return this.get(name)?.status ?? {}
  }

  events(reason: string): KubeObject[] {
    return this.store.list('events').filter(event => event.reason === reason)
  }

  async later(ms: number): Promise<void> {
    this.lab.clock.advance(ms)
    await this.kubelets.settled()
  }

  async markDeleted(name: string): Promise<void> {
    const pod = this.get(name)
    if (pod === undefined) throw new Error(`no Pod ${name}`)
    const metadata = { ...pod.metadata, deletionTimestamp: new Date(this.lab.clock.now()).toISOString() }
    this.store.update('pods', { ...pod, metadata: { ...metadata, deletionGracePeriodSeconds: 1 } })
    await this.kubelets.settled()
  }

  /** The node's condition Ready. */
  ready(): { status: string; message: string } | undefined {
    const conditions = this.store.get('nodes', undefined, 'node-07')?.status?.conditions
    return (conditions as { type: string; status: string; message: string }[]).find(
      each => each.type === 'Ready',
    )
  }

  private kubelet(options: Partial<KubeletsOptions>): Kubelets {
    const { nodes, clock } = this.lab
    return startKubelets({ store: this.store, nodes, clock, ...options })
  }
}

/** Every key of an object with the kind of its value, to compare shapes and not values. */
export const shape = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shape)
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, shape(inner)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}
