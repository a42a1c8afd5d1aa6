import { pendingPods, type SymptomWatch } from '../../../src/adapters/kubernetes/symptoms.js'
import type { StuckSandbox } from '../../../src/core/incident/symptom.js'
import { captured } from '../../unit/kubernetes/captured.js'
import { until } from './api.js'
import { exhausted, minute, startSymptomWorld, type SymptomWorld } from './symptom-world.js'

let world: SymptomWorld
const begin = async (startAt?: number) => {
  world = await startSymptomWorld(startAt)
  for (const name of ['node-04', 'node-07', 'node-08', 'node-09']) world.node(name)
}
afterEach(() => world.close())
const symptom = (count = 1) => until(`${count} symptoms`, () => world.symptoms.length >= count)
/** So many Pods and events have arrived, and whatever would be reported by now has been. */
const looked = async (watch: SymptomWatch, kept: Record<string, number> = {}) => {
  await until('all four watches', () => watch.health().every(({ lastProofOfLife }) => lastProofOfLife > 0))
  await until('all objects', () =>
    Object.entries(kept).every(([name, count]) => watch.kept()[name] === count),
  )
  await watch.look()
}

describe('C1: stuck sandboxes', () => {
  beforeEach(() => begin())

  test('an exhausted range counts at once, and the Deployment is named', async () => {
    const replicas = world.owner('ReplicaSet', 'api-5d4f', { kind: 'Deployment', name: 'api' })
    world.watch()
    const pod = world.pod('api-5d4f-x', replicas)
    world.fails(pod)
    await symptom()
    expect(world.symptoms).toEqual([
      {
        kind: 'stuck-sandbox',
        node: 'node-07',
        workload: { namespace: 'payments', kind: 'Deployment', name: 'api' },
        pod: 'api-5d4f-x',
        podUid: pod.metadata.uid,
        since: world.clock.now(),
        message: exhausted,
        exhausted: true,
      },
    ])
  })

  test('any other wait counts after the threshold, once', async () => {
    const watch = world.watch()
    world.pod('api-0', world.owner('StatefulSet', 'api'))
    await looked(watch, { pods: 1 })
    world.clock.advance(5 * minute - 1)
    await looked(watch)
    expect(world.symptoms).toEqual([])
    world.clock.advance(1)
    await symptom()
    await looked(watch)
    expect(world.symptoms).toMatchObject([{ pod: 'api-0', exhausted: false, message: undefined }])
  })

  test('it is told again when the range turns out to be exhausted, and not for the next event', async () => {
    const watch = world.watch()
    const pod = world.pod('api-0', undefined)
    world.clock.advance(6 * minute)
    await symptom()
    world.fails(pod)
    await symptom(2)
    world.fails(pod)
    await looked(watch, { events: 2 })
    expect(world.symptoms.map(each => each.kind === 'stuck-sandbox' && each.exhausted)).toEqual([false, true])
  })

  test('a volume that does not mount is not the sandbox', async () => {
    const watch = world.watch()
    const pod = world.pod('api-0', undefined)
    world.server.store.create('events', {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'payments', name: 'api-0.mount' },
      involvedObject: { kind: 'Pod', namespace: 'payments', name: 'api-0', uid: pod.metadata.uid },
      reason: 'FailedMount',
      message: 'MountVolume.SetUp failed for volume "config": configmap "api" not found',
      type: 'Warning',
      lastTimestamp: world.iso(),
    })
    world.clock.advance(20 * minute)
    await until('the events to be asked for', () =>
      world.asked.some(({ query }) => query.get('fieldSelector')?.includes('type=Warning') === true),
    )
    await looked(watch)
    expect(world.symptoms).toEqual([])
  })

  test('own test Pods, host-network Pods and Pods on a node that is gone open nothing', async () => {
    const watch = world.watch()
    world.fails(world.pod('cnibot-test', undefined, { labels: { 'cnibot.io/test-pod': 'true' } }))
    world.fails(world.pod('host', undefined, { hostNetwork: true }))
    world.fails(world.pod('lost', undefined, { node: 'node-66' }))
    world.clock.advance(20 * minute)
    await looked(watch, { pods: 3, events: 3 })
    expect(world.symptoms).toEqual([])
  })

  test('one that cannot be recorded is told again', async () => {
    let failures = 0
    const pods: string[] = []
    world.watch({
      onSymptom: async each => {
        failures += 1
        if (failures < 3) throw new Error('redis is away')
        pods.push(each.pod ?? '')
      },
    })
    world.fails(world.pod('api-0', undefined))
    await until('the third attempt', () => pods.length === 1)
    expect(pods).toEqual(['api-0'])
    expect(world.warnings.join('\n')).toContain('redis is away')
  })

  test('memory follows what is not running: the server selects, and little is kept', async () => {
    for (let n = 0; n < 400; n += 1) world.runs(world.pod(`fine-${n}`, undefined, { node: 'node-08' }))
    for (let n = 0; n < 3; n += 1) world.fails(world.pod(`stuck-${n}`, undefined))
    const watch = world.watch()
    await symptom(3)
    expect(watch.kept()).toEqual({ nodes: 4, pods: 3, events: 3, daemonsets: 0, tracked: 3 })
    const selectors = world.asked
      .filter(({ verb }) => verb === 'watch' || verb === 'list')
      .map(({ type, query }) => `${type.resource} ${query.get('fieldSelector') ?? 'all'}`)
    expect([...new Set(selectors)].sort((a, b) => a.localeCompare(b))).toEqual([
      'daemonsets all',
      'events reason=FailedCreatePodSandBox',
      'nodes all',
      `pods ${pendingPods}`,
    ])
  })

  test('Pods that start as they should cost no call', async () => {
    const watch = world.watch()
    const pods = ['a', 'b', 'c'].map(name => world.pod(name, undefined))
    await until('the Pods', () => watch.kept().pods === 3)
    for (const pod of pods) world.runs(pod)
    await until('none left', () => watch.kept().pods === 0 && watch.kept().tracked === 0)
    expect(world.asked.filter(({ verb }) => verb === 'get')).toEqual([])
  })
})

describe('C1: victims that are not Pending', () => {
  test('the captured Pods after a reboot: Running, no sandbox, named by their events', async () => {
    await begin(Date.parse('2026-11-30T15:57:30Z'))
    const { store } = world.server
    const uids = new Map<string, string>()
    for (const pod of captured.pods('kube-reboot-victims')) {
      const made = store.create('pods', JSON.parse(JSON.stringify({ apiVersion: 'v1', kind: 'Pod', ...pod })))
      uids.set(made.metadata.name, made.metadata.uid ?? '')
    }
    for (const event of captured.events('kube-reboot-victims')) {
      const uid = uids.get(event.involvedObject.name ?? '') ?? 'gone-by-now'
      const involvedObject = { ...event.involvedObject, uid }
      store.create(
        'events',
        JSON.parse(JSON.stringify({ apiVersion: 'v1', kind: 'Event', ...event, involvedObject })),
      )
    }
    const watch = world.watch()
    await symptom(3)
    await looked(watch)
    const found = world.symptoms.map(each => [each.pod, each.node, (each as StuckSandbox).exhausted])
    expect(found.sort((a, b) => String(a[0]).localeCompare(String(b[0])))).toEqual([
      ['checkout-85769cfbf8-5rkqk', 'node-07', true],
      ['checkout-85769cfbf8-69jsm', 'node-07', true],
      ['checkout-85769cfbf8-kfqnf', 'node-07', true],
    ])
    expect(watch.kept()).toMatchObject({ pods: 0, tracked: 3 })
  })
})
