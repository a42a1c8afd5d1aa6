import type { Budget } from '../../src/core/drain/budget.js'
import type { Cluster } from '../../src/ports.js'

export type ContractBudget = Pick<Budget, 'name'> &
  Partial<Pick<Budget, 'allowed' | 'healthy' | 'desired' | 'counted' | 'unhealthyMayGo'>> & {
    /** Selects Pods with this label `app`. */
    app: string
  }

/** Puts Pods and budgets behind the port, all in the namespace payments. Answers uids. */
export interface DrainingWorld {
  cluster: Cluster
  addPod(pod: {
    name: string
    app: string
    phase?: string
    ready?: boolean
    emptyDirs?: string[]
    graceSeconds?: number
  }): Promise<string>
  addBudget(budget: ContractBudget): Promise<void>
  /** Whether the Pod of this uid is gone or on its way out. */
  leaving(name: string, uid: string): Promise<boolean>
}

export const drainingContract = (start: () => Promise<DrainingWorld>): void => {
  let world: DrainingWorld
  beforeEach(async () => {
    world = await start()
  })
  const evict = (name: string, uid: string) => world.cluster.evict({ namespace: 'payments', name, uid })

  test('P-A4: Pods of a node with what a drain needs to know of them', async () => {
    await world.addPod({ name: 'db-0', app: 'db', emptyDirs: ['wal', 'tmp'], graceSeconds: 90 })
    await world.addPod({ name: 'api-1', app: 'api' })
    const pods = await world.cluster.podsToDrain('node-07')
    expect(pods.map(({ name }) => name).sort()).toEqual(['api-1', 'db-0'])
    expect(pods.find(({ name }) => name === 'db-0')).toMatchObject({
      emptyDirs: ['wal', 'tmp'],
      graceMs: 90_000,
      finalizers: [],
      ready: true,
    })
    expect(pods.find(({ name }) => name === 'api-1')).toMatchObject({ emptyDirs: [], graceMs: 30_000 })
    expect(await world.cluster.podsToDrain('node-08')).toEqual([])
  })

  test('P-A4: budgets with what they allow now', async () => {
    await world.addBudget({ name: 'db', app: 'db', allowed: 0, healthy: 2, desired: 2 })
    await world.addBudget({ name: 'new', app: 'api', counted: false, unhealthyMayGo: true })
    const budgets = await world.cluster.budgets()
    expect(budgets.find(({ name }) => name === 'db')).toMatchObject({
      namespace: 'payments',
      selector: { matchLabels: { app: 'db' }, matchExpressions: [] },
      allowed: 0,
      healthy: 2,
      desired: 2,
      counted: true,
      unhealthyMayGo: false,
    })
    expect(budgets.find(({ name }) => name === 'new')).toMatchObject({ counted: false, unhealthyMayGo: true })
  })

  test('P-A4: a Pod without a budget, and one whose budget has room, are evicted once each', async () => {
    await world.addBudget({ name: 'db', app: 'db', allowed: 1, healthy: 2, desired: 1 })
    const [db0, db1, api] = [
      await world.addPod({ name: 'db-0', app: 'db' }),
      await world.addPod({ name: 'db-1', app: 'db' }),
      await world.addPod({ name: 'api-1', app: 'api' }),
    ]
    expect(await evict('db-0', db0)).toEqual({ outcome: 'accepted' })
    expect(await evict('db-1', db1)).toMatchObject({ outcome: 'waits', because: 'budget' })
    expect(await evict('api-1', api)).toEqual({ outcome: 'accepted' })
    expect(await world.leaving('db-0', db0)).toBe(true)
    expect(await world.leaving('db-1', db1)).toBe(false)
  })

  test('P-A4: a budget at zero, and one that is not counted yet, wait with the server’s words', async () => {
    await world.addBudget({ name: 'db', app: 'db', allowed: 0, healthy: 2, desired: 2 })
    await world.addBudget({ name: 'api', app: 'api', counted: false })
    const db = await world.addPod({ name: 'db-0', app: 'db' })
    const api = await world.addPod({ name: 'api-1', app: 'api' })
    expect(await evict('db-0', db)).toEqual({
      outcome: 'waits',
      because: 'budget',
      says: 'The disruption budget db needs 2 healthy pods and has 2 currently',
      retryAfterMs: undefined,
    })
    expect(await evict('api-1', api)).toEqual({
      outcome: 'waits',
      because: 'budget',
      says: 'The disruption budget api is still being processed by the server.',
      retryAfterMs: 10_000,
    })
  })

  test('P-A4: two budgets on one Pod are never; on one that does not run yet nobody asks them', async () => {
    await world.addBudget({ name: 'one', app: 'db' })
    await world.addBudget({ name: 'two', app: 'db' })
    const running = await world.addPod({ name: 'db-0', app: 'db' })
    const pending = await world.addPod({ name: 'db-1', app: 'db', phase: 'Pending', ready: false })
    expect(await evict('db-0', running)).toMatchObject({
      outcome: 'never',
      says: expect.stringMatching(/more than one PodDisruptionBudget/),
    })
    expect(await evict('db-1', pending)).toEqual({ outcome: 'accepted' })
  })

  test('P-A4: a Pod that is not ready goes where enough others are, or where the budget says so', async () => {
    await world.addBudget({ name: 'db', app: 'db', allowed: 0, healthy: 2, desired: 2 })
    await world.addBudget({ name: 'api', app: 'api', allowed: 0, healthy: 0, desired: 1 })
    await world.addBudget({
      name: 'web',
      app: 'web',
      allowed: 0,
      healthy: 0,
      desired: 1,
      unhealthyMayGo: true,
    })
    const add = (name: string, app: string) => world.addPod({ name, app, ready: false })
    const [db, api, web] = [await add('db-0', 'db'), await add('api-1', 'api'), await add('web-1', 'web')]
    expect(await evict('db-0', db)).toEqual({ outcome: 'accepted' })
    expect(await evict('api-1', api)).toMatchObject({ outcome: 'waits' })
    expect(await evict('web-1', web)).toEqual({ outcome: 'accepted' })
  })

  test('B2: another uid of that name is another Pod, and stays', async () => {
    const uid = await world.addPod({ name: 'db-0', app: 'db' })
    expect(await evict('db-0', 'of-an-earlier-one')).toEqual({ outcome: 'gone' })
    expect(await evict('nobody', uid)).toEqual({ outcome: 'gone' })
    expect(await world.leaving('db-0', uid)).toBe(false)
  })

  test('a host that leads nowhere is a reason, not an error', async () => {
    expect(await world.cluster.whereabouts('redis.invalid', undefined)).toEqual({
      host: 'redis.invalid',
      why: expect.stringMatching(/redis\.invalid has no address here/),
    })
  })
}
