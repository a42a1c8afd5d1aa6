import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createCluster } from '../../../src/adapters/kubernetes/cluster.js'
import { connectKube, type Kube } from '../../../src/adapters/kubernetes/connect.js'
import { Failed } from '../../../src/ports.js'
import { drain } from '../../../src/steps/drain.js'
import type { StepContext } from '../../../src/steps/step.js'
import { kubeconfigFile } from '../../contract/cluster-api-world.js'
import { bench } from '../../flows/drain-context.js'
import { type LabApi, startApiServer } from '../../lab/api/index.js'
import { type Kubelets, startKubelets } from '../../lab/nodes/kubelet.js'
import { startTestLab, type TestLab } from './ssh.js'

let lab: TestLab
let api: LabApi
let kubelets: Kubelets
let kube: Kube
let ctx: StepContext

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'api-5d4f', uid: 'rs', controller: true }
const names = ['api-1', 'api-2', 'api-3']
const spec = {
  kind: 'drain' as const,
  delete_emptydir_data: false,
  evict_unmanaged: false,
  deadline: 60_000,
  pod_deadline: 200,
}

beforeEach(async () => {
  lab = await startTestLab(['node-07'])
  api = await startApiServer({ clock: lab.clock })
  kubelets = startKubelets({ store: api.store, nodes: lab.nodes, clock: lab.clock, releaseDelayMs: 20 })
  const config = kubeconfigFile(api)
  kube = connectKube({ kubeconfig: config.file, context: undefined })
  config.remove()
  for (const name of names)
    api.store.create('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'payments', name, ownerReferences: [owner] },
      spec: {
        nodeName: 'node-07',
        containers: [{ name: 'c', image: 'i' }],
        terminationGracePeriodSeconds: 1,
      },
    })
  await kubelets.settled()
  const cluster = createCluster(kube, lab.clock)
  const facts = await cluster.node('node-07')
  if (!facts) throw new Error('the kubelet registered no node')
  const { uid: expectUid, bootId } = facts
  await cluster.setSchedulable('node-07', { unschedulable: true, cordonedBy: 'us', expectUid })
  const base = bench([]).ctx
  const settings = { ...base.settings, lookEveryMs: 20 }
  ctx = { ...base, cluster, settings, run: { ...base.run, nodeUid: expectUid, bootId } }
})
afterEach(async () => {
  await kubelets?.stop()
  await kube?.close()
  await api?.close()
  await lab?.close()
})

const act = async () => drain.act(await drain.plan(spec, ctx), ctx)

test('P-A4: Pods that cannot end because their DEL fails are named with the kubelet’s words; mended, the same drain ends', async () => {
  const node = lab.nodes.node('node-07')
  node.breakDel('empty-cache')
  const error = await act().catch((thrown: unknown) => thrown)
  if (!(error instanceof Failed)) throw error
  expect(error.message).toMatch(
    /^0 of 3 Pods left node-07, still there 3: payments\/api-\d: its network cannot be torn down, so it does not end: FailedKillPod: .*KillPodSandboxError/,
  )
  expect(error.output.split('\n')).toHaveLength(3)
  expect(node.allocations()).toHaveLength(3)
  const again = await drain.plan({ ...spec, pod_deadline: 30_000 }, ctx)
  expect(again.data.pods.map(({ name }) => name)).toEqual(names)
  node.breakDel(false)
  lab.clock.advance(13_000)
  const done = await drain.act(again, ctx)
  expect(done.data).toMatchObject({ evicted: [], gone: names.map(name => `payments/${name}`) })
  await kubelets.settled()
  expect(node.allocations()).toEqual([])
})

test('P-A4: a healthy node is empty of them after a drain, and their addresses are back', async () => {
  expect(lab.nodes.node('node-07').allocations()).toHaveLength(3)
  const done = await drain.act(await drain.plan({ ...spec, pod_deadline: 30_000 }, ctx), ctx)
  expect(done.data.evicted.toSorted()).toEqual(names.map(name => `payments/${name}`))
  await kubelets.settled()
  expect(lab.nodes.node('node-07').allocations()).toEqual([])
})
