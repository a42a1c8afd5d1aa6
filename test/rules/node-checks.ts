import { lstatSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { readFrames } from '../../src/core/evidence/parse/frames.js'
import type { Code } from './code.js'
import { sameFileUnderTheLock } from './lock-checks.js'
import { first, type NodeCheck, refuses } from './refusing.js'
import { quarantineOf, RuleNode } from './rule-node.js'

const runtimeIsToBeBelieved: NodeCheck = async (code, node) => {
  const orphans = await node.leak(1)
  await refuses(code, node, orphans, /lists no sandbox at all/)
  await node.live()
  await refuses(code, node, orphans, /fewer than the 2 of the plan/, { args: ['--min-sandboxes', '2'] })
  await refuses(code, node, orphans, /started anew since the plan/, { args: ['--boot-id', 'another'] })
  node.write('down-crictl', '')
  await refuses(code, node, orphans, /the runtime does not answer: connection refused/)
  rmSync(node.path('down-crictl'))
  node.write('down-pods', '')
  await refuses(code, node, orphans, /the runtime does not list its sandboxes: no list/)
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
  const listed = readFileSync(node.path('records'), 'utf8')
  node.write('records', `${'e'.repeat(64)}\n`)
  await refuses(code, node, [starting], /they name none of the sandboxes it lists: another runtime/)
  node.write('records', listed)
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
  const orphans = await node.leak(6)
  const [inside, neighbour, route, own, free, unnamed] = orphans.map(({ ip }) => ip)
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
  node.space(4711, addr(unnamed))
  const { why, moved } = await node.order(code.script, orphans)
  expect({ why, moved }).toEqual({
    why: {
      [inside ?? '']: 'a network namespace holds the address',
      [unnamed ?? '']: 'a network namespace holds the address',
      [neighbour ?? '']: 'a neighbour answers at the address',
      [route ?? '']: 'a route leads to the address',
      [own ?? '']: 'the node itself has the address',
    },
    moved: [free],
  })
  expect(node.askedUnderLock()).not.toMatch(/^ip /m)
  const left = orphans.filter(({ ip }) => ip !== free)
  await sixth(code, node)
  node.write('down-nsenter', '')
  await refuses(code, node, left, /who holds an address cannot be asked: net:.4711.: connection refused/)
  node.write('down-ip', '')
  await refuses(code, node, left, /who holds an address cannot be asked: .*connection refused/)
}

/** The routes of the other family, where the list has an address of it. */
const sixth = async (code: Code, node: RuleNode): Promise<void> => {
  const ip = 'fd00:7::9'
  writeFileSync(node.inStore(ip), `${'d'.repeat(64)}\r\neth0`)
  node.write('ip/route6', JSON.stringify([{ dst: ip, dev: 'cali6' }]))
  expect((await node.order(code.script, [node.entry(ip)])).why).toEqual({
    [ip]: 'a route leads to the address',
  })
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
  // Undo would put back what stands in no plan of a run that has the same name.
  const again = await node.order(script, [free], { which: 'first' })
  expect(again).toMatchObject({ code: 78, moved: [], stderr: expect.stringMatching(/of an earlier run/) })
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
