import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { createHistory, type RedisHistory } from '../../../src/adapters/redis/history.js'
import { readLine } from '../../../src/core/audit/chain.js'
import { verifyAudit } from '../../../src/flows/verify-audit.js'
import { type LabRedis, startRedis } from '../../lab/redis.js'
import { bundled, type Program } from './bundled.js'

const cluster = 'prod-eu1'
let redis: LabRedis
let writer: Program
const opened: RedisHistory[] = []
const open = (deadlineMs = 5_000): RedisHistory => {
  const history = createHistory({ url: redis.url, cluster, deadlineMs })
  opened.push(history)
  return history
}

beforeAll(async () => {
  writer = await bundled('test/integration/redis/audit-writer.ts')
})
afterAll(() => writer.remove())
beforeEach(async () => {
  redis = await startRedis()
})
afterEach(async () => {
  for (const history of opened.splice(0)) await history.close()
  await redis.stop()
})

interface Fact {
  by: string
  n: number
}

/** What the histories hold of what belongs on the record, and what the chain holds. */
const bothSides = async (): Promise<{ events: Fact[]; entries: Fact[] }> => {
  const history = open()
  const events: Fact[] = []
  for (const stream of await history.streams('run/'))
    for (const { at, by, type } of (await history.read<{ at: number; by: string; type: string }>(stream))
      .events)
      if (type === 'StepApproved') events.push({ by, n: at })
  const lines = await history.audit.lines(0, 1_000_000)
  const entries = lines.map(line => {
    const { at = -1, by = '' } = readLine(line)?.entry ?? {}
    return { by, n: at }
  })
  const sorted = (facts: Fact[]) => facts.toSorted((a, b) => a.by.localeCompare(b.by) || a.n - b.n)
  return { events: sorted(events), entries: sorted(entries) }
}

const wholeAndEqual = async (): Promise<Fact[]> => {
  const history = open()
  expect(await verifyAudit({ history, audit: history.audit, cluster })).toMatchObject({
    whole: true,
  })
  const { events, entries } = await bothSides()
  expect(entries).toEqual(events)
  return entries
}

/** A chance that is the same at each run. */
const chance = (seed: number) => {
  let state = seed
  return (most: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state % most
  }
}

test('B3: six processes that write to the same histories leave one entry for each event and one event for each entry', async () => {
  const writes = 60
  const writers = Array.from({ length: 6 }, async (_, w) => {
    const history = open(20_000)
    for (let n = 0; n < writes; ) {
      const stream = `run/node-${n % 3}.1-r1`
      const { length } = await history.read(stream)
      const event = { at: n, by: `w${w}`, type: 'StepApproved', index: n }
      if (await history.append(stream, length, [event])) n += 1
    }
  })
  await Promise.all(writers)
  expect(await wholeAndEqual()).toHaveLength(6 * writes)
}, 120_000)

test('a record that is proven while others write to it is whole each time', async () => {
  let writing = true
  const writers = Array.from({ length: 3 }, async (_, w) => {
    const history = open(20_000)
    for (let n = 0; writing; n++)
      await history.append(`run/node-${w}.1-r1`, n, [{ at: n, by: `w${w}`, type: 'StepApproved', index: n }])
  })
  const history = open()
  let entries = 0
  for (let look = 0; look < 5; look++) {
    const verdict = await verifyAudit({ history, audit: history.audit, cluster })
    expect(verdict).toMatchObject({ whole: true })
    if (verdict.whole) entries = verdict.entries
  }
  writing = false
  await Promise.all(writers)
  expect(entries).toBeGreaterThan(5)
}, 120_000)

test('B3: writers killed in the middle of an append leave neither an event without its entry nor an entry without its event', async () => {
  const random = chance(7)
  const said = new Map<string, number>()
  const live: ChildProcess[] = []
  /** Resolves when it was killed, after it has said so many appends. */
  const oneLife = (name: string, appends: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [writer.path, redis.url, cluster, name, '3'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      live.push(child)
      let count = 0
      createInterface({ input: child.stdout }).on('line', () => {
        count += 1
        said.set(name, count)
        if (count === appends) child.kill('SIGKILL')
      })
      child.once('error', reject)
      child.once('close', (_code, signal) =>
        signal === 'SIGKILL' ? resolve() : reject(new Error(`${name} ended by itself`)),
      )
    })
  const lives = Array.from({ length: 4 }, async (_, w) => {
    for (let life = 0; life < 6; life++) await oneLife(`w${w}-${life}`, 1 + random(25))
  })
  try {
    await Promise.all(lives)
  } finally {
    for (const child of live) child.kill('SIGKILL')
  }
  const entries = await wholeAndEqual()
  for (const [name, count] of said)
    expect(entries.filter(entry => entry.by === name).length).toBeGreaterThanOrEqual(count)
  expect(said.size).toBe(24)
}, 180_000)

test('B3: a server that is killed under writers comes back with both sides or neither', async () => {
  let crash: Promise<void> | undefined
  let written = 0
  const writers = Array.from({ length: 4 }, async (_, w) => {
    const history = open(30_000)
    for (let n = 0; n < 80; n++) {
      const stream = `run/node-${w}.1-r1`
      expect(await history.append(stream, n, [{ at: n, by: `w${w}`, type: 'StepApproved', index: n }])).toBe(
        true,
      )
      written += 1
      if (written === 120) crash = redis.kill9().then(() => redis.restart())
    }
  })
  await Promise.all(writers)
  await crash
  expect(await wholeAndEqual()).toHaveLength(4 * 80)
}, 120_000)
