import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCluster } from '../../src/adapters/kubernetes/cluster.js'
import { connectKube, type Kube } from '../../src/adapters/kubernetes/connect.js'
import { type LabApi, startApiServer } from '../lab/api/index.js'
import type { ClusterWorld } from './cluster.js'

const iso = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')
const api = { apps: 'apps/v1', batch: 'batch/v1' }

/** The kubeconfig file of an API server double. */
export const kubeconfigFile = (server: LabApi): { file: string; remove(): void } => {
  const dir = mkdtempSync(join(tmpdir(), 'cnibot-kube-'))
  const file = join(dir, 'config')
  writeFileSync(file, server.kubeconfig(), { mode: 0o600 })
  return { file, remove: () => rmSync(dir, { recursive: true, force: true }) }
}

/** Real adapter, real client, real HTTP; one API server double a test. */
export const apiWorlds = () => {
  let closers: (() => unknown)[] = []
  return {
    start: async (): Promise<ClusterWorld> => {
      const server = await startApiServer({ clock: { now: () => Date.now() } })
      server.store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'cnibot' } })
      const config = kubeconfigFile(server)
      const kube = connectKube({ kubeconfig: config.file, context: undefined })
      closers = [() => kube.close(), () => server.close(), () => config.remove()]
      return apiWorld(server, kube)
    },
    close: async () => {
      for (const close of closers) await close()
      closers = []
    },
  }
}

const apiWorld = ({ store }: LabApi, kube: Kube): ClusterWorld => ({
  cluster: createCluster(kube, { now: () => Date.now() }),
  addNode: async (name, cordon) => {
    const annotations = cordon?.by === undefined ? {} : { 'cnibot.io/cordoned-by': cordon.by }
    const spec = cordon === undefined ? {} : { unschedulable: true }
    const manager = cordon?.by === undefined ? 'kubectl' : 'cnibot'
    const node = store.create(
      'nodes',
      { apiVersion: 'v1', kind: 'Node', metadata: { name, annotations }, spec, status: {} },
      manager,
    )
    return node.metadata.uid ?? ''
  },
  byHand: async (name, unschedulable) => {
    const node = store.get('nodes', undefined, name)
    if (!node) throw new Error(`no node ${name}`)
    const { unschedulable: _before, ...spec } = node.spec ?? {}
    store.update('nodes', { ...node, spec: unschedulable ? { ...spec, unschedulable } : spec }, 'kubectl')
  },
  addPod: async ({ namespace, name, node, labels = {}, owner }) => {
    const ready = { type: 'Ready', status: 'ready' in labels ? 'True' : 'False', lastTransitionTime: iso(0) }
    const ownerReferences = owner === undefined ? [] : [{ apiVersion: 'v1', ...owner, controller: true }]
    const pod = store.create('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name, labels: { ...labels, app: owner?.name ?? name }, ownerReferences },
      spec: { containers: [{ name: 'c', image: 'i' }], ...(node === undefined ? {} : { nodeName: node }) },
      status: { phase: 'Pending', conditions: [ready] },
    })
    return pod.metadata.uid ?? ''
  },
  addOwner: async (kind, name, of) => {
    const apiVersion = kind === 'Job' ? api.batch : api.apps
    const ownerReferences =
      of === undefined ? [] : [{ apiVersion, ...of, uid: `uid-${of.name}`, controller: true }]
    const metadata = { namespace: 'payments', name, ownerReferences }
    const template = {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    }
    const spec = kind === 'Job' ? { template } : { selector: { matchLabels: { app: name } }, template }
    const object = store.create(kind === 'Job' ? 'jobs' : 'replicasets', { apiVersion, kind, metadata, spec })
    return object.metadata.uid ?? ''
  },
  addDaemonSet: async (name, desired, available) => {
    const matchLabels = { app: name }
    const template = { metadata: { labels: matchLabels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const counts = {
      desiredNumberScheduled: desired,
      updatedNumberScheduled: desired,
      currentNumberScheduled: desired,
    }
    const status = {
      ...counts,
      numberReady: available,
      numberAvailable: available,
      numberMisscheduled: 0,
      observedGeneration: 1,
    }
    const metadata = { namespace: 'platform', name }
    const spec = { selector: { matchLabels }, template }
    const made = store.create('daemonsets', {
      apiVersion: api.apps,
      kind: 'DaemonSet',
      metadata,
      spec,
      status,
    })
    return made.metadata.uid ?? ''
  },
  addSandboxFailure: async ({ pod, podUid, node, count }) => {
    const involvedObject = { kind: 'Pod', namespace: 'payments', name: pod, uid: podUid }
    store.create('events', {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'payments', name: `${pod}.${count}` },
      involvedObject,
      reason: 'FailedCreatePodSandBox',
      message: 'm',
      type: 'Warning',
      count,
      firstTimestamp: iso(Date.now()),
      lastTimestamp: iso(Date.now()),
      source: { component: 'kubelet', host: node },
    })
  },
  addPodEvent: async ({ pod, uid, at, reason, message }) => {
    store.create('events', {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'payments', name: `${pod}.${uid}.${reason}` },
      involvedObject: { kind: 'Pod', namespace: 'payments', name: pod, uid },
      reason,
      message,
      type: 'Normal',
      count: 1,
      // Events live for an hour: times count from a minute ago.
      firstTimestamp: iso(Date.now() - 60_000 + at),
      lastTimestamp: iso(Date.now() - 60_000 + at),
      source: { component: 'kubelet' },
    })
  },
})
