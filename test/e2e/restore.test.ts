import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Redis } from 'ioredis'
import { buttonsOf, saying, textOf, thread } from '../lab/driver.js'
import { insist } from '../lab/play.js'
import { brokenNode, small } from '../lab/story.js'
import type { World } from '../lab/world.js'
import { newest, openWorld, untilAsked } from './lab.js'
import { cnibot, type Ended } from './run.js'

let world: World
const store = '/var/lib/cni/networks/k8s-pod-network'
const node = () => world.nodes.node(brokenNode)

/** Content, mode, owner, time and inode of every address file. */
const files = (): Map<string, string> => {
  const folder = join(node().root, store)
  const names = readdirSync(folder).filter(name => /^[0-9.]+$/.test(name))
  return new Map(
    names.map(name => {
      const { mode, uid, gid, mtimeNs, ino } = statSync(join(folder, name), { bigint: true })
      return [name, [readFileSync(join(folder, name), 'latin1'), mode, uid, gid, mtimeNs, ino].join(' ')]
    }),
  )
}

const audit = (...args: string[]): Promise<Ended> => {
  const { CNIBOT_REDIS_URL = '', CNIBOT_CLUSTER = '' } = world.env('bot')
  return cnibot(['audit', ...args], { CNIBOT_REDIS_URL, CNIBOT_CLUSTER })
}

/** Approves or ticks whatever waits until this button is there. */
const approveUntil = async (title: RegExp): Promise<void> => {
  const seen = new Set<string>()
  for (;;) {
    const found = await world.slack.waitFor(
      () =>
        thread(world).findLast(
          m => !seen.has(m.ts) && buttonsOf(m).some(b => /^cnibot:(approve|tick)$/.test(String(b.action_id))),
        ),
      180_000,
      'a plan that waits',
    )
    seen.add(found.ts)
    if (title.test(textOf(found))) return
    const button = buttonsOf(found).find(b => /:(approve|tick)$/.test(String(b.action_id)))
    await insist(world, found.ts, String(button?.action_id))
  }
}

/** Presses until somebody answers: a machine under load may take longer than Slack waits. */
const click = async (action: string): Promise<void> => {
  const actionId = `cnibot:${action}`
  const found = await world.slack.waitFor(
    () => thread(world).find(m => buttonsOf(m).some(b => b.action_id === actionId)),
    180_000,
    `a button ${action}`,
  )
  await insist(world, found.ts, actionId)
}

beforeAll(async () => {
  world = await openWorld(small.nodes)
  await untilAsked(world)
}, 600_000)
afterAll(() => world?.stop(), 120_000)

let before: Map<string, string>
let newcomer: { id: string; address: string }

test('must-show 5, B4: one click puts back what was removed, byte for byte, but for an address given out since', async () => {
  const [some = ''] = [...files()].flatMap(([ip]) =>
    node()
      .orphans()
      .some(o => o.address === ip)
      ? [ip]
      : [],
  )
  chmodSync(join(node().root, store, some), 0o640)
  before = files()
  await click('compare')
  await click('reconcile')
  await approveUntil(/^\*Approve: Test Pod/)
  expect(node().orphans()).toEqual([])
  const gone = [...before.keys()].filter(ip => !files().has(ip))
  expect(gone).toHaveLength(243)
  const { id, network } = await node().add({
    namespace: 'payments',
    name: 'newcomer',
    uid: crypto.randomUUID(),
  })
  newcomer = { id, address: network?.address ?? '' }
  expect(gone).toContain(newcomer.address)
  const theirs = files().get(newcomer.address)

  await click('undo')
  await saying(world, /Ended .*undone, but for 1 address that could not be put back/)
  const after = files()
  expect(after.get(newcomer.address)).toBe(theirs)
  const changed = gone.filter(ip => ip !== newcomer.address && after.get(ip) !== before.get(ip))
  expect(changed).toEqual([])
  expect(after.get(some)).toBe(before.get(some))
  expect(world.api.store.get('nodes', undefined, brokenNode)?.spec?.unschedulable).toBeUndefined()
}, 600_000)

test('B4: the card names what could not be put back and who has it now', () => {
  const card = newest(world, /^\*Give leaked addresses back/)
  expect(card).toMatch(
    /^○ .* — undone: 242 addresses put back; 1 could not be: its file stays in \/var\/lib\/cni\/cnibot-quarantine\//m,
  )
  expect(card).toContain(`${newcomer.address}: given out since, to sandbox ${newcomer.id.slice(0, 13)}…`)
})

test('the record of all of it is whole, says who approved which plan, and shows a changed entry', async () => {
  const ended = await audit('verify')
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  expect(ended.stdout).toMatch(
    /^\d+ entries, whole, from 2026-11-17T\S+Z to 2026-11-1\dT\S+Z, head [0-9a-f]{8}; \d plans give their digests again\n$/,
  )
  const { stdout } = await audit('export', '--node', brokenNode)
  const entries = stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>)
  const of = (type: string) => entries.filter(entry => entry.type === type)
  for (const approved of of('StepApproved')) {
    const plan = of('StepPlanned').find(entry => entry.plan === approved.plan)
    expect(plan).toMatchObject({ says: expect.any(String), commands: [expect.any(String)] })
    const digest = String(approved.plan).slice(0, 8)
    expect(
      of('Posted')
        .map(({ shown }) => JSON.stringify(shown))
        .join('\n'),
    ).toContain(`-${digest}`)
  }
  expect(of('StepApproved').map(({ by }) => by)).toEqual(['UAPPROVER', 'UAPPROVER'])
  expect(of('UndoAsked')).toMatchObject([{ by: 'UAPPROVER' }])
  expect(of('UndoDone').map(({ says }) => says)).toEqual([
    expect.stringMatching(/^242 addresses put back; 1 could not be/),
    'schedulable again, as it was before',
  ])
  const redis = new Redis(world.redis.url, { disconnectTimeout: 100 })
  const key = 'cnibot:{prod-eu1}:audit'
  const line = (await redis.lrange(key, 0, -1)).findIndex(text => text.includes('"StepApproved"'))
  await redis.lset(key, line, ((await redis.lindex(key, line)) ?? '').replace('UAPPROVER', 'USOMEBODY'))
  redis.disconnect()
  expect(await audit('verify')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(new RegExp(`^broken at entry ${line + 1}: entry ${line + 1} was changed`)),
  })
}, 120_000)
