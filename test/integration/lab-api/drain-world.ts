import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCluster } from '../../../src/adapters/kubernetes/cluster.js'
import { connectKube } from '../../../src/adapters/kubernetes/connect.js'
import type { Cluster } from '../../../src/ports.js'
import { type LabApi, startApiServer } from '../../lab/api/index.js'
import { kubectlPath } from '../../lab/kubectl.js'
import type { KubeObject, LabStore } from '../../lab/store.js'
import { fixedClock, node, startKubelet, workload } from './tiny-cluster.js'
import { type Ran, run } from './kubectl-lab.js'

const ownedBy = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: `uid-${name}`, controller: true }],
})
const replica = ownedBy('ReplicaSet', 'api-5d4f')
const scratch = { volumes: [{ name: 'scratch', emptyDir: {} }] }

interface Made {
  metadata?: object
  spec?: object
  phase?: string
  ready?: boolean
}

/**
 * One Pod for each thing a drain decides by; on node-03, in the namespace payments, each labelled with its own name. None
 * whose budget is not counted yet: kubectl's client repeats that request by itself, beyond its own timeout.
 */
export const drainPods: Record<string, Made> = {
  replica: { metadata: replica },
  bare: {},
  'bare-finished': { phase: 'Succeeded' },
  scratch: { metadata: replica, spec: scratch },
  'scratch-finished': { metadata: replica, spec: scratch, phase: 'Failed' },
  'bare-scratch': { spec: scratch },
  agent: { metadata: ownedBy('DaemonSet', 'agent') },
  'agent-scratch': { metadata: ownedBy('DaemonSet', 'agent'), spec: scratch },
  'agent-finished': { metadata: ownedBy('DaemonSet', 'agent'), phase: 'Failed' },
  'agent-of-none': { metadata: ownedBy('DaemonSet', 'gone') },
  static: { metadata: { annotations: { 'kubernetes.io/config.mirror': 'abc' } } },
  'static-scratch': { metadata: { annotations: { 'kubernetes.io/config.mirror': 'def' } }, spec: scratch },
  'budget-open': { metadata: replica },
  'budget-shut': { metadata: replica },
  'budget-shut-pending': { metadata: replica, phase: 'Pending', ready: false },
  'budget-shut-finished': { metadata: replica, phase: 'Succeeded', ready: false },
  'budget-shut-unready': { metadata: replica, ready: false },
  'budget-low-unready': { metadata: replica, ready: false },
  'budget-low-unready-always': { metadata: replica, ready: false },
  'budgets-two': { metadata: replica },
  'budgets-two-pending': { metadata: replica, phase: 'Pending', ready: false },
}

interface Count {
  allowed: number
  healthy: number
  desired: number
}
const open: Count = { allowed: 1, healthy: 2, desired: 1 }
const shut: Count = { allowed: 0, healthy: 2, desired: 2 }
const low: Count = { allowed: 0, healthy: 1, desired: 2 }

const budget = (name: string, apps: string[], count: Count, more: { always?: boolean } = {}) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { namespace: 'payments', name },
  spec: {
    minAvailable: count.desired,
    selector: { matchExpressions: [{ key: 'app', operator: 'In', values: apps }] },
    ...(more.always === true ? { unhealthyPodEvictionPolicy: 'AlwaysAllow' } : {}),
  },
  status: {
    observedGeneration: 1,
    disruptionsAllowed: count.allowed,
    currentHealthy: count.healthy,
    desiredHealthy: count.desired,
    expectedPods: 2,
  },
})

const fill = (store: LabStore): void => {
  store.create('nodes', node('node-03'))
  const uid = store.create('daemonsets', workload('DaemonSet', 'agent')).metadata.uid ?? ''
  const owned = (metadata: object): object => JSON.parse(JSON.stringify(metadata).replace('uid-agent', uid))
  const budgets: KubeObject[] = [
    budget('open', ['budget-open'], open),
    budget(
      'shut',
      ['budget-shut', 'budget-shut-pending', 'budget-shut-finished', 'budget-shut-unready'],
      shut,
    ),
    budget('low', ['budget-low-unready'], low),
    budget('low-always', ['budget-low-unready-always'], low, { always: true }),
    budget('one', ['budgets-two', 'budgets-two-pending'], open),
    budget('two', ['budgets-two', 'budgets-two-pending'], open),
  ]
  for (const each of budgets) store.create('poddisruptionbudgets', each)
  for (const [name, { metadata = {}, spec, phase = 'Running', ready = true }] of Object.entries(drainPods))
    store.create('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'payments', labels: { app: name }, ...owned(metadata) },
      spec: { nodeName: 'node-03', containers: [{ name: 'main', image: 'i' }], ...spec },
      status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
    })
}

export interface DrainLab {
  api: LabApi
  cluster: Cluster
  kubectl(...args: string[]): Promise<Ran>
  /** Names of the Pods that are still on the node. */
  left(): string[]
  close(): Promise<void>
}

/** These Pods, a kubelet that ends what is deleted, and no controller that would change a count. */
export const startDrainLab = async (): Promise<DrainLab> => {
  const program = await kubectlPath()
  const folder = await mkdtemp(join(tmpdir(), 'cnibot-drain-'))
  const api = await startApiServer({ clock: fixedClock() })
  const kubeconfig = join(folder, 'config')
  await writeFile(kubeconfig, api.kubeconfig(), { mode: 0o600 })
  const kube = connectKube({ kubeconfig, context: undefined })
  fill(api.store)
  // Pods that are meant to be waiting stay so: only ends are played.
  const stopKubelet = startKubelet(api.store, () => true)
  const env = { HOME: folder, KUBECONFIG: kubeconfig, PATH: process.env.PATH ?? '' }
  return {
    api,
    cluster: createCluster(kube, { now: () => Date.now() }),
    kubectl: (...args) => run(program, args, env),
    left: () =>
      api.store
        .list('pods', 'payments')
        .map(({ metadata }) => metadata.name)
        .sort(),
    close: async () => {
      stopKubelet()
      await kube.close()
      await api.close()
      await rm(folder, { recursive: true })
    },
  }
}
