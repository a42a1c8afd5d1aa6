import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Allocation } from '../../../src/core/evidence/bundle.js'
import { day, look, onePlace, type Order, order, type Place, quarantine, storeDir, value } from './on-node.js'

let place: Place
const files = (dir: string): string[] => readdirSync(join(place.node.root, dir)).sort()
const addresses = (dir: string): string[] => files(dir).filter(name => /^[0-9.]+$/.test(name))
const inStore = (name: string): string => join(place.node.root, storeDir, name)

/** Three Pods that live, four addresses that leaked two weeks ago. */
const prepare = async (): Promise<{ orphans: Allocation[]; living: Allocation[] }> => {
  const { node, clock } = place
  for (const name of ['a', 'b', 'c']) await node.add({ name, namespace: 'payments', uid: `uid-${name}` })
  await node.leak(4, { between: [clock.now() - 15 * day, clock.now() - 14 * day] })
  const { stores, sandboxes } = await look(node, { args: ['--light'] })
  const owners = new Set(value(sandboxes).map(({ id }) => id))
  const all = value(stores)[0]?.allocations ?? []
  return {
    orphans: all.filter(({ owner }) => !owners.has(owner)),
    living: all.filter(({ owner }) => owners.has(owner)),
  }
}

beforeEach(async () => {
  place = await onePlace()
})
afterEach(() => place.close())

const ips = (list: Allocation[]): string[] => list.map(({ ip }) => ip).sort()

test.each(['dash', 'bash'])('P-A3: moves the approved files and nothing else (%s)', async shell => {
  const { orphans, living } = await prepare()
  const before = files(storeDir)
  const ran = await order(place.node, orphans, { shell })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(ran.report).toMatchObject({
    complete: true,
    skipped: [],
    already: [],
    sandboxes: 3,
    quarantine: quarantine('run-1'),
  })
  expect(ran.report.moved.sort()).toEqual(ips(orphans))
  expect(ran.report.underLockMs).toBeLessThan(5000)
  expect(files(storeDir)).toEqual(before.filter(name => !ips(orphans).includes(name)))
  expect(addresses(quarantine('run-1'))).toEqual(ips(orphans))
  const kept = value((await look(place.node, { args: ['--light'] })).stores)[0]
  expect(kept?.allocations).toEqual(living)
})

test('P-A3: skips an owner the runtime lists, one it only recorded, and an address a namespace holds', async () => {
  const { orphans, living } = await prepare()
  const release = place.node.holdListing()
  const starting = place.node.add({ name: 'd', namespace: 'payments', uid: 'uid-d' })
  const inFlight = async (): Promise<Allocation> => {
    for (const deadline = Date.now() + 10_000; Date.now() < deadline; ) {
      const all = value((await look(place.node, { args: ['--light'] })).stores)[0]?.allocations ?? []
      const found = all.find(({ ip }) => ![...orphans, ...living].some(old => old.ip === ip))
      if (found !== undefined && found.size > 0) return found
    }
    throw new Error('the ADD made no file')
  }
  const early = await inFlight()
  const held = orphans[0]
  if (held === undefined) throw new Error('no orphan')
  writeFileSync(join(place.node.root, 'run/netns/cni-left'), '')
  mkdirSync(join(place.node.root, '.lab/netns/cni-left'), { recursive: true })
  writeFileSync(
    join(place.node.root, '.lab/netns/cni-left/addr.json'),
    JSON.stringify([{ ifname: 'eth0', addr_info: [{ family: 'inet', local: held.ip }] }]),
  )
  const { report } = await order(place.node, [...orphans, ...living, early])
  release()
  await starting
  expect(report.moved.sort()).toEqual(ips(orphans.slice(1)))
  const why = new Map(report.skipped.map(({ ip, why: text }) => [ip, text]))
  for (const { ip } of [...living, early]) expect(why.get(ip)).toBe('the runtime knows its owner')
  expect(why.get(held.ip)).toBe('a network namespace holds the address')
})

test('P-A3: insists on inode, size and content of the approved file, and on a regular file', async () => {
  const { orphans } = await prepare()
  const [first, second, third, fourth] = orphans
  if (!first || !second || !third || !fourth) throw new Error('four orphans expected')
  rmSync(inStore(first.ip))
  writeFileSync(inStore(second.ip), second.content.replace(/^./, second.content.startsWith('0') ? '1' : '0'))
  renameSync(inStore(third.ip), inStore('other'))
  writeFileSync(inStore(third.ip), third.content)
  const { report } = await order(place.node, orphans)
  expect(report.moved).toEqual([fourth.ip])
  expect(new Map(report.skipped.map(({ ip, why }) => [ip, why]))).toEqual(
    new Map([
      [first.ip, 'gone: the plugin has freed it meanwhile'],
      [second.ip, 'changed since the plan: another owner has the address, or the file is another'],
      [third.ip, 'changed since the plan: another owner has the address, or the file is another'],
    ]),
  )
})

/** Some cases change the order; the others change the node and return whatever that returned. */
const isOrder = (change: unknown): change is Order =>
  typeof change === 'object' && change !== null && ('bootId' in change || 'extra' in change)

describe('P-A3: refuses with one line and touches nothing', () => {
  const cases: [string, number, RegExp, (orphans: Allocation[]) => unknown][] = [
    ['when the node was started anew', 78, /started anew since the plan/, () => ({ bootId: '0' })],
    ['when the plugin has made no lock', 78, /lock does not exist/, () => rmSync(inStore('lock'))],
    [
      'when the lock is another than planned',
      78,
      /not the one of the plan/,
      () => ({ extra: ['--lock-inode', '1'] }),
    ],
    [
      'when the runtime does not answer',
      69,
      /runtime does not answer: .*connection refused/,
      () => place.node.switches.runtime('down'),
    ],
    [
      'when the runtime lists nothing',
      69,
      /lists no sandbox at all/,
      () => place.node.switches.runtime('empty'),
    ],
    [
      'when it lists fewer than planned',
      69,
      /fewer than the 9 of the plan/,
      () => ({ extra: ['--min-sandboxes', '9'] }),
    ],
    [
      'when the script is not the approved one',
      78,
      /not the one approved/,
      () => ({ extra: ['--script-digest', 'ab'] }),
    ],
    [
      'when an option is no plain value',
      64,
      /--min-sandboxes: not a plain value/,
      () => ({ extra: ['--min-sandboxes', '1;id'] }),
    ],
    [
      'when the quarantine lies in the plugin’s folder',
      64,
      /inside the folder of the plugin/,
      () => ({
        extra: ['--quarantine', '/var/lib/cni/networks/cnibot-quarantine/run-1/k8s-pod-network'],
      }),
    ],
  ]
  test.each(cases)('%s', async (_, code, line, spoil) => {
    const { orphans } = await prepare()
    const change = spoil(orphans)
    const how = isOrder(change) ? change : {}
    const before = addresses(storeDir)
    const ran = await order(place.node, orphans, how)
    expect(ran.stderr).toMatch(line)
    expect(ran).toMatchObject({ code, stdout: '' })
    expect(ran.stderr.trim().split('\n')).toHaveLength(1)
    expect(addresses(storeDir)).toEqual(before)
  })

  test('when the list holds anything but approved files', async () => {
    const { orphans } = await prepare()
    const evil = { ...(orphans[0] as Allocation), ip: 'lock' }
    const ran = await order(place.node, [...orphans, evil])
    expect(ran).toMatchObject({
      code: 65,
      stderr: 'remove-orphans: line 5 of the list is no approved file\n',
    })
    expect(addresses(storeDir)).toHaveLength(7)
  })

  test('when the runtime’s own records cannot be read, unless the plan says so', async () => {
    const { orphans } = await prepare()
    rmSync(join(place.node.root, '.lab/ctr-containers'))
    const ran = await order(place.node, orphans)
    expect(ran.code).toBe(69)
    expect(ran.stderr).toContain("the runtime's own records cannot be read (containerd 1.7.24; containers: ")
    const again = await order(place.node, orphans, { extra: ['--without-records'] })
    expect(again.report.moved).toHaveLength(4)
  })

  test('when a newer order was carried out', async () => {
    const { orphans } = await prepare()
    await order(place.node, orphans.slice(0, 1), { fence: 7 })
    const ran = await order(place.node, orphans, { fence: 6, op: 'run-0' })
    expect(ran.code).toBe(76)
    const fence = join(place.node.root, '/var/lib/cni/cnibot-quarantine/fence')
    expect(ran.stderr).toMatch(/a newer order \(fence 7\) .*; this one \(fence 6\) is outdated\. /)
    expect(ran.stderr.endsWith(` a clock was ahead: remove ${fence} while no removal runs\n`)).toBe(true)
    expect(addresses(storeDir)).toHaveLength(6)
  })
})

test('P-A3: the same op again tells what an earlier try moved', async () => {
  const { orphans } = await prepare()
  await order(place.node, orphans.slice(0, 2))
  const { report } = await order(place.node, orphans)
  expect(report.already.sort()).toEqual(ips(orphans.slice(0, 2)))
  expect(report.moved.sort()).toEqual(ips(orphans.slice(2)))
  const empty = await order(place.node, [])
  expect(empty.report).toMatchObject({ moved: [], skipped: [], complete: true })
  expect(empty.report.already.sort()).toEqual(ips(orphans))
})

test('P-A3: undo puts back what is free and never replaces a new owner', async () => {
  const { orphans } = await prepare()
  const inodes = new Map(orphans.map(({ ip, inode }) => [ip, inode]))
  await order(place.node, orphans)
  const taken = orphans[1]?.ip ?? ''
  writeFileSync(inStore(taken), `${'f'.repeat(64)}\r\neth0`)
  const undo = await order(place.node, [], { verb: 'restore' })
  expect(undo).toMatchObject({ code: 0, stderr: '' })
  const free = ips(orphans).filter(ip => ip !== taken)
  expect(undo.report.moved.sort()).toEqual(free)
  expect(undo.report.skipped).toEqual([{ ip: taken, why: `the address has a new owner: ${'f'.repeat(64)}` }])
  for (const ip of free) expect(statSync(inStore(ip)).ino).toBe(inodes.get(ip))
  expect(readFileSync(inStore(taken), 'utf8')).toContain('ffff')
  expect(addresses(quarantine('run-1'))).toEqual([taken])
  const again = await order(place.node, [], { verb: 'restore' })
  expect(again.report.already.sort()).toEqual(free)
})

test('B4: an undo counts only what was moved, not what the removal left in its place', async () => {
  const { orphans, living } = await prepare()
  const removed = await order(place.node, [...orphans, ...living])
  expect(removed.report.skipped).toHaveLength(living.length)
  const undo = await order(place.node, [], { verb: 'restore' })
  expect(undo.report.moved.sort()).toEqual(ips(orphans))
  expect(undo.report.already).toEqual([])
  const again = await order(place.node, [], { verb: 'restore' })
  expect(again.report).toMatchObject({ moved: [], skipped: [], complete: true })
  expect(again.report.already.sort()).toEqual(ips(orphans))
})

test('P-A3: waits for the plugin’s lock, then gives up without touching anything', async () => {
  const { orphans } = await prepare()
  const { spawn } = await import('node:child_process')
  const holder = spawn('flock', [inStore('lock'), 'sh', '-c', 'echo held; cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await new Promise(resolve => holder.stdout.once('data', resolve))
  const ran = await order(place.node, orphans, { extra: ['--lock-wait', '1'] })
  const closed = new Promise(resolve => holder.once('close', resolve))
  holder.stdin.end()
  await closed
  expect(ran).toMatchObject({
    code: 75,
    stderr: "remove-orphans: the plugin's lock was not free within 1 s; try again\n",
  })
  expect(addresses(storeDir)).toHaveLength(7)
  expect(existsSync(inStore('lock'))).toBe(true)
})
