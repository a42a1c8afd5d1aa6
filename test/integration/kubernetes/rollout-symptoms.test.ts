import { until } from './api.js'
import { minute, startSymptomWorld, type SymptomWorld } from './symptom-world.js'

let world: SymptomWorld
beforeEach(async () => {
  world = await startSymptomWorld()
  for (const name of ['node-04', 'node-07']) world.node(name)
})
afterEach(() => world.close())

describe('C2: stuck rollouts', () => {
  const rollout = () => {
    const matchLabels = { app: 'exporter' }
    const template = { metadata: { labels: matchLabels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const metadata = { namespace: 'payments', name: 'exporter' }
    const status = {
      desiredNumberScheduled: 2,
      updatedNumberScheduled: 2,
      numberReady: 1,
      numberAvailable: 1,
      observedGeneration: 1,
    }
    const made = world.server.store.create('daemonsets', {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata,
      spec: { selector: { matchLabels }, template },
      status,
    })
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'exporter', uid: made.metadata.uid ?? '' }
    world.runs(world.pod('exporter-a', owner, { node: 'node-04', labels: matchLabels }))
    const complete = () => {
      const current = world.server.store.get('daemonsets', 'payments', 'exporter') ?? made
      const counts = { ...current.status, numberReady: 2, numberAvailable: 2 }
      world.server.store.update('daemonsets', { ...current, status: counts })
    }
    return { complete, pod: (name: string) => world.pod(name, owner, { labels: matchLabels }) }
  }
  const looks = () => world.asked.filter(({ query }) => query.get('labelSelector') === 'app=exporter').length
  /** Two more lists of its Pods: what the first of them showed has been judged by then. */
  const looked = async () => {
    const before = looks()
    await until('two looks', () => looks() >= before + 2)
  }
  const stuck = () => world.symptoms.filter(({ kind }) => kind === 'stuck-rollout')

  test('the same node without the same Pod for the window is named; 2 of 2 ends it', async () => {
    const { complete, pod } = rollout()
    const waiting = pod('exporter-b')
    world.watch()
    await looked()
    const since = world.clock.now()
    world.clock.advance(15 * minute)
    await until('the rollout', () => stuck().length > 0)
    expect(stuck()).toEqual([
      {
        kind: 'stuck-rollout',
        node: 'node-07',
        workload: { namespace: 'payments', kind: 'DaemonSet', name: 'exporter' },
        pod: 'exporter-b',
        podUid: waiting.metadata.uid,
        since,
        desired: 2,
        ready: 1,
      },
    ])
    world.runs(waiting)
    complete()
    await until('its end', () => world.gone.some(({ kind }) => kind === 'stuck-rollout'))
    expect(world.gone.find(({ kind }) => kind === 'stuck-rollout')).toMatchObject({
      node: 'node-07',
      end: { how: 'rollout-complete' },
    })
  })

  test('its Pods are not listed at every tick; a change of the DaemonSet or a jump of the clock is a reason', async () => {
    const { pod } = rollout()
    pod('exporter-b')
    const { load: _, ...slow } = world.settings
    const watch = world.watch({ settings: { ...slow, tickMs: 3_600_000 } })
    await until('the DaemonSet', () => watch.kept().daemonsets === 1 && watch.kept().nodes === 2)
    const lookedTimes = async (times: number) => {
      for (let n = 0; n < times; n++) await watch.look()
      return looks()
    }
    const first = await lookedTimes(1)
    expect(await lookedTimes(20)).toBe(first)
    const current = world.server.store.get('daemonsets', 'payments', 'exporter')
    if (!current) throw new Error('the DaemonSet is not there')
    world.server.store.update('daemonsets', { ...current, status: { ...current.status, numberReady: 0 } })
    await until('a look for the change', () => looks() === first + 1)
    expect(await lookedTimes(20)).toBe(first + 1)
    world.clock.advance(2_000)
    expect(await lookedTimes(20)).toBe(first + 2)
    world.clock.advance(15 * minute)
    await watch.look()
    expect(stuck()).toHaveLength(1)
  })

  test('a list that failed ends nothing', async () => {
    const { pod } = rollout()
    pod('exporter-b')
    const watch = world.watch()
    await looked()
    world.clock.advance(15 * minute)
    await until('the rollout', () => stuck().length > 0)
    world.server.faults.add({
      when: request => request.query.get('labelSelector') === 'app=exporter',
      answer: 'reset',
    })
    await until('the failure', () =>
      world.warnings.some(line => line.includes('rollouts could not be looked at')),
    )
    for (let n = 0; n < 5; n++) await watch.look()
    expect(world.gone.filter(({ kind }) => kind === 'stuck-rollout')).toEqual([])
  })

  test('a new Pod on the node is progress: the window begins anew', async () => {
    const { pod } = rollout()
    pod('exporter-b')
    world.watch()
    await looked()
    world.clock.advance(14 * minute)
    world.server.store.remove('pods', 'payments', 'exporter-b')
    const next = pod('exporter-c')
    await looked()
    world.clock.advance(14 * minute)
    await looked()
    expect(stuck()).toEqual([])
    world.clock.advance(minute)
    await until('the rollout', () => stuck().length === 1)
    expect(stuck()).toMatchObject([{ podUid: next.metadata.uid }])
  })
})
