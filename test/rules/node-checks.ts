import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { spawn } from 'node:child_process'
import { readFrames } from '../../src/core/evidence/parse/frames.js'
import type { Code } from './code.js'
import { type Entry, type Order, quarantineOf, RuleNode } from './rule-node.js'

/** What must happen on a node by one rule; throws where it does not. */
export type NodeCheck = (code: Code, node: RuleNode) => Promise<void>

/** The order is refused with one line, and no file has moved. */
const refuses = async (
  { script }: Code,
  node: RuleNode,
  list: Entry[],
  said: RegExp,
  how: Order = {},
): Promise<void> => {
  const { code, stderr, moved } = await node.order(script, list, how)
  expect({ code: (code ?? 0) >= 64, stderr, moved }).toEqual({
    code: true,
    stderr: expect.stringMatching(said),
    moved: [],
  })
  for (const one of list.filter(({ ip }) => ip.includes('.'))) expect(node.has(one)).toBe(true)
}
const first = <T>(list: T[]): T => {
  const [one] = list
  if (one === undefined) throw new Error('an empty list')
  return one
}

const runtimeIsToBeBelieved: NodeCheck = async (code, node) => {
  const orphans = await node.leak(1)
  await refuses(code, node, orphans, /lists no sandbox at all/)
  await node.live()
  await refuses(code, node, orphans, /fewer than the 2 of the plan/, { args: ['--min-sandboxes', '2'] })
  await refuses(code, node, orphans, /started anew since the plan/, { args: ['--boot-id', 'another'] })
  node.write('down-crictl', '')
  await refuses(code, node, orphans, /the runtime does not answer: connection refused/)
}

const addressesBeforeSandboxes: NodeCheck = async (code, node) => {
  await node.live()
  const [notReady] = await node.leak(1)
  if (notReady === undefined) throw new Error('no address')
  node.know(notReady, 'listed')
  const { why } = await node.order(code.script, [notReady])
  expect(why).toEqual({ [notReady.ip]: 'the runtime knows its owner' })
  const read = await node.run(['dash', '-s', '--', '--light'], code.probe)
  const asked = [...readFrames(read.stdout).sections.keys()]
  expect(asked.filter(name => ['stores', 'contents', 'sandboxes', 'records'].includes(name))).toEqual([
    'stores',
    'contents',
    'sandboxes',
    'records',
  ])
}

const recordsCount: NodeCheck = async (code, node) => {
  await node.live()
  const [starting, orphan] = await node.leak(2)
  if (starting === undefined || orphan === undefined) throw new Error('no address')
  node.know(starting, 'records')
  const { why, moved } = await node.order(code.script, [starting, orphan])
  expect({ why, moved }).toEqual({
    why: { [starting.ip]: 'the runtime knows its owner' },
    moved: [orphan.ip],
  })
  node.write('down-ctr', '')
  await refuses(code, node, [starting], /own records cannot be read/)
}

const ownersOfTheRuntimeOnly: NodeCheck = async (code, node) => {
  await node.live()
  const orphan = first(await node.leak(1))
  const foreign = { ...orphan, owner: 'default-3f2a' }
  await refuses(code, node, [foreign], /line 1 of the list is no approved file/)
  await refuses(code, node, [{ ...orphan, owner: '' }], /line 1 of the list is no approved file/)
}

const canonicalNamesInRange: NodeCheck = async (code, node) => {
  await node.live()
  const orphan = first(await node.leak(1))
  const lock = { ...node.entry('lock'), owner: '' }
  const done = await node.order(code.script, [lock])
  expect(done).toMatchObject({ code: 65, stderr: expect.stringMatching(/line 1 of the list/), moved: [] })
  expect(node.has(lock)).toBe(true)
  // A link instead of the file, and a folder: never followed, never moved.
  const aside = node.path(`/var/lib/cni/${'x'.repeat(80)}`)
  renameSync(node.inStore(orphan.ip), aside)
  symlinkSync(aside, node.inStore(orphan.ip))
  const { ino, size } = lstatSync(node.inStore(orphan.ip))
  const { why } = await node.order(code.script, [{ ...orphan, inode: ino, size }])
  expect(Object.keys(why)).toEqual([orphan.ip])
  expect(readFileSync(node.inStore(orphan.ip), 'utf8')).toBe(orphan.content)
}

const heldByNobody: NodeCheck = async (code, node) => {
  await node.live()
  const orphans = await node.leak(5)
  const [inside, neighbour, route, own, free] = orphans.map(({ ip }) => ip)
  const addr = (local: string | undefined): string =>
    JSON.stringify([{ ifname: 'eth0', addr_info: [{ family: 'inet', local, prefixlen: 24 }] }])
  node.write('run/netns/cni-left', '')
  node.write('netns/cni-left', addr(inside))
  const states = [
    { dst: neighbour, dev: 'cni0', lladdr: '0a:58:0a:f4:07:09', state: ['REACHABLE'] },
    { dst: free, dev: 'cni0', state: ['FAILED'] },
  ]
  node.write('ip/neigh', JSON.stringify(states))
  const routes = [
    { dst: 'default', gateway: '10.250.0.1', dev: 'eth0' },
    { dst: `${free}/31`, dev: 'cni0' },
    { dst: route, dev: 'cali1', scope: 'link' },
  ]
  node.write('ip/route', JSON.stringify(routes))
  node.write('ip/addr', addr(own))
  const { why, moved } = await node.order(code.script, orphans)
  expect({ why, moved }).toEqual({
    why: {
      [inside ?? '']: 'a network namespace holds the address',
      [neighbour ?? '']: 'a neighbour answers at the address',
      [route ?? '']: 'a route leads to the address',
      [own ?? '']: 'the node itself has the address',
    },
    moved: [free],
  })
  expect(node.askedUnderLock()).not.toMatch(/^ip /m)
  node.write('down-ip', '')
  await refuses(code, node, orphans.slice(0, 4), /who holds an address cannot be asked: .*connection refused/)
}

/** The plugin's lock in the hands of somebody else while `work` runs. */
const withLockTaken = async (node: RuleNode, work: () => Promise<void>): Promise<void> => {
  const holder = spawn('flock', [node.inStore('lock'), 'sh', '-c', 'echo held; cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await new Promise(resolve => holder.stdout.once('data', resolve))
  try {
    await work()
  } finally {
    const closed = new Promise(resolve => holder.once('close', resolve))
    holder.stdin.end()
    await closed
  }
}

const sameFileUnderTheLock: NodeCheck = async (code, node) => {
  await node.live()
  const [written, replaced, orphan] = await node.leak(3)
  if (!written || !replaced || !orphan) throw new Error('three addresses expected')
  await withLockTaken(node, () =>
    refuses(code, node, [orphan], /lock was not free within 0 s/, { args: ['--lock-wait', '0'] }),
  )
  // Somebody else had the lock then, so what was asked meanwhile does not count.
  rmSync(node.path('asked-under-lock'))
  await refuses(code, node, [orphan], /lock is not the one of the plan/, { args: ['--lock-inode', '1'] })
  // Same inode and size, other content; then the same content in another file.
  writeFileSync(node.inStore(written.ip), written.content.replace(/eth0$/, 'net1'))
  renameSync(node.inStore(replaced.ip), node.path('kept'))
  writeFileSync(node.inStore(replaced.ip), replaced.content)
  const lock = node.entry('lock')
  const { moved, why } = await node.order(code.script, [written, replaced, orphan])
  expect(moved).toEqual([orphan.ip])
  expect(Object.keys(why).sort()).toEqual([written.ip, replaced.ip].sort())
  expect(node.inodes(quarantineOf('run-1'))).toEqual({ [orphan.ip]: orphan.inode })
  expect(readFileSync(node.path(`${quarantineOf('run-1')}.work/manifest`), 'utf8')).toContain(orphan.owner)
  // Who holds an address is rule 7's own question.
  expect(node.askedUnderLock()).not.toMatch(/^c/m)
  expect(node.has(lock)).toBe(true)
  await otherFilesystem(code, node)
  rmSync(node.inStore('lock'))
  await refuses(code, node, [], /lock does not exist/)
  expect(Object.keys(node.inodes('/var/lib/cni/networks/k8s-pod-network'))).not.toContain('lock')
}

const otherFilesystem = async (code: Code, node: RuleNode): Promise<void> => {
  const late = await node.leak(1)
  const inside = '/var/lib/cni/networks/cnibot-quarantine/run-1/k8s-pod-network'
  await refuses(code, node, late, /inside the folder of the plugin/, { args: ['--quarantine', inside] })
  const memory = mkdtempSync('/dev/shm/cnibot-rule-')
  try {
    mkdirSync(node.path('/mnt'), { recursive: true })
    symlinkSync(memory, node.path('/mnt/cnibot-quarantine'))
    const away = ['--quarantine', '/mnt/cnibot-quarantine/run-1/k8s-pod-network']
    await refuses(code, node, late, /is on another filesystem/, { args: away })
  } finally {
    rmSync(memory, { recursive: true })
  }
}

const linkedBackNeverOver: NodeCheck = async ({ script }, node) => {
  await node.live()
  const [taken, free] = await node.leak(2)
  if (taken === undefined || free === undefined) throw new Error('two addresses expected')
  await node.order(script, [taken, free])
  const owner = 'f'.repeat(64)
  writeFileSync(node.inStore(taken.ip), `${owner}\r\neth0`)
  const { moved, why } = await node.order(script, [], { verb: 'restore' })
  expect({ moved, why }).toEqual({
    moved: [free.ip],
    why: { [taken.ip]: `the address has a new owner: ${owner}` },
  })
  expect(node.entry(taken.ip).owner).toBe(owner)
  expect(node.entry(free.ip)).toEqual(free)
  expect(node.inodes(quarantineOf('run-1'))).toEqual({ [taken.ip]: taken.inode })
}

/** By rule; 4 and 8 are decided from readings and from the API, before the node is asked to change anything. */
export const nodeChecks: Record<number, NodeCheck> = {
  1: runtimeIsToBeBelieved,
  2: addressesBeforeSandboxes,
  3: recordsCount,
  5: ownersOfTheRuntimeOnly,
  6: canonicalNamesInRange,
  7: heldByNobody,
  9: sameFileUnderTheLock,
  10: linkedBackNeverOver,
}

/** A fresh node for the check of this rule; nothing where the node has no part in it. */
export const checkOnNode = async (rule: number, code: Code): Promise<void> => {
  const check = nodeChecks[rule]
  if (check === undefined) return
  const node = new RuleNode()
  try {
    await check(code, node)
  } finally {
    node.close()
  }
}
