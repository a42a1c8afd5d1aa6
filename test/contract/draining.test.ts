import { createCluster } from '../../src/adapters/kubernetes/cluster.js'
import { connectKube, type Kube } from '../../src/adapters/kubernetes/connect.js'
import { fakeCluster, fakePod } from '../fakes/cluster.js'
import { fakeBudget } from '../fakes/drain.js'
import { type LabApi, startApiServer } from '../lab/api/index.js'
import { kubeconfigFile } from './cluster-api-world.js'
import { drainingContract, type DrainingWorld } from './draining.js'

const fakeWorld = (): DrainingWorld => {
  const cluster = fakeCluster()
  const { all, draining } = cluster
  return {
    cluster,
    addPod: async ({ name, app, phase = 'Running', ready = true, emptyDirs = [], graceSeconds = 30 }) => {
      const facts = fakePod('payments', name, { node: 'node-07', phase, ready, labels: { app } })
      all.pods.push({ ...facts, emptyDirs, graceMs: graceSeconds * 1_000 })
      return facts.uid
    },
    addBudget: async ({ app, name, ...over }) => {
      const selector = { matchLabels: { app }, matchExpressions: [] }
      draining.budgets.push(fakeBudget('payments', name, { selector, ...over }))
    },
    leaving: async (name, uid) => !all.pods.some(pod => pod.name === name && pod.uid === uid),
  }
}

const apiWorld = ({ store }: LabApi, kube: Kube): DrainingWorld => ({
  cluster: createCluster(kube, { now: () => Date.now() }),
  addPod: async ({ name, app, phase = 'Running', ready = true, emptyDirs = [], graceSeconds = 30 }) => {
    const made = store.create('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'payments', name, labels: { app } },
      spec: {
        nodeName: 'node-07',
        containers: [{ name: 'c', image: 'i' }],
        terminationGracePeriodSeconds: graceSeconds,
        volumes: [
          ...emptyDirs.map(volume => ({ name: volume, emptyDir: {} })),
          { name: 'token', projected: {} },
        ],
      },
      status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
    })
    return made.metadata.uid ?? ''
  },
  addBudget: async ({ name, app, allowed = 1, healthy = 2, desired = 1, counted = true, unhealthyMayGo }) => {
    store.create('poddisruptionbudgets', {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { namespace: 'payments', name },
      spec: {
        minAvailable: desired,
        selector: { matchLabels: { app } },
        ...(unhealthyMayGo === true ? { unhealthyPodEvictionPolicy: 'AlwaysAllow' } : {}),
      },
      status: {
        observedGeneration: counted ? 1 : 0,
        disruptionsAllowed: allowed,
        currentHealthy: healthy,
        desiredHealthy: desired,
        expectedPods: 2,
      },
    })
  },
  leaving: async (name, uid) => {
    const pod = store.get('pods', 'payments', name)
    return pod?.metadata.uid !== uid || pod.metadata.deletionTimestamp !== undefined
  },
})

describe('the fake cluster', () => drainingContract(async () => fakeWorld()))

describe('the Kubernetes adapter', () => {
  let closers: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of closers) await close()
  })
  drainingContract(async () => {
    const server = await startApiServer({ clock: { now: () => Date.now() } })
    const config = kubeconfigFile(server)
    const kube = connectKube({ kubeconfig: config.file, context: undefined })
    closers = [() => kube.close(), () => server.close(), () => config.remove()]
    return apiWorld(server, kube)
  })
})
