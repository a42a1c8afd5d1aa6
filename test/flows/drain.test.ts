import { Failed, Refused, Unreachable } from '../../src/ports.js'
import { fakeBudget } from '../fakes/drain.js'
import { bench, type DrainBench, evictions, many, onNode, whenSaid } from './drain-context.js'

const selecting = (app: string) => ({ matchLabels: { app }, matchExpressions: [] })
const ledger = () => onNode('payments', 'ledger-0', { labels: { app: 'ledger' }, graceMs: 0 })
const closed = () =>
  fakeBudget('payments', 'ledger', { selector: selecting('ledger'), allowed: 0, healthy: 2, desired: 2 })

const failure = async (world: DrainBench): Promise<Failed> => {
  const error = await world.act(await world.plan()).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof Failed)) throw new Error(`no failure: ${String(error)}`)
  return error
}

test('P-A4: evicts what was approved, waits until it is gone, leaves DaemonSet Pods', async () => {
  const world = bench(many(3))
  const done = await world.act(await world.plan())
  expect(done).toMatchObject({
    changed: true,
    says: '3 Pods evicted; 1 of DaemonSets or the kubelet itself stays',
  })
  expect(done.data).toEqual({ evicted: expect.arrayContaining(['shop/front-00']), gone: [], stay: 1 })
  expect(evictions(world)).toHaveLength(3)
  expect(world.cluster.all.pods.map(({ name }) => name)).toEqual(['agent-x'])
})

test('P-A4: waits for a budget, says which and what it allows, and goes on when there is room', async () => {
  const world = bench([...many(2), ledger()])
  world.cluster.draining.budgets.push(closed())
  const plan = await world.plan()
  whenSaid(world, /^2 of 3, waiting for/, () => {
    world.cluster.draining.budgets[0]!.allowed = 1
  })
  await world.act(plan)
  expect(world.said).toContain(
    '2 of 3, waiting for payments/ledger-0: PDB ledger allows 0 (needs 2 healthy, has 2)',
  )
  expect(world.said.at(-1)).toBe('3 of 3')
  expect(evictions(world).at(-1)).toBe('payments/ledger-0')
})

test('P-A4: no more than eight Pods are on their way out at once', async () => {
  const world = bench(many(20))
  let most = 0
  world.cluster.draining.onEvicted = pod => {
    pod.deletedAt = 1
    const leaving = world.cluster.all.pods.filter(({ deletedAt }) => deletedAt !== undefined)
    most = Math.max(most, leaving.length)
    if (leaving.length < 8 && world.cluster.all.pods.length > 8) return
    for (const gone of leaving) world.cluster.all.pods.splice(world.cluster.all.pods.indexOf(gone), 1)
  }
  await world.act(await world.plan())
  expect(most).toBe(8)
  expect(evictions(world)).toHaveLength(20)
})

describe('law 4: never more than approved', () => {
  test('a replacement of the same name is another Pod: it stays, and the drain says so', async () => {
    const world = bench([ledger()])
    const plan = await world.plan()
    world.cluster.all.pods[0]!.uid = 'of its replacement'
    const error = await world.act(plan).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Failed)
    expect(String(error)).toMatch(
      /since the plan 1 Pod came to node-07: payments\/ledger-0.*Not touched; Retry/,
    )
    expect(evictions(world)).toEqual([])
  })
  test('a Pod that came since the plan is named, not evicted', async () => {
    const world = bench(many(1))
    const plan = await world.plan()
    world.cluster.all.pods.push(onNode('search', 'late'))
    await expect(world.act(plan)).rejects.toThrow(/since the plan 1 Pod came to node-07: search\/late/)
    expect(evictions(world)).toEqual(['shop/front-00'])
  })
})

describe('what stands in the way', () => {
  test('P-A4: a Pod that cannot end because its DEL fails is named, and no further one is evicted', async () => {
    const world = bench(many(12, { graceMs: 0 }), { pod_deadline: 5 })
    for (const { uid } of world.cluster.all.pods)
      world.cluster.all.podEvents.set(uid, [
        'Killing: Stopping container',
        'FailedKillPod: error killing pod: failed to "KillPodSandbox": plugin type="bridge" failed (delete)',
      ])
    world.cluster.draining.onEvicted = pod => {
      pod.deletedAt = 1
    }
    const { message, output } = await failure(world)
    expect(message).toMatch(
      /^0 of 12 Pods left node-07, still there 12: shop\/front-00: its network cannot be torn down.*KillPodSandbox/,
    )
    expect(evictions(world)).toHaveLength(8)
    expect(output).toMatch(/shop\/front-11: not evicted/)
  })
  test('a finalizer that keeps the object is named', async () => {
    const world = bench([onNode('shop', 'kept', { graceMs: 0, finalizers: ['example.com/hold'] })], {
      pod_deadline: 5,
    })
    world.cluster.draining.onEvicted = pod => {
      pod.deletedAt = 1
    }
    expect((await failure(world)).message).toMatch(
      /kept by the finalizers example\.com\/hold \(evicted \S+ s ago\)/,
    )
  })
  test('a Pod that somebody else is ending is not said to be evicted', async () => {
    const world = bench([onNode('shop', 'kept', { graceMs: 0, finalizers: ['a/b'], deletedAt: 1 })], {
      pod_deadline: 5,
    })
    const { message } = await failure(world)
    expect(message).toMatch(/kept by the finalizers a\/b \(on its way out for at least \S+ s\)/)
    expect(message).not.toContain('evicted')
  })
  test('P-A4: a budget that never opens ends at the deadline, with what is left', async () => {
    const world = bench([...many(1), ledger()], { deadline: 60 })
    world.cluster.draining.budgets.push(closed())
    const { message, output } = await failure(world)
    expect(message).toMatch(/^1 of 2 Pods left node-07, still there 1: not all within .*PDB ledger allows 0/)
    expect(output).toBe('payments/ledger-0: PDB ledger allows 0 (needs 2 healthy, has 2)')
  })
  test('a second budget that came since the plan: that Pod is never evicted, and the drain stops', async () => {
    const world = bench([ledger()])
    const plan = await world.plan()
    world.cluster.draining.budgets.push(closed(), fakeBudget('payments', 'all'))
    await expect(world.act(plan)).rejects.toThrow(
      /payments\/ledger-0: This pod has more than one PodDisruption/,
    )
  })
  test('an API server that is away for a while is waited for, and that is said', async () => {
    const world = bench(many(1))
    const plan = await world.plan()
    const away = new Unreachable('the server gave no answer')
    world.cluster.failing.set('evict', away)
    whenSaid(world, /waiting for shop\/front-00: the server gave no answer/, () => {
      world.cluster.failing.clear()
      world.cluster.failing.set('podsToDrain', away)
      whenSaid(world, /^0 of 1.*; the server gave no answer/, () => world.cluster.failing.clear())
    })
    await world.act(plan)
    expect(evictions(world)).toHaveLength(1)
  })
  test('a cordon that somebody lifts meanwhile stops it', async () => {
    const world = bench([...many(1), ledger()])
    world.cluster.draining.budgets.push(closed())
    whenSaid(world, /^1 of 2, waiting for/, () => {
      world.cluster.all.nodes[0]!.unschedulable = false
    })
    expect((await failure(world)).message).toMatch(/^1 of 2 Pods left node-07.*is not cordoned/)
  })
  test('a role without the right to evict is a refusal while nothing was done', async () => {
    const world = bench(many(1))
    const plan = await world.plan()
    world.cluster.failing.set('evict', new Refused('not allowed'))
    await expect(world.act(plan)).rejects.toThrow(Refused)
  })
})
