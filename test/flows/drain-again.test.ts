import { Failed, Refused } from '../../src/ports.js'
import { fakeBudget } from '../fakes/drain.js'
import { t0 } from '../unit/runbook/runs.js'
import { bench, type DrainBench, evictions, many, onNode, whenSaid } from './drain-context.js'

describe('B3: called again, it goes on', () => {
  test('B3: after a crash only what is still there is evicted, and what the worker before evicted is told as evicted', async () => {
    const world = bench(many(3))
    const plan = await world.plan()
    whenSaid(world, /./, () => world.abort.abort(new Error('stopped')))
    world.cluster.draining.onEvicted = pod => {
      pod.deletedAt = 1
    }
    await expect(world.act(plan)).rejects.toThrow('stopped')
    const before = evictions(world).slice(0, 2)
    expect(world.noted.map(({ pod }) => pod)).toEqual(evictions(world))
    const again = bench([])
    again.cluster.all.pods.unshift(onNode('shop', 'front-02'))
    const evicted = world.noted.filter(({ pod }) => before.includes(pod))
    Object.assign(again.ctx.run.lines[0]!, { starts: 1, status: 'acting', evicted })
    const done = await again.act(plan)
    expect(evictions(again)).toEqual(['shop/front-02'])
    expect(done.says).toBe(
      '3 Pods evicted (2 of them before this worker took over); 1 of DaemonSets or the kubelet itself stays',
    )
    expect(done.data).toEqual({ evicted: [...before, 'shop/front-02'], gone: [], stay: 1 })
    expect(done.detail[0]).toBe('shop/front-00 evicted, before this worker took over')
  })
  test('a Pod that went without an eviction on record is not said to be evicted', async () => {
    const world = bench(many(2))
    const plan = await world.plan()
    world.cluster.all.pods.splice(0, 1)
    const done = await world.act(plan)
    expect(done.says).toMatch(/^1 Pod evicted, 1 gone or going when it was looked at; /)
    expect(done.data).toEqual({ evicted: ['shop/front-01'], gone: ['shop/front-00'], stay: 1 })
    expect(done.detail).toContain('shop/front-00 gone or going when it was looked at')
  })
  test('evictions that were accepted are on record although another one is refused', async () => {
    const world = bench(many(2))
    const plan = await world.plan()
    const { cluster } = world
    world.ctx.cluster = {
      ...cluster,
      evict: async (pod, guard) => {
        if (pod.name === 'front-01') throw new Refused('not allowed')
        return cluster.evict(pod, guard)
      },
    }
    await expect(world.act(plan)).rejects.toThrow(Failed)
    expect(world.noted).toEqual([{ pod: 'shop/front-00', uid: 'uid-shop-front-00' }])
  })
  test('a second whole run finds nothing to do', async () => {
    const world = bench(many(2))
    const plan = await world.plan()
    await world.act(plan)
    expect((await world.act(plan)).data).toMatchObject({ evicted: [], stay: 1 })
    expect(evictions(world)).toHaveLength(2)
  })
  test('a Pod on its way out is not evicted a second time', async () => {
    const world = bench([onNode('shop', 'going', { deletedAt: 1 })])
    const plan = await world.plan()
    whenSaid(world, /1 on their way out/, () => world.cluster.all.pods.shift())
    expect((await world.act(plan)).data.evicted).toEqual([])
    expect(evictions(world)).toEqual([])
  })
})

describe('P-A4: the times of the plan count from its first start, whichever worker goes on', () => {
  const closed = () => fakeBudget('shop', 'front', { allowed: 0, healthy: 2, desired: 2 })
  const hour = 3_600_000
  const startedBefore = (world: DrainBench, ms: number): void => {
    const { ctx } = world
    Object.assign(ctx.run.lines[0]!, { starts: 1, status: 'acting', begunAt: ctx.clock.now() - ms })
  }
  const failure = (acting: Promise<unknown>): Promise<string> => acting.then(() => 'no error', String)

  test('a deadline that has passed while no worker was there gets no second hour', async () => {
    const world = bench(many(2), { deadline: hour })
    world.cluster.draining.budgets.push(closed())
    const plan = await world.plan()
    startedBefore(world, hour)
    expect(await failure(world.act(plan))).toMatch(/0 of 2 Pods left .*: not all within 1 h; /)
  })
  test('what is left of it is waited for', async () => {
    const world = bench(many(2), { deadline: hour })
    world.cluster.draining.budgets.push(closed())
    const plan = await world.plan()
    startedBefore(world, hour - 40)
    whenSaid(world, /waiting for shop/, () => world.cluster.draining.budgets.splice(0))
    expect((await world.act(plan)).says).toMatch(/^2 Pods evicted;/)
  })
  test('a clock that was set back gives no more than the plan says', async () => {
    const world = bench(many(1), { deadline: 30 })
    world.cluster.draining.budgets.push(closed())
    const plan = await world.plan()
    startedBefore(world, -hour)
    expect(await failure(world.act(plan))).toMatch(/not all within/)
  })
  test('a Pod that has been on its way out for too long under the worker before is named at once', async () => {
    const world = bench(many(1, { graceMs: 30_000, deletedAt: t0 - 400_000 }), { pod_deadline: 300_000 })
    const plan = await world.plan()
    startedBefore(world, 600_000)
    expect(await failure(world.act(plan))).toMatch(/still there 1: shop\/front-00: did not end/)
  })
})

describe('B3: a refusal tells the truth about earlier starts', () => {
  /** Two of three Pods were evicted, then the worker was killed. */
  const begun = async (): Promise<{ world: DrainBench; plan: Awaited<ReturnType<DrainBench['plan']>> }> => {
    const world = bench(many(3))
    const plan = await world.plan()
    world.cluster.all.pods.splice(0, 2)
    Object.assign(world.ctx.run.lines[0]!, { starts: 1, status: 'acting' })
    return { world, plan }
  }
  const uncordon = ({ cluster }: DrainBench): void => {
    cluster.all.nodes[0]!.unschedulable = false
  }
  const said = (acting: Promise<unknown>): Promise<unknown> =>
    acting.then(
      () => 'no error',
      (error: unknown) => error,
    )

  test('a second start on a node that was uncordoned meanwhile says how many have left', async () => {
    const { world, plan } = await begun()
    uncordon(world)
    const error = await said(world.act(plan))
    expect(error).toBeInstanceOf(Failed)
    expect(String(error)).toMatch(/: 2 of 3 Pods left node-07, still there 1: node-07 is not cordoned/)
  })
  test('so it does on the node of this program, and on a node that was created anew', async () => {
    const one = await begun()
    one.world.cluster.draining.whereabouts.set('redis', {
      host: 'redis',
      addresses: ['10.244.7.9'],
      nodes: ['node-07'],
      pods: ['ops/redis-0'],
    })
    expect(String(await said(one.world.act(one.plan)))).toMatch(/: 2 of 3 Pods left.*itself stands on/)
    const other = await begun()
    other.world.cluster.all.nodes[0]!.uid = 'another'
    expect(String(await said(other.world.act(other.plan)))).toMatch(/: 2 of 3 Pods left.*is another node/)
  })
  test('a Pod that an earlier start evicted and that is not gone yet counts as begun', async () => {
    const world = bench(many(1, { deletedAt: 1 }))
    const plan = await world.plan()
    Object.assign(world.ctx.run.lines[0]!, { starts: 1, status: 'acting' })
    uncordon(world)
    expect(String(await said(world.act(plan)))).toMatch(
      /: 0 of 1 Pod left node-07, still there 1: .*not cord/,
    )
  })
  test('a plan that is made again claims nothing about what an earlier one did', async () => {
    const { world } = await begun()
    uncordon(world)
    const uncordoned = await said(world.plan())
    world.cluster.all.nodes[0]!.unschedulable = true
    world.cluster.all.pods.push(onNode('batch', 'bare', { controller: undefined }))
    for (const error of [uncordoned, await said(world.plan())]) {
      expect(error).toBeInstanceOf(Refused)
      expect(String(error)).not.toMatch(/nothing was/i)
    }
  })
})
