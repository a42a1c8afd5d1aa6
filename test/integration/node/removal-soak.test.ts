import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { probeScript } from '../../../src/adapters/ssh/scripts.js'
import type { NodeAnswers } from '../../../src/core/evidence/bundle.js'
import { readNodeAnswers } from '../../../src/core/evidence/parse/answers.js'
import { decide } from '../../soak/removal/decisions.js'
import { PluginShells } from '../../soak/removal/plugin-shells.js'
import { quickLook } from '../../soak/removal/quick-look.js'
import type { Soaked } from '../../soak/removal/report.js'
import type { RuntimeKind } from '../../soak/removal/runtime-kinds.js'
import { SoakNode, storeDir } from '../../soak/removal/soak-node.js'
import { programs, run, value } from './on-node.js'

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const careless = path('../../fixtures/careless-cleanup/careless.sh')

const soak = async (...args: string[]): Promise<{ code: number | null; soaked: Soaked }> => {
  const argv = [process.execPath, path('../../soak/removal/run.mjs'), '--json', ...args]
  const { code, stdout, stderr } = await run(argv, '', process.env)
  if (!stdout.startsWith('{')) throw new Error(`the soak printed no counts: ${stderr}`)
  return { code, soaked: JSON.parse(stdout) as Soaked }
}

test('B1: a few hundred rounds of the soak: no live address is freed, no approved orphan stays', async () => {
  const rounds = 200
  const { code, soaked } = await soak('--rounds', String(rounds), '--seed', '11')
  const { counts, broken } = soaked
  expect({ broken, freed: counts.freed, twice: counts.duplicates, left: counts.left, code }).toEqual({
    broken: undefined,
    freed: [],
    twice: [],
    left: [],
    code: 0,
  })
  // The soak did what it is for.
  expect(counts.rounds).toBe(rounds)
  expect(counts.adds).toBeGreaterThan(rounds * 3)
  expect(counts.dels).toBeGreaterThan(rounds)
  expect(counts.starting).toBeGreaterThan(rounds)
  expect(counts.addressesRemoved).toBeGreaterThan(rounds)
  expect(counts.restartsWithLoss).toBeGreaterThan(0)
  const happened = Object.keys(counts.faults).join('\n')
  for (const fault of [
    /script killed at line \d+/,
    /script killed in the middle of moving/,
    /script killed from outside/,
    /script stands still at line \d+/,
    /session lost while the list is sent/,
    /session lost after the list/,
    /worker killed (before|after|while) /,
    /worker killed from outside/,
  ])
    expect(happened).toMatch(fault)
}, 900_000)

test('B1: the same soak catches a script that takes the lock and compares ids with the listing only', async () => {
  const { code, soaked } = await soak('--rounds', '40', '--seed', '11', '--script', careless)
  expect(soaked.broken).toBeUndefined()
  expect(soaked.counts.freed.length).toBeGreaterThan(10)
  expect(code).toBe(1)
}, 300_000)

test('the same seed decides the same, and each round for itself', () => {
  const rounds = [1, 2, 3, 2_000]
  const decided = (seed: number) => rounds.map(round => decide(seed, round, 'crio'))
  expect(decided(7)).toEqual(decided(7))
  expect(decided(7)).not.toEqual(decided(8))
  expect(new Set(decided(7).map(one => JSON.stringify(one))).size).toBe(rounds.length)
})

test.each<RuntimeKind>(['containerd-1', 'containerd-2', 'crio'])(
  'the quick reading of a %s node of the soak says what the real probe says',
  async kind => {
    const dir = mkdtempSync(join(tmpdir(), 'cnibot-soak-look-'))
    const node = new SoakNode(join(dir, 'node'), kind, false)
    const plugin = new PluginShells(join(node.root, 'ipam.json'), 1)
    try {
      const pods = ['listed', 'starting', 'leaked'].map(name => ({
        uid: name,
        name,
        ip: undefined,
        startedAt: 0,
      }))
      const [listed, starting, leaked] = pods.map(pod => node.newSandbox(pod))
      if (listed === undefined || starting === undefined || leaked === undefined)
        throw new Error('three Pods')
      for (const sandbox of [listed, starting]) node.record(sandbox.id)
      for (const { id } of [listed, starting, leaked]) expect(await plugin.add(id)).toHaveProperty('ip')
      node.list(listed)
      node.hold(leaked.id, '10.244.7.4')
      const env = {
        CNIBOT_NODE_ROOT: node.root,
        CNIBOT_LAB_CLOCK: join(node.root, 'clock'),
        CNIBOT_LAB_PROGRAMS: programs,
        PATH: `${path('../../soak/removal/programs')}:${programs}:/usr/bin:/bin`,
      }
      const at = node.clock.now()
      const probed = await run(['dash', '-s', '--', '--light'], probeScript(), env)
      const quick = await quickLook({
        root: node.root,
        now: () => node.nodeNow(),
        endpoint: `unix://${node.socket}`,
        unit: node.unit,
        storeDir,
        waitsMs: [],
      })
      const answers = [probed.stdout, quick].map(stdout =>
        readNodeAnswers(
          { stdout, stderr: '', exitCode: 0, timedOut: false, truncated: false },
          { at, now: node.clock.now() },
        ),
      )
      const said = ({ stores, sandboxes, records, runtime, held, conflist }: NodeAnswers) => ({
        stores: value(stores).map(store => ({ ...store, bookkeeping: store.bookkeeping.toSorted() })),
        sandboxes: value(sandboxes),
        records: [...value(records).ids].sort(),
        runtime: value(runtime),
        held: value(held),
        conflist: value(conflist),
      })
      const [real, double] = answers.map(said)
      expect(double).toEqual(real)
      expect(real?.stores[0]?.allocations).toHaveLength(3)
      expect(real?.records).toEqual(expect.arrayContaining([listed.id, starting.id]))
      expect(real?.sandboxes.map(({ id }) => id)).not.toContain(starting.id)
    } finally {
      plugin.close()
      rmSync(dir, { recursive: true, force: true })
    }
  },
)

test.each([
  [['--rounds', 'many'], /--rounds.*whole number/],
  [['--runtime', 'rkt'], /--runtime must be one of containerd-1, containerd-2, crio, mixed/],
  [['--script', '/nowhere/clean.sh'], /there is no file \/nowhere\/clean\.sh/],
])('a wrong option is told in one line: %j', async (args, says) => {
  const { code, stderr } = await run(
    [process.execPath, path('../../soak/removal/run.mjs'), ...args],
    '',
    process.env,
  )
  expect(code).toBe(1)
  expect(stderr).toMatch(says)
})

test('--help says how another tool is called', () => {
  const { stdout } = spawnSync(process.execPath, [path('../../soak/removal/run.mjs'), '--help'], {
    encoding: 'utf8',
  })
  expect(stdout).toContain('FILE STORE')
  expect(readFileSync(careless, 'utf8')).toContain('cd "$1"')
})
