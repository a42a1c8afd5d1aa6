import { type IncidentEvent, incidentStream } from '../../src/core/incident/incident.js'
import { closedChannels } from '../../src/flows/closed-channels.js'
import { publishThread } from '../../src/flows/publish-thread.js'
import type { History } from '../../src/ports.js'
import { bundleWithoutAnswers } from '../fakes/bundle.js'
import { fakeHistory } from '../fakes/history.js'
import { fakeLog } from '../fakes/log.js'
import { FakeThread } from '../fakes/thread.js'
import { leaked } from '../fakes/verdict.js'

const node = 'node-07'
const t0 = Date.UTC(2026, 10, 18, 11, 31)

type Said = IncidentEvent extends infer E ? (E extends IncidentEvent ? Omit<E, 'at' | 'by'> : never) : never

const world = async (channel = 'C1') => {
  const clock = { time: t0, now: () => clock.time }
  const kept = fakeHistory(clock)
  const unpacked: string[] = []
  const history: History = {
    ...kept,
    bundle: id => {
      unpacked.push(id)
      return kept.bundle(id)
    },
  }
  const thread = new FakeThread()
  const log = fakeLog()
  const closed = closedChannels(clock, log)
  const settings = { channel, incidentWindowMs: 3 * 86_400_000, timeZone: 'UTC' }
  const deps = {
    clusterName: 'prod-eu1',
    history,
    thread,
    clock,
    log,
    closedChannels: closed,
    approversNamed: '@sre',
    settings,
  }
  const add = async (...events: Said[]): Promise<void> => {
    const { length } = await history.read(incidentStream(node))
    await history.append(
      incidentStream(node),
      length,
      events.map(event => ({ at: clock.time, by: 'cnibot', ...event })),
    )
  }
  const collect = async (id: string, reason = 'no answer'): Promise<void> => {
    await history.keepBundle(id, bundleWithoutAnswers(node, clock.time), 86_400_000)
    await add({
      type: 'EvidenceCollected',
      bundle: id,
      counts: undefined,
      reason,
      verdict: leaked,
    })
  }
  const publish = () => publishThread(deps)({ node })
  await collect('b-1')
  await add({ type: 'Opened', why: 'it is full' })
  await publish()
  const errors = () => log.lines.filter(line => line.level === 'error').map(line => line.message)
  return { clock, thread, log, errors, closed, settings, unpacked, add, collect, publish }
}

const head = (thread: FakeThread) => {
  const heads = thread.posts.filter(post => post.threadTs === undefined)
  expect(heads).toHaveLength(1)
  return heads[0]?.ts ?? ''
}

test('what stands as it should is left alone', async () => {
  const { thread, publish } = await world()
  const before = structuredClone(thread.posts)
  expect(before.length).toBeGreaterThan(2)
  await publish()
  expect(thread.posts).toEqual(before)
  expect(thread.files).toHaveLength(1)
})

test('C3: a head that somebody deleted is posted anew once, and its thread stands under the new one', async () => {
  const { thread, publish, add } = await world()
  const old = head(thread)
  const keys = thread.posts.length
  thread.remove(old)
  await add({ type: 'Held' })
  await publish()
  const now = head(thread)
  expect(now).not.toBe(old)
  expect(thread.posts.filter(post => post.threadTs === now)).toHaveLength(keys - 1)
  expect(thread.files.map(file => file.threadTs)).toEqual([old, now])
  const count = thread.posts.length
  await publish()
  await add({ type: 'Released' })
  await publish()
  expect(thread.posts).toHaveLength(count)
})

test('a reply whose thread is gone leads to a new head as well', async () => {
  const { thread, publish, clock, collect } = await world()
  const old = head(thread)
  thread.remove(old)
  clock.time += 60_000
  await collect('b-2', 'the runtime is silent')
  await publish()
  const now = head(thread)
  expect(thread.posts.filter(post => post.threadTs === now).length).toBeGreaterThan(1)
})

test('a deleted reply is posted anew when it has something new to say, and nothing else is', async () => {
  const { thread, publish, clock, collect } = await world()
  const evidence = thread.posts.find(post => post.op.endsWith('/evidence-b-1'))
  const others = thread.posts.filter(post => post !== evidence).map(post => post.ts)
  thread.remove(evidence?.ts ?? '')
  await publish()
  expect(thread.posts.map(post => post.ts)).toEqual(others)
  clock.time += 60_000
  await collect('b-2')
  await publish()
  const again = thread.posts.filter(post => !others.includes(post.ts))
  expect(again.map(post => post.threadTs)).toEqual([head(thread)])
})

test('an archived channel is told once a minute and for readiness, and is no storm', async () => {
  const { thread, publish, add, closed, clock, errors } = await world()
  thread.closed.add('C1')
  await add({ type: 'Held' })
  for (let n = 0; n < 5; n++) await publish()
  expect(errors()).toEqual([expect.stringContaining('the channel is archived')])
  expect(closed.list()).toEqual([expect.stringContaining('C1')])
  clock.time += 60_000
  await publish()
  expect(errors()).toHaveLength(2)
  thread.closed.clear()
  await publish()
  expect(closed.list()).toEqual([])
  expect(thread.posts.find(post => post.ts === head(thread))?.edits).toBe(1)
})

test('a thread in an archived channel moves to the channel that is configured now', async () => {
  const { thread, publish, add, settings, closed } = await world()
  thread.closed.add('C1')
  settings.channel = 'C2'
  await add({ type: 'Held' })
  await publish()
  const moved = thread.posts.filter(post => post.channel === 'C2')
  expect(moved.map(post => post.threadTs)).toEqual([undefined, ...moved.slice(1).map(() => moved[0]?.ts)])
  expect(moved.length).toBeGreaterThan(2)
  expect(closed.list()).toEqual([])
})

test('of hundreds of readings only those are unpacked that the thread shows', async () => {
  const { publish, collect, unpacked, clock } = await world()
  for (let n = 2; n <= 300; n++) {
    clock.time += 60_000
    await collect(`b-${n}`)
  }
  unpacked.length = 0
  await publish()
  expect(unpacked).toEqual(['b-1', 'b-300'])
})
