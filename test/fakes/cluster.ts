import type { NodeFacts, PodFacts, Rollout, SandboxEvents } from '../../src/core/evidence/bundle.js'
import { testPodLabel } from '../../src/core/incident/symptom.js'
import { type Cluster, Refused } from '../../src/ports.js'
import type { TestPodSpec } from '../../src/core/requests.js'
import { type DrainWorld, fakeDraining, type FakePod } from './drain.js'

/** A cluster of plain arrays: a test puts in what it needs and looks at what was changed. */
export interface FakeCluster extends Cluster {
  readonly all: {
    nodes: NodeFacts[]
    pods: FakePod[]
    events: SandboxEvents[]
    rollouts: Rollout[]
    /** The workload behind a controller, by the controller's uid. */
    workloads: Map<string, { kind: string; name: string }>
    /** By the Pod's uid. */
    podEvents: Map<string, string[]>
  }
  /** Budgets, host names, and what becomes of an evicted Pod. */
  readonly draining: DrainWorld
  /** Every change that was asked for, in order: `cordon node-07`, `delete ns/pod uid`, … */
  readonly changes: string[]
  /** Stands in for scheduler and kubelet: what becomes of a test Pod. By default it stays Pending. */
  onTestPod: (pod: PodFacts, spec: TestPodSpec) => void
  /** Throws in place of a method's answer. */
  failing: Map<keyof Cluster, Error>
}

export const fakeNode = (name: string, over: Partial<NodeFacts> = {}): NodeFacts => ({
  name,
  uid: `uid-${name}`,
  bootId: `boot-${name}`,
  internalIp: '127.0.0.1',
  conditions: [
    { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
  ],
  unschedulable: false,
  taints: [],
  maxPods: 110,
  podCidrs: ['10.244.7.0/24'],
  runtimeVersion: 'containerd://1.7.24',
  kubeletVersion: 'v1.36.2',
  labels: { 'kubernetes.io/hostname': name },
  cordonedBy: undefined,
  createdAt: 0,
  ...over,
})

export const fakePod = (namespace: string, name: string, over: Partial<PodFacts> = {}): PodFacts => ({
  namespace,
  name,
  uid: `uid-${namespace}-${name}`,
  node: undefined,
  phase: 'Pending',
  hostNetwork: false,
  ips: [],
  ready: false,
  controller: undefined,
  labels: {},
  createdAt: 0,
  scheduledAt: undefined,
  startedAt: undefined,
  deletedAt: undefined,
  sandboxReady: undefined,
  mirror: false,
  ...over,
})

/** A DaemonSet that is complete on its one node. */
export const fakeRollout = (namespace: string, name: string, uid: string): Rollout => ({
  namespace,
  name,
  uid,
  generation: 1,
  observedGeneration: 1,
  desired: 1,
  ready: 1,
  updated: 1,
  available: 1,
  missing: [],
})

export const fakeCluster = (given: Partial<FakeCluster['all']> = {}): FakeCluster => {
  const all = {
    nodes: given.nodes ?? [],
    pods: given.pods ?? [],
    events: given.events ?? [],
    rollouts: given.rollouts ?? [],
    workloads: given.workloads ?? new Map<string, { kind: string; name: string }>(),
    podEvents: given.podEvents ?? new Map<string, string[]>(),
  }
  const changes: string[] = []
  const nodeNamed = (name: string) => all.nodes.find(node => node.name === name)
  const podNamed = (namespace: string, name: string) =>
    all.pods.find(pod => pod.namespace === namespace && pod.name === name)
  const failing = new Map<keyof Cluster, Error>()
  /** Changes of each node, as resourceVersions count them. */
  const versions = new Map<string, number>()
  /** Answers are copies: what a caller holds is a reading, not the cluster. */
  const answer = async <T>(method: keyof Cluster, read: () => T): Promise<T> => {
    const error = failing.get(method)
    if (error) throw error
    return structuredClone(read())
  }
  const draining: DrainWorld = {
    budgets: [],
    whereabouts: new Map(),
    onEvicted: pod => void all.pods.splice(all.pods.indexOf(pod), 1),
  }
  const cluster: FakeCluster = {
    all,
    draining,
    ...fakeDraining(all.pods, draining, changes, answer),
    changes,
    failing,
    onTestPod: () => undefined,
    node: name => answer('node', () => nodeNamed(name)),
    nodes: () => answer('nodes', () => all.nodes),
    podsOnNode: node => answer('podsOnNode', () => all.pods.filter(pod => pod.node === node)),
    pod: (namespace, name) => answer('pod', () => podNamed(namespace, name)),
    podsOfController: (namespace, uid) =>
      answer('podsOfController', () =>
        all.pods.filter(pod => pod.namespace === namespace && pod.controller?.uid === uid),
      ),
    sandboxEvents: where =>
      answer('sandboxEvents', () =>
        all.events.filter(
          event =>
            (where.node ?? event.node) === event.node &&
            (where.namespace ?? event.namespace) === event.namespace &&
            (where.pod ?? event.pod) === event.pod,
        ),
      ),
    rollouts: node =>
      answer('rollouts', () =>
        all.rollouts.filter(
          ({ uid, missing }) =>
            node === undefined ||
            missing.some(each => each.node === node) ||
            all.pods.some(pod => pod.node === node && pod.controller?.uid === uid),
        ),
      ),
    workloadOf: pod =>
      answer('workloadOf', () => {
        const { controller } = pod
        if (!controller) return { kind: 'Pod', name: pod.name }
        return all.workloads.get(controller.uid) ?? { kind: controller.kind, name: controller.name }
      }),
    setSchedulable: async (name, change, guard) => {
      for (;;) {
        const version = versions.get(name) ?? 0
        const read = await answer('setSchedulable', () => nodeNamed(name))
        if (!read) throw new Refused(`there is no node ${name}`)
        if (read.uid !== change.expectUid) throw new Refused(`${name} is another machine now`)
        const found = { wasUnschedulable: read.unschedulable, wasCordonedBy: read.cordonedBy }
        if (read.unschedulable === change.unschedulable) return found
        if (read.unschedulable && change.lifts !== undefined && read.cordonedBy !== change.lifts)
          throw new Refused(
            `did not uncordon ${name}: the cordon is not ours any more, but ${read.cordonedBy ?? read.cordonedWith ?? "somebody else's"}`,
          )
        await guard?.()
        const node = nodeNamed(name)
        const same = node?.unschedulable === read.unschedulable && node.cordonedBy === read.cordonedBy
        if (!node || !same || (versions.get(name) ?? 0) !== version) continue
        versions.set(name, version + 1)
        changes.push(`${change.unschedulable ? 'cordon' : 'uncordon'} ${name}`)
        node.unschedulable = change.unschedulable
        node.cordonedBy = change.cordonedBy
        node.cordonedWith = undefined
        return found
      }
    },
    createTestPod: async (spec, guard) => {
      await guard?.()
      const { pod, made } = await answer('createTestPod', () => {
        if (!nodeNamed(spec.node)) throw new Refused(`there is no node ${spec.node}`)
        const existing = podNamed(spec.namespace, spec.name)
        if (existing && !(testPodLabel in existing.labels))
          throw new Refused(`${spec.namespace}/${spec.name} is not one of ours`)
        if (existing) return { pod: existing, made: false }
        const labels = { ...spec.labels, [testPodLabel]: 'true' }
        const uid = `uid-${spec.namespace}-${spec.name}-${changes.length}`
        const pod = fakePod(spec.namespace, spec.name, { uid, labels })
        all.pods.push(pod)
        changes.push(`create ${spec.namespace}/${spec.name} via ${spec.via}`)
        cluster.onTestPod(pod, spec)
        return { pod, made: true }
      })
      if (made)
        await guard?.().catch(async (error: unknown) => {
          await cluster.deletePod(pod.namespace, pod.name, pod.uid)
          throw error
        })
      return pod
    },
    deletePod: (namespace, name, uid) =>
      answer('deletePod', () => {
        const index = all.pods.findIndex(
          pod => pod.namespace === namespace && pod.name === name && pod.uid === uid,
        )
        if (index < 0) return
        all.pods.splice(index, 1)
        changes.push(`delete ${namespace}/${name}`)
      }),
    podEvents: (_namespace, _name, uid) => answer('podEvents', () => all.podEvents.get(uid) ?? []),
  }
  return cluster
}
