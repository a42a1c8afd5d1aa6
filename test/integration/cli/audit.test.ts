import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { createHistory, type RedisHistory } from '../../../src/adapters/redis/history.js'
import { type Plan, planDigest, planSubject } from '../../../src/core/runbook/plan.js'
import type { RunEvent } from '../../../src/core/runbook/run.js'
import { type LabRedis, startRedis } from '../../lab/redis.js'
import { done, event, fold, opened, planOf, t0 } from '../../unit/runbook/runs.js'
import { bundled, type Program } from '../redis/bundled.js'

const cluster = 'prod-eu1'
const chainKey = `cnibot:{${cluster}}:audit`
const run = 'node-07.1-r1'
const runKey = `cnibot:{${cluster}}:history:run/${run}`
let program: Program
let redis: LabRedis
let raw: Redis
let history: RedisHistory
let dir: string

interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** `cnibot audit …` as a person starts it. */
const audit = (args: string[], env: Record<string, string> = store()): Promise<Ended> =>
  new Promise(resolve => {
    execFile(
      process.execPath,
      [program.path, 'audit', ...args],
      { env: { PATH: process.env.PATH ?? '', ...env }, maxBuffer: 64 * 1024 * 1024, timeout: 60_000 },
      (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
    )
  })
const store = (): Record<string, string> => ({ CNIBOT_REDIS_URL: redis.url, CNIBOT_CLUSTER: cluster })

const plan: Plan = { ...planOf('cordon'), commands: ['PATCH /api/v1/nodes/node-07'], title: 'Cordon node-07' }
const digest = planDigest(plan, planSubject(fold(opened()), 0))
const story: RunEvent[] = [
  opened(),
  event(1, 'StepPlanned', { index: 0, plan, digest, expiresAt: t0 + 1_800_000 }),
  event(2, 'StepApproved', { by: 'U2', index: 0, digest }),
  event(3, 'StepStarted', { index: 0 }),
  done(0, 'cordon', true),
]

/** A node's run as bot and worker write it, and beside it another node's trouble. */
const write = async (): Promise<void> => {
  const posted = {
    at: t0 + 1,
    type: 'Posted',
    key: `plan-${run}-0-${digest.slice(0, 8)}`,
    channel: 'C1',
    ts: '1.1',
    digest: 'm',
  }
  await history.append('incident/node-07', 0, [
    { at: t0, by: 'U1', type: 'RunOpened', run, runbook: 'small' },
  ])
  for (const [i, each] of story.entries()) {
    await history.append(`run/${run}`, i, [each])
    if (i === 1) await history.append('thread/node-07.1', 0, [posted])
  }
  await history.append('incident/node-08', 0, [
    { at: t0 + 5, by: 'U3', type: 'ClosedByHand', reason: 'replaced' },
  ])
}

beforeAll(async () => {
  program = await bundled('src/cli.ts')
})
afterAll(() => program.remove())
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'cnibot-audit-'))
  redis = await startRedis()
  raw = new Redis(redis.url, { disconnectTimeout: 100 })
  history = createHistory({ url: redis.url, cluster })
  await write()
})
afterEach(async () => {
  await history.close()
  raw.disconnect()
  await redis.stop()
  rmSync(dir, { recursive: true, force: true })
})

const whole = (more = ''): RegExp =>
  new RegExp(
    `^8 entries, whole, from 2026-11-18T11:31:00\\.000Z to 2026-11-18T11:31:00\\.005Z, head [0-9a-f]{8}; 1 plan gives its digest again${more}\n$`,
  )

test('says of an untouched record that it is whole, from when to when, with its head', async () => {
  expect(await audit(['verify'])).toEqual({ code: 0, stdout: expect.stringMatching(whole()), stderr: '' })
  const flags = ['--redis-url', redis.url, '--cluster', cluster]
  expect(await audit(['verify', ...flags], {})).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(whole()),
  })
  const noted = (await history.audit.head())?.hash.slice(0, 8) ?? ''
  expect(await audit(['verify', '--head', noted])).toMatchObject({ code: 0 })
  await raw.del(chainKey, runKey)
  for (const key of await raw.keys('*:history:*')) await raw.del(key)
  expect(await audit(['verify'])).toEqual({
    code: 0,
    stdout: '0 entries: nothing is on the record yet\n',
    stderr: '',
  })
})

const line = async (n: number): Promise<string> => (await raw.lindex(chainKey, n - 1)) ?? ''
const changeEvent = async (position: number, change: (text: string) => string): Promise<void> => {
  await raw.lset(runKey, position, change((await raw.lindex(runKey, position)) ?? ''))
}

test.each<[string, () => Promise<unknown>, RegExp]>([
  [
    'another name put on an approval',
    async () => raw.lset(chainKey, 4, (await line(5)).replace('"U2"', '"U9"')),
    /^broken at entry 5: entry 5 was changed: its text .* no longer gives its hash$/,
  ],
  [
    'an entry taken out',
    async () => raw.lrem(chainKey, 1, await line(5)),
    /^broken at entry 5: entry 5 is missing: entry 6 follows entry 4$/,
  ],
  [
    'an entry put in',
    async () => raw.linsert(chainKey, 'AFTER', await line(5), await line(3)),
    /^broken at entry 6: an entry was inserted behind entry 5: it calls itself 3 again$/,
  ],
  [
    'two entries in each other’s place',
    async () => {
      const [fifth, sixth] = [await line(5), await line(6)]
      await raw.lset(chainKey, 4, sixth)
      await raw.lset(chainKey, 5, fifth)
    },
    /^broken at entry 5: entry 5 was moved: it stands at place 6$/,
  ],
  [
    'an end cut off while its histories are there',
    () => raw.ltrim(chainKey, 0, 5),
    /^broken at entry 7: run\/node-07\.1-r1 holds 5 events that belong on the record, and the chain has 4 of them/,
  ],
  [
    'all of it taken away',
    () => raw.del(chainKey),
    /^broken at entry 1: run\/node-07\.1-r1 holds 5 events that belong on the record, and the chain has 0 of them/,
  ],
  [
    'another result written into a history',
    () => changeEvent(4, text => text.replace('cordon done', 'nothing done')),
    /^broken at entry 7: event 5 of run\/node-07\.1-r1 was changed: it is not the event that entry 7 tells of$/,
  ],
  [
    'another command written into an approved plan',
    () => changeEvent(1, text => text.replace('nodes/node-07', 'nodes/node-08')),
    /^broken at entry 3: event 2 of run\/node-07\.1-r1 was changed/,
  ],
  [
    'an approval written into a history, past the record',
    async () => raw.rpush(runKey, (await raw.lindex(runKey, 2)) ?? ''),
    /^broken at entry 9: run\/node-07\.1-r1 holds 6 events that belong on the record, and the chain has 5 of them/,
  ],
  [
    'a history that lost its end',
    () => raw.ltrim(runKey, 0, 2),
    /^broken at entry 6: entry 6 tells of event 4 of run\/node-07\.1-r1, and that history has only 3 events$/,
  ],
])('exit code 1 and the first place that breaks: %s', async (_what, tamper, says) => {
  await tamper()
  const { code, stdout, stderr } = await audit(['verify'])
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  expect(stdout.trimEnd()).toMatch(says)
})

test('a plan whose digest was never that of what it says is found although every entry fits', async () => {
  const wrong = event(5, 'StepPlanned', { index: 1, plan, digest: 'f'.repeat(64), expiresAt: t0 })
  await history.append(`run/${run}`, 5, [wrong])
  const { code, stdout } = await audit(['verify'])
  expect(code).toBe(1)
  expect(stdout).toMatch(
    /^broken at entry 9: the plan of entry 9 does not give the digest that was approved: event 6 of run/,
  )
})

test('an end cut off together with its histories is found by a noted head', async () => {
  const noted = (await history.audit.head())?.hash ?? ''
  await raw.ltrim(chainKey, 0, 6)
  await raw.del(`cnibot:{${cluster}}:history:incident/node-08`)
  expect(await audit(['verify'])).toMatchObject({ code: 0 })
  const { code, stdout } = await audit(['verify', '--head', noted])
  expect(code).toBe(1)
  expect(stdout).toContain(
    `the head ${noted} is not in the chain, which ends with entry 7: its tail was cut off`,
  )
})

test('a whole history that was taken away is named', async () => {
  await history.forget(`run/${run}`, 1)
  await raw.pexpire(runKey, -1)
  const { code, stdout } = await audit(['verify'])
  expect(code).toBe(1)
  expect(stdout).toMatch(/tells of event 1 of run\/\S+, and that history is gone/)
})

const exported = async (...args: string[]): Promise<Record<string, unknown>[]> => {
  const { code, stdout, stderr } = await audit(['export', ...args])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
    .split('\n')
    .filter(text => text !== '')
    .map(text => JSON.parse(text) as Record<string, unknown>)
}

test('exports JSON lines: all, those of a node, those since a time', async () => {
  const all = await exported()
  expect(all.map(({ n, type }) => [n, type])).toEqual([
    [1, 'RunOpened'],
    [2, 'RunOpened'],
    [3, 'StepPlanned'],
    [4, 'Posted'],
    [5, 'StepApproved'],
    [6, 'StepStarted'],
    [7, 'StepDone'],
    [8, 'ClosedByHand'],
  ])
  expect(all[4]).toMatchObject({
    by: 'U2',
    plan: digest,
    node: 'node-07',
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(all[5]?.previous).toBe(all[4]?.hash)
  expect((await exported('--node', 'node-08')).map(({ n }) => n)).toEqual([8])
  expect((await exported('--since', '2026-11-18T11:31:00.003Z')).map(({ n }) => n)).toEqual([6, 8])
  expect(await exported('--since', '2031-01-01')).toEqual([])
})

test('an export is proven by itself, and a changed line of it is named', async () => {
  const { stdout } = await audit(['export'])
  const file = join(dir, 'record.jsonl')
  writeFileSync(file, stdout)
  const flags = ['--cluster', cluster, '--file', file]
  expect(await audit(['verify', ...flags], {})).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^8 entries, whole, /),
  })
  writeFileSync(file, stdout.replace('"by":"U2"', '"by":"U9"'))
  expect(await audit(['verify', ...flags], {})).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^broken at entry 5: entry 5 was changed/),
  })
  expect(await audit(['verify', '--cluster', 'prod-us1', '--file', file], {})).toMatchObject({
    code: 1,
    stdout:
      "broken at entry 1: entry 1 does not begin the chain of cluster prod-us1: it is another cluster's\n",
  })
})

test('bad input gives one line, and nothing is asked', async () => {
  const cases: [string[], number, RegExp][] = [
    [['verify', '--head', 'xyz'], 2, /^cnibot: --head xyz: give at least the first 8 hex digits of a hash/],
    [['verify', '--file', '/nowhere/x'], 2, /^cnibot: \/nowhere\/x cannot be read \(ENOENT\); give the file/],
    [['export', '--since', 'tuesday'], 2, /^cnibot: --since tuesday: give a time such as 7d, 2026-11-18/],
    [
      ['verify', '--redis-url', 'http://x'],
      2,
      /CNIBOT_REDIS_URL is set, but must be an address such as redis:\/\/host:6379/,
    ],
  ]
  for (const [args, code, says] of cases) {
    const ended = await audit(args)
    expect(ended).toMatchObject({ code, stdout: '' })
    expect(ended.stderr).toMatch(says)
  }
  const away = await audit(['verify'], { CNIBOT_CLUSTER: cluster })
  expect(away.stderr).toContain('CNIBOT_REDIS_URL is missing')
})

test('a long record is exported in parts, a slow reader holds it up, and one that stops early is no error', async () => {
  const many = Array.from({ length: 3_000 }, (_, i) => event(i, 'StepApproved', { index: i, digest }))
  await history.append('run/node-09.1-r1', 0, many)
  expect(await exported('--node', 'node-09')).toHaveLength(3_000)
  const { execFile: start } = await import('node:child_process')
  const early = await new Promise<{ stdout: string; failed: boolean }>(resolve => {
    start(
      '/bin/sh',
      ['-c', `"$NODE" "$PROGRAM" audit export | head -n 2; echo done`],
      { env: { PATH: process.env.PATH ?? '', NODE: process.execPath, PROGRAM: program.path, ...store() } },
      (error, stdout, stderr) => resolve({ stdout, failed: error !== null || stderr !== '' }),
    )
  })
  expect(early.failed).toBe(false)
  expect(early.stdout.trimEnd().split('\n')).toHaveLength(3)
})
