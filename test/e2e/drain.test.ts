import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createHistory } from '../../src/adapters/redis/history.js'
import { runStream } from '../../src/core/incident/incident.js'
import type { RunEvent } from '../../src/core/runbook/run.js'
import { hasCondition } from '../lab/api/shapes.js'
import type { KubeObject } from '../lab/store.js'
import { saying, textOf, thread } from '../lab/driver.js'
import { movablePods } from '../lab/drain-story.js'
import { liveAddresses, nextDay, repairByClicks, tellStory } from '../lab/play.js'
import { brokenNode, small } from '../lab/story.js'
import type { World } from '../lab/world.js'
import { newest, openWorld, quiet } from './lab.js'

let world: World
let moving: Set<string>
let movedNames: Map<string, string>
let staying: string[]
let auditBefore = 0
let fewestReady = Infinity
let orphans: { address: string; owner: string }[] = []
let touched: string[] = []
const waited: string[] = []

const here = (): KubeObject[] => world.api.store.list('pods').filter(pod => pod.spec?.nodeName === brokenNode)
const uids = (pods: KubeObject[]): string[] => pods.map(({ metadata }) => metadata.uid ?? '').sort()

const isReady = (pod: KubeObject): boolean =>
  pod.metadata.deletionTimestamp === undefined && hasCondition(pod, 'Ready')

const databases = (): KubeObject[] =>
  world.api.store.list('pods', 'payments').filter(({ metadata }) => metadata.name.startsWith('payments-db-'))

const runEvents = async (): Promise<RunEvent[]> => {
  const history = createHistory({ url: world.redis.url, cluster: 'prod-eu1' })
  const [stream = ''] = await history.streams(runStream(brokenNode))
  const { events } = await history.read<RunEvent>(stream)
  await history.close()
  return events
}

/** At the moment the drain waits for the budget, its worker dies; the next one goes on. */
const killWorkerOnce = async (): Promise<void> => {
  // The head is drawn first, the card after it.
  waited.push(textOf(await saying(world, /^\*Drain the node[\s\S]*\D9 of 10, waiting for payments/)))
  await world.running('worker')?.kill('SIGKILL')
  await world.start('worker')
}

beforeAll(async () => {
  world = await openWorld(small.nodes)
  await tellStory(world, quiet, small, 'drain')
  moving = movablePods(world)
  movedNames = new Map(
    here().map(({ metadata }) => [metadata.uid ?? '', `${metadata.namespace}/${metadata.name}`]),
  )
  staying = uids(here().filter(({ metadata }) => !moving.has(metadata.uid ?? '')))
  orphans = world.nodes.node(brokenNode).orphans()
  auditBefore = world.api.audit.length
  world.api.store.onChange((_type, resource) => {
    if (resource === 'pods') fewestReady = Math.min(fewestReady, databases().filter(isReady).length)
  })
  const killed: Promise<void>[] = []
  const say = (line: string): void => {
    if (line.startsWith('the drain waits')) killed.push(killWorkerOnce())
  }
  await repairByClicks(world, { say }, 'drain')
  await Promise.all(killed)
  // The head is drawn first, the card after it.
  await saying(world, /\*Ended [\d:]+\*, completed: every step and every check/)
  const owners = new Map(
    world.nodes
      .node(brokenNode)
      .allocations()
      .map(a => [a.address, a.owner]),
  )
  touched = [...liveAddresses(world)].flatMap(([address, owner]) =>
    owners.get(address) === owner ? [] : [address],
  )
}, 600_000)
afterAll(() => world?.stop(), 120_000)

describe('must-show 3: the drain with a budget in the way', () => {
  const plan = (): string => newest(world, /^\*Approve: Drain node-07: evict 10 Pods\*/)
  const card = (): string => newest(world, /^\*Drain the node, then give leaked addresses back · node-07\*/)

  test('P-A4: the approver saw what moves, which budget is in the way, and whose data is lost', () => {
    expect(plan()).toMatch(/Evicts 10 Pods from node-07; 3 Pods of DaemonSets or the kubelet itself stay/)
    expect(plan()).toMatch(
      /Waiting for a budget \(PDB\), 1: payments\/payments-db-0, PDB payments-db allows 0/,
    )
    expect(plan()).toMatch(/Losing what is in an emptyDir, 1: payments\/payments-db-0 \(scratch\)/)
    expect(plan()).toMatch(/This cannot be undone/)
    const files = world.slack.files().map(({ content }) => content)
    const rows = files.find(text => text.includes('== Pods to evict (9)'))
    expect(rows?.match(/^shop\/storefront-\S+ · evict: /gm)).toHaveLength(9)
    expect(rows?.match(/^POST .*\/eviction .*"uid":/gm)).toHaveLength(10)
  })

  test('P-A4: while it waited the card said for what', () => {
    expect(waited[0]).toMatch(
      /9 of 10, waiting for payments\/payments-db-0: PDB payments-db allows 0 \(needs 2 healthy, has 2\)/,
    )
  })

  test('P-A4: the budget held at every moment, and the Pod went when there was room', () => {
    expect(fewestReady).toBe(2)
    const first = databases().find(({ metadata }) => metadata.name === 'payments-db-0')
    expect(first?.spec?.nodeName).not.toBe(brokenNode)
  })

  test('P-A4, B3: exactly the approved Pods left, each evicted once, across the kill -9 of the worker', () => {
    const still = new Set(uids(here()))
    expect([...moving].filter(uid => still.has(uid))).toEqual([])
    const asked = world.api.audit
      .slice(auditBefore)
      .filter(({ subresource }) => subresource === 'eviction')
      .map(({ namespace, name }) => `${namespace}/${name}`)
    expect(new Set(asked).size).toBe(10)
    // The budget refused at first; nobody else was asked twice.
    const [refused, others] = [asked.filter(name => name === 'payments/payments-db-0'), new Set(asked)]
    expect(refused.length).toBeGreaterThan(1)
    expect(asked.length - refused.length).toBe(others.size - 1)
  })

  test('P-A4, B2: the record names each of them once as evicted, those of the killed worker too, and none as gone', async () => {
    const names = [...moving].map(uid => movedNames.get(uid) ?? uid).sort()
    const events = await runEvents()
    const done = events.flatMap(event =>
      event.type === 'StepDone' && 'evicted' in event.done.data ? [event.done.data] : [],
    )
    expect(done.map(({ evicted, gone }) => ({ evicted: evicted.toSorted(), gone }))).toEqual([
      { evicted: names, gone: [] },
    ])
    const accepted = events.flatMap(event => (event.type === 'StepProgressed' ? (event.evicted ?? []) : []))
    expect(accepted.map(({ uid }) => uid).sort()).toEqual([...moving].sort())
  })

  test('P-A4: DaemonSet Pods stayed where they were', () => {
    const now = new Set(uids(here()))
    expect(staying.filter(uid => !now.has(uid))).toEqual([])
  })

  test('P-A4: then what was not live was removed, and nothing else', () => {
    expect(card()).toMatch(
      /✓ node drained .*3 Pods of DaemonSets or the kubelet itself stay, ready sandboxes 3/,
    )
    expect(card()).toMatch(/✓ Remove 243 addresses .* 243 moved, 0 skipped/)
    expect(card()).toMatch(/completed: every step and every check/)
    expect(orphans).toHaveLength(243)
    expect(world.nodes.node(brokenNode).orphans()).toEqual([])
    expect(touched).toEqual([])
  })

  test('P-V7: it ends proven', async () => {
    await nextDay(world, quiet)
    expect(textOf(thread(world)[0]!)).toMatch(
      /^🟢 \*node-07 resolved\*.*\n10 Pods evicted \(9 of them before this worker took over\).*243 moved/,
    )
  }, 600_000)
})
