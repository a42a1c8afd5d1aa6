import { type Ticket, ticketId } from '../../../src/core/incident/ticket.js'
import type { KubeObject } from '../../lab/store.js'
import { until } from './api.js'
import { exhausted, minute, startSymptomWorld, type SymptomWorld } from './symptom-world.js'

let world: SymptomWorld
beforeEach(async () => {
  world = await startSymptomWorld()
  for (const name of ['node-04', 'node-07', 'node-08']) world.node(name)
})
afterEach(() => world.close())
const symptom = (count = 1) => until(`${count} symptoms`, () => world.symptoms.length >= count)
const gone = (count = 1) => until(`${count} ends`, () => world.gone.length >= count)

describe('P-R2: how a stuck Pod ended', () => {
  const stuckPod = async (): Promise<KubeObject> => {
    const replicas = world.owner('ReplicaSet', 'api-5d4f', { kind: 'Deployment', name: 'api' })
    const pod = world.pod('api-5d4f-old', replicas)
    world.fails(pod)
    await symptom()
    return pod
  }

  test('deleted, and its replacement started elsewhere in four seconds', async () => {
    world.watch()
    const pod = await stuckPod()
    world.clock.advance(31 * minute)
    const deletedAt = world.clock.now()
    world.server.store.remove('pods', 'payments', 'api-5d4f-old')
    // The Deployment may have made a new ReplicaSet meanwhile: the workload is compared, not the controller.
    const next = world.owner('ReplicaSet', 'api-77c9', { kind: 'Deployment', name: 'api' })
    const replacement = world.pod('api-77c9-new', next, { node: 'node-04' })
    world.pod('unrelated', world.owner('ReplicaSet', 'web-1', { kind: 'Deployment', name: 'web' }), {
      node: 'node-04',
    })
    await gone()
    expect(world.gone).toMatchObject([{ end: { how: 'deleted', at: deletedAt, replacement: undefined } }])
    world.clock.advance(4_000)
    world.runs(replacement)
    await gone(2)
    const workload = { namespace: 'payments', kind: 'Deployment', name: 'api' }
    expect(world.gone[1]).toEqual({
      kind: 'stuck-sandbox',
      ticket: ticketId({ workload, podUid: pod.metadata.uid }),
      node: 'node-07',
      workload,
      pod: 'api-5d4f-old',
      podUid: pod.metadata.uid,
      end: {
        how: 'deleted',
        at: deletedAt,
        replacement: { pod: 'api-77c9-new', node: 'node-04', afterMs: 4_000 },
      },
    })
  })

  test('deleted without a replacement: told once, and no longer sought after ten minutes', async () => {
    const watch = world.watch()
    await stuckPod()
    world.server.store.remove('pods', 'payments', 'api-5d4f-old')
    await gone()
    world.clock.advance(10 * minute + 1)
    await until('nothing tracked', () => watch.kept().tracked === 0)
    expect(world.gone).toMatchObject([{ end: { how: 'deleted', replacement: undefined } }])
  })

  test('it got its sandbox after all', async () => {
    const watch = world.watch()
    const pod = await stuckPod()
    world.clock.advance(minute)
    world.runs(pod)
    await gone()
    expect(world.gone).toMatchObject([
      { pod: 'api-5d4f-old', end: { how: 'started', at: world.clock.now() } },
    ])
    await until('nothing tracked', () => watch.kept().tracked === 0)
  })

  test('left the Pending selection but has no sandbox: not over', async () => {
    const watch = world.watch()
    const pod = await stuckPod()
    const current = world.server.store.get('pods', 'payments', pod.metadata.name)
    if (!current) throw new Error('the Pod is not there')
    world.server.store.update('pods', { ...current, status: { ...current.status, phase: 'Running' } })
    await until(
      'the Pod to be read twice',
      () => world.asked.filter(({ verb, name }) => verb === 'get' && name === pod.metadata.name).length >= 2,
    )
    expect(world.gone).toEqual([])
    expect(watch.kept()).toMatchObject({ pods: 0, tracked: 1 })
    world.server.store.update('pods', {
      ...(world.server.store.get('pods', 'payments', pod.metadata.name) ?? current),
      status: { phase: 'Failed', conditions: [] },
    })
    await gone()
    expect(world.gone).toMatchObject([{ end: { how: 'finished' } }])
  })

  test('a Pod that is not watched is not read at every tick; a jump of the clock or another event is a reason', async () => {
    const load = { readPodMs: 60_000, longestReadPodMs: 120_000 }
    const watch = world.watch({ settings: { ...world.settings, load } })
    const pod = await stuckPod()
    const reads = () =>
      world.asked.filter(({ verb, name }) => verb === 'get' && name === pod.metadata.name).length
    const current = world.server.store.get('pods', 'payments', pod.metadata.name)
    if (!current) throw new Error('the Pod is not there')
    world.server.store.update('pods', { ...current, status: { ...current.status, phase: 'Running' } })
    await until('the Pod to be read once', () => reads() === 1)
    for (let n = 0; n < 20; n++) await watch.look()
    expect(reads()).toBe(1)
    world.clock.advance(minute)
    for (let n = 0; n < 20; n++) await watch.look()
    expect(reads()).toBe(2)
    world.fails(pod)
    await until('another event to be a reason', () => reads() === 3)
  })

  test('a replacement of the same name is another Pod', async () => {
    world.watch()
    const db = world.owner('StatefulSet', 'db')
    const pod = world.pod('db-0', db)
    world.fails(pod)
    await symptom()
    world.clock.advance(minute)
    world.server.store.remove('pods', 'payments', 'db-0')
    const next = world.pod('db-0', db)
    world.fails(next)
    await symptom(2)
    expect(world.symptoms.map(({ podUid }) => podUid)).toEqual([pod.metadata.uid, next.metadata.uid])
    world.clock.advance(5_000)
    world.runs(next)
    await gone(3)
    const ends = world.gone.map(({ podUid, end }) => [podUid, end.how, end.replacement?.pod])
    expect(ends).toEqual(
      expect.arrayContaining([
        [pod.metadata.uid, 'deleted', 'db-0'],
        [next.metadata.uid, 'started', undefined],
      ]),
    )
  })

  test('expired events end nothing: what was seen stays seen', async () => {
    const watch = world.watch()
    await stuckPod()
    for (const event of world.server.store.list('events'))
      world.server.store.remove('events', 'payments', event.metadata.name)
    await until('no events', () => watch.kept().events === 0)
    world.clock.advance(minute)
    await until('a tick later', () => watch.kept().tracked === 1)
    expect(world.gone).toEqual([])
    expect(world.symptoms).toHaveLength(1)
  })

  const earlier = (): Ticket => ({
    id: 'api-1',
    kind: 'stuck-sandbox',
    node: 'node-07',
    workload: { namespace: 'payments', kind: 'Deployment', name: 'api' },
    pod: 'api-5d4f-old',
    podUid: 'uid-of-old',
    since: world.clock.now() - 40 * minute,
    firstSeen: world.clock.now() - 40 * minute,
    lastSeen: world.clock.now() - 30 * minute,
    message: exhausted,
    exhausted: true,
    desired: undefined,
    ready: undefined,
    ended: undefined,
  })

  test('P-R2: a replacement is sought further by a process that starts after the end was told', async () => {
    const replicas = world.owner('ReplicaSet', 'api-5d4f', { kind: 'Deployment', name: 'api' })
    world.runs(world.pod('api-5d4f-new', replicas, { node: 'node-08' }))
    // Noticed late: the replacement is older than the end that was told.
    const end = { at: world.clock.now() + 60_000, how: 'deleted' as const, replacement: undefined }
    world.watch({ openTickets: [{ ...earlier(), ended: end }] })
    await gone()
    expect(world.gone).toMatchObject([
      { pod: 'api-5d4f-old', end: { at: end.at, replacement: { node: 'node-08' } } },
    ])
  })

  test('P-R2: a Pod that started long after the end is no replacement', async () => {
    const replicas = world.owner('ReplicaSet', 'api-5d4f', { kind: 'Deployment', name: 'api' })
    world.runs(world.pod('api-5d4f-late', replicas, { node: 'node-08' }))
    const end = {
      at: world.clock.now() - 10 * minute - 2_000,
      how: 'deleted' as const,
      replacement: undefined,
    }
    const watch = world.watch({ openTickets: [{ ...earlier(), ended: end }] })
    await until('nothing tracked', () => watch.kept().tracked === 0)
    expect(world.gone).toEqual([])
  })

  test('P-R2: of an end that was told, a Pod made after it is the replacement, not one made before', async () => {
    const replicas = world.owner('ReplicaSet', 'api-5d4f', { kind: 'Deployment', name: 'api' })
    world.runs(world.pod('api-5d4f-sibling', replicas, { node: 'node-04' }))
    world.clock.advance(minute)
    const end = { at: world.clock.now(), how: 'deleted' as const, replacement: undefined }
    world.runs(world.pod('api-5d4f-new', replicas, { node: 'node-08' }))
    world.watch({ openTickets: [{ ...earlier(), firstSeen: end.at - 5 * minute, ended: end }] })
    await gone()
    expect(world.gone).toMatchObject([{ end: { replacement: { pod: 'api-5d4f-new' } } }])
  })

  test('what ended while nobody watched is found out at the start', async () => {
    const ticket = earlier()
    const replicas = world.owner('ReplicaSet', 'api-5d4f', { kind: 'Deployment', name: 'api' })
    world.runs(world.pod('api-5d4f-new', replicas, { node: 'node-08' }))
    world.watch({
      openTickets: [
        ticket,
        { ...ticket, pod: 'x', podUid: 'y', ended: { at: 1, how: 'started', replacement: undefined } },
      ],
    })
    await gone()
    expect(world.gone).toMatchObject([
      {
        pod: 'api-5d4f-old',
        podUid: 'uid-of-old',
        end: { how: 'deleted', replacement: { node: 'node-08' } },
      },
    ])
  })
})
