import { createCluster } from '../../../src/adapters/kubernetes/cluster.js'
import { connectKube, type Kube } from '../../../src/adapters/kubernetes/connect.js'
import { cordon } from '../../../src/steps/cordon.js'
import type { StepContext } from '../../../src/steps/step.js'
import { uncordon } from '../../../src/steps/uncordon.js'
import { kubeconfigFile } from '../../contract/cluster-api-world.js'
import { fold, opened, runbook, t0 } from '../../unit/runbook/runs.js'
import { KubectlLab } from '../lab-api/kubectl-lab.js'
import { stepSettings } from '../../fakes/settings.js'

let lab: KubectlLab
let kube: Kube
let ctx: StepContext
const closers: (() => unknown)[] = []

const node = () => lab.api.store.get('nodes', undefined, 'node-01')!
const managersOf = (field: string): unknown[] => {
  const entries = node().metadata.managedFields as { manager: string; fieldsV1: object }[]
  return entries.filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes(field)).map(each => each.manager)
}

beforeAll(async () => {
  lab = await KubectlLab.start()
  const config = kubeconfigFile(lab.api)
  kube = connectKube({ kubeconfig: config.file, context: undefined })
  closers.push(
    () => kube.close(),
    () => lab.stop(),
    () => config.remove(),
  )
  const unused = async (): Promise<never> => {
    throw new Error('a cordon does not ask this')
  }
  const run = {
    ...fold(opened(runbook({ steps: [{ kind: 'cordon' }, { kind: 'uncordon' }] }))),
    node: 'node-01',
    nodeUid: node().metadata.uid ?? '',
  }
  ctx = {
    run,
    index: 0,
    cluster: createCluster(kube, { now: () => t0 }),
    shell: { shown: () => '', run: unused },
    clock: { now: () => t0 },
    settings: stepSettings,
    signal: new AbortController().signal,
    measure: unused,
    bundle: unused,
    progress: async () => undefined,
  }
})
afterAll(async () => {
  for (const close of closers) await close()
})

test('B7: our cordon is written in our name, shown as it is sent, and ours to lift', async () => {
  const plan = await cordon.plan({ kind: 'cordon' }, ctx)
  expect(plan.commands).toEqual([
    expect.stringMatching(/^PATCH \/api\/v1\/nodes\/node-01\?fieldManager=cnibot \{"metadata"/),
  ])
  expect((await cordon.act(plan, ctx)).changed).toBe(true)
  expect(managersOf('f:unschedulable')).toEqual(['cnibot'])
  expect((await uncordon.plan({ kind: 'uncordon' }, ctx)).title).toBe('Uncordon node-01')
})

test('B7: kubectl uncordon leaves our mark behind, as a real server does, and the node counts as schedulable', async () => {
  expect((await lab.kubectl('uncordon', 'node-01')).code).toBe(0)
  expect(node().metadata.annotations).toMatchObject({ 'cnibot.io/cordoned-by': 'prod-eu1/node-07.1' })
  expect(managersOf('f:unschedulable')).toEqual([])
  expect(await ctx.cluster.node('node-01')).toMatchObject({ unschedulable: false, cordonedBy: undefined })
})

test('B7: a cordon that somebody then sets with kubectl is theirs: not lifted, not undone, and said so', async () => {
  expect((await lab.kubectl('cordon', 'node-01')).code).toBe(0)
  expect(managersOf('f:unschedulable')).toEqual(['kubectl'])
  const plan = await uncordon.plan({ kind: 'uncordon' }, ctx)
  expect(plan).toMatchObject({ title: 'Leave node-01 cordoned', nothingToDo: true, commands: [] })
  expect(plan.facts).toEqual([
    "The cordon is of somebody else (with kubectl), not this incident's: it stays, and they must lift it.",
  ])
  const begun = { ...(await cordon.plan({ kind: 'cordon' }, ctx)), nothingToDo: false }
  const undo = cordon.undo
  if (typeof undo !== 'function') throw new Error('a cordon can be undone')
  expect(JSON.stringify(await undo(begun, undefined, ctx))).toContain('left cordoned')
  expect(node().spec?.unschedulable).toBe(true)
})

test('B7: an uncordon that was approved while the cordon was ours is refused when it has changed hands', async () => {
  await lab.kubectl('uncordon', 'node-01')
  await cordon.act(await cordon.plan({ kind: 'cordon' }, ctx), ctx)
  const approved = await uncordon.plan({ kind: 'uncordon' }, ctx)
  expect(approved.nothingToDo).toBe(false)
  await lab.kubectl('uncordon', 'node-01')
  await lab.kubectl('cordon', 'node-01')
  await expect(uncordon.act(approved, ctx)).rejects.toThrow(
    'somebody else has taken over the cordon of node-01 (somebody else (with kubectl)); it was not lifted',
  )
  expect(node().spec?.unschedulable).toBe(true)
})
