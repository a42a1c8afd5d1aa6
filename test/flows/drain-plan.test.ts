import { type Bundle, known, type Sandbox, unknown } from '../../src/core/evidence/bundle.js'
import { planDigest } from '../../src/core/runbook/plan.js'
import { Refused } from '../../src/ports.js'
import { fakeBudget } from '../fakes/drain.js'
import { leakingNode, now, sandbox } from '../unit/leaking-node.js'
import { agentPod, bench, evictions, onNode } from './drain-context.js'

const runtimeOf = {
  name: 'containerd',
  version: '2.1.4',
  endpoint: 'unix:///run/k3s/containerd/containerd.sock',
  startedAt: 0,
}

const subject = { cluster: 'c', run: 'r', index: 0, node: 'node-07', nodeUid: 'u', bootId: 'b' }
const selecting = (app: string) => ({ matchLabels: { app }, matchExpressions: [] })
const ledger = onNode('payments', 'ledger-0', { labels: { app: 'ledger' }, emptyDirs: ['wal'] })
const budget = () =>
  fakeBudget('payments', 'ledger', { selector: selecting('ledger'), allowed: 0, healthy: 2, desired: 2 })

test('P-A4: the plan names every Pod with its verdict, what its budget allows now, and whose data is lost', async () => {
  const world = bench([onNode('payments', 'api-1'), ledger])
  world.cluster.draining.budgets.push(budget(), fakeBudget('search', 'elsewhere'))
  const plan = await world.plan()
  expect(plan.title).toBe('Drain node-07: evict 2 Pods')
  expect(plan.facts).toEqual([
    'Evicts 2 Pods from node-07; 1 Pod of DaemonSets or the kubelet itself stays, with its addresses.',
    expect.stringMatching(
      /^Waiting for a budget \(PDB\), 1: payments\/ledger-0, PDB ledger allows 0 \(needs 2/,
    ),
    'Losing what is in an emptyDir, 1: payments/ledger-0 (wal).',
    'Each of those that run has a controller that starts it elsewhere.',
    expect.stringMatching(/^Waits for budgets up to 30 s; .* Pods that come later are not touched\.$/),
    'This cannot be undone: Pods that moved stay where they are.',
    expect.stringMatching(/^Not known: which Pod this process is/),
  ])
  expect(plan.lists.map(({ title, rows }) => [title, rows])).toEqual([
    [
      'Pods that wait for a budget',
      [expect.stringMatching(/^payments\/ledger-0 · waits: .*loses emptyDir wal$/)],
    ],
    [
      'Budgets (PDB) that count these Pods',
      ['payments/ledger: PDB ledger allows 0 (needs 2 healthy, has 2); counts 1 of these Pods'],
    ],
    ['Pods to evict', ['payments/api-1 · evict: of ReplicaSet api-5d4f']],
    ['Pods that stay', [expect.stringMatching(/^platform\/agent-x · leave: belongs to DaemonSet agent/)]],
  ])
  expect(plan.commands[0]).toBe(
    'POST /api/v1/namespaces/payments/pods/api-1/eviction {"apiVersion":"policy/v1","kind":"Eviction","metadata":{"namespace":"payments","name":"api-1"},"deleteOptions":{"preconditions":{"uid":"uid-payments-api-1"}}}',
  )
  expect(world.cluster.changes).toEqual([])
})

test('P-A4: finished Pods have a line of their own; nothing is said to start them elsewhere', async () => {
  const over = onNode('batch', 'over', { phase: 'Succeeded', controller: undefined })
  const { facts } = await bench([over, onNode('payments', 'api-1')]).plan()
  expect(facts.slice(0, 5)).toEqual([
    'Evicts 2 Pods from node-07; 1 Pod of DaemonSets or the kubelet itself stays, with its addresses.',
    'No budget (PDB) is in the way now.',
    'No Pod has data in an emptyDir.',
    'Each of those that run has a controller that starts it elsewhere.',
    'Finished, so they only go, and their logs with them, 1: batch/over.',
  ])
  const only = await bench([over]).plan()
  expect(only.facts.join()).not.toMatch(/controller/)
})

test('B2: what a budget allows does not change the plan; another Pod of the same name does', async () => {
  const world = bench([ledger])
  world.cluster.draining.budgets.push(budget())
  const digest = async () => planDigest(await world.plan(), subject)
  const before = await digest()
  world.cluster.draining.budgets[0]!.allowed = 1
  expect(await digest()).toBe(before)
  world.cluster.all.pods[0]!.uid = 'of its replacement'
  expect(await digest()).not.toBe(before)
})

test('P-A4: the plan says how many addresses can be given back afterwards', async () => {
  const clears = leakingNode(2, 5)
  const agents = known([{ ...agentPod, ips: ['10.244.7.2'] }], now)
  const sandboxes = known(
    [sandbox(2, { namespace: 'platform', pod: 'agent-x', podUid: agentPod.uid }), sandbox(3)],
    now,
  )
  const world = bench([ledger], { clears: { ...clears, pods: agents, sandboxes } })
  expect((await world.plan()).facts).toContain('Afterwards 5 addresses can be given back, as read now.')
})

test('P-A4: a budget that lets one of several go at a time is named, and nobody is told that none is in the way', async () => {
  const replicas = [1, 2, 3].map(n => onNode('shop', `front-${n}`, { labels: { app: 'front' } }))
  const world = bench(replicas)
  world.cluster.draining.budgets.push(
    fakeBudget('shop', 'front', { selector: selecting('front'), allowed: 1, healthy: 4, desired: 3 }),
  )
  const one = await world.plan()
  expect(one.facts).toContain('Budgets (PDB) that let only some go at a time: shop/front 1 of 3.')
  expect(one.facts.join()).not.toContain('No budget (PDB) is in the way')
  world.cluster.draining.budgets[0]!.allowed = 3
  expect((await world.plan()).facts).toContain('No budget (PDB) is in the way now.')
})

test('a node with nothing to move is not asked about', async () => {
  expect(await bench([]).plan()).toMatchObject({ nothingToDo: true, title: 'Drain node-07: evict 0 Pods' })
})

describe('P-A4: nothing is begun that would stop half way; the refusal names every Pod', () => {
  const refusal = async (world: ReturnType<typeof bench>): Promise<Refused> => {
    const error = await world.plan().then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    if (!(error instanceof Refused)) throw new Error(`no refusal: ${String(error)}`)
    expect(evictions(world)).toEqual([])
    return error
  }

  test('an unmanaged Pod', async () => {
    const { message, output } = await refusal(
      bench([onNode('batch', 'bare', { controller: undefined }), onNode('payments', 'api-1')]),
    )
    expect(message).toMatch(
      /^node-07 cannot be drained: 1 Pod .* batch\/bare: no controller.*Move them by hand/,
    )
    expect(output.split('\n')).toEqual([
      expect.stringMatching(/^batch\/bare · blocks/),
      expect.stringMatching(/^payments\/api-1 · evict/),
      expect.stringMatching(/^platform\/agent-x · leave/),
    ])
  })
  test('an emptyDir where the runbook does not give its data up', async () => {
    expect((await refusal(bench([ledger], { keepEmptyDirs: true }))).message).toMatch(
      /emptyDir wal: its data/,
    )
  })
  test('two budgets on one Pod, which the server never evicts', async () => {
    const world = bench([ledger])
    world.cluster.draining.budgets.push(budget(), fakeBudget('payments', 'all'))
    expect((await refusal(world)).message).toMatch(/ledger-0: 2 budgets count it \(ledger, all\)/)
  })
  test('a node that is not cordoned', async () => {
    const world = bench([ledger])
    world.cluster.all.nodes[0]!.unschedulable = false
    expect((await refusal(world)).message).toMatch(/not cordoned, so .*cordon it and retry$/)
  })
  test('a node that was rebooted since', async () => {
    const world = bench([ledger])
    world.cluster.all.nodes[0]!.bootId = 'boot-8'
    expect((await refusal(world)).message).toMatch(/was rebooted since this run was opened/)
  })
  const guessed = (staying: Partial<Sandbox>, over: Partial<Bundle> = {}) =>
    leakingNode(0, 5, {
      runtime: known({ ...runtimeOf, endpointFrom: 'a known default path' }, now),
      pods: known(
        [
          { ...agentPod, hostNetwork: true, ips: ['10.244.7.2'] },
          { ...ledger, ips: ['10.244.7.3'] },
        ],
        now,
      ),
      sandboxes: known(
        [
          sandbox(2, { namespace: 'platform', pod: 'agent-x', ...staying }),
          sandbox(3, { namespace: 'payments', pod: 'ledger-0', podUid: ledger.uid }),
        ],
        now,
      ),
      ...over,
    })
  test('a node where nothing would prove the runtime afterwards, so that no address could be removed', async () => {
    const world = bench([ledger], { clears: guessed({ podUid: 'of a runtime that it was moved from' }) })
    expect((await refusal(world)).message).toMatch(
      /^once node-07 is drained no address could be removed there: the runtime endpoint .*or start a Pod on the node\. Or remove them in place, while Pods run there$/,
    )
    const proven = bench([ledger], { clears: guessed({ podUid: agentPod.uid }) })
    expect((await proven.plan()).facts.join()).not.toMatch(/removed/)
  })
  const host = { hostname: 'node-07', now, skewMs: 600_000, bootId: 'boot-1', bootedAt: 0 }
  const silent = unknown('crictl pods: connection refused', now)
  test.each<[string, Partial<Bundle>, RegExp]>([
    ['the clock of the node is off', { host: known(host, now) }, /: the node's clock is 10 min ahead/],
    [
      'who holds an address is not known',
      { held: silent },
      /: it is not known which addresses are still held/,
    ],
    ['the runtime is silent', { sandboxes: silent }, /: the runtime did not list its sandboxes: crictl pods/],
  ])('a node whose addresses could be removed neither now nor afterwards: %s', async (_why, over, says) => {
    const { message } = await refusal(bench([ledger], { clears: guessed({ podUid: agentPod.uid }, over) }))
    expect(message).toMatch(/^once node-07 is drained no address could be removed there: /)
    expect(message).toMatch(says)
    expect(message).not.toContain('in place')
  })
  test('B9: the node that this program or its Redis runs on, with what to do', async () => {
    const chart = { 'app.kubernetes.io/name': 'cnibot', 'app.kubernetes.io/instance': 'cni' }
    const ours = onNode('ops', 'cni-worker-1', { labels: chart })
    const world = bench([ours])
    expect((await refusal(world)).message).toMatch(
      /^this would drain the node that cnibot itself stands on\. .*Pod ops\/cni-worker-1 \(this very process\): `kubectl -n ops delete pod cni-worker-1` starts it on another node$/,
    )
    const redis = bench([onNode('ops', 'redis-0')])
    redis.cluster.draining.whereabouts.set('redis', {
      host: 'redis',
      addresses: ['10.244.7.9'],
      nodes: ['node-07'],
      pods: ['ops/redis-0'],
    })
    expect((await refusal(redis)).output).toMatch(/^Redis, Pod ops\/redis-0/)
  })
})

test('a static Pod and a DaemonSet Pod are left, whatever the runbook allows', async () => {
  const mirror = onNode('kube-system', 'proxy', { mirror: true, controller: undefined })
  const plan = await bench([mirror], { evict_unmanaged: true }).plan()
  expect(plan.data.pods).toEqual([])
  expect(plan.lists).toEqual([{ title: 'Pods that stay', rows: [expect.any(String), expect.any(String)] }])
  expect(agentPod.controller?.kind).toBe('DaemonSet')
})
