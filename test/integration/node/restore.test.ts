import {
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { removeOrphansPath } from '../../../src/adapters/ssh/scripts.js'
import type { Allocation } from '../../../src/core/evidence/bundle.js'
import { Failed, Unreachable } from '../../../src/ports.js'
import { type FakeCluster, fakeCluster, fakeNode, fakePod } from '../../fakes/cluster.js'
import {
  day,
  environment,
  look,
  onePlace,
  order,
  type Place,
  quarantine,
  run,
  storeDir,
  value,
} from './on-node.js'
import { localShell, undoOnNode } from './undo-on-node.js'

let place: Place
let cluster: FakeCluster
let orphans: Allocation[]

const inStore = (ip: string): string => join(place.node.root, storeDir, ip)
const addressesIn = (folder: string): string[] =>
  readdirSync(join(place.node.root, folder))
    .filter(name => /^[0-9.]+$/.test(name))
    .sort()

interface FileState {
  content: string
  mode: number
  owner: string
  modified: bigint
  inode: bigint
}
const stateOf = (ip: string): FileState => {
  const { mode, uid, gid, mtimeNs, ino } = statSync(inStore(ip), { bigint: true })
  return {
    content: readFileSync(inStore(ip), 'latin1'),
    mode: Number(mode & 0o7777n),
    owner: `${uid}:${gid}`,
    modified: mtimeNs,
    inode: ino,
  }
}

const owned = (): { name: string; namespace: string; uid: string } => ({
  name: 'api-1',
  namespace: 'payments',
  uid: 'uid-new',
})

/** A range of thirteen addresses, all taken: three by Pods that live, ten by owners that are gone. */
beforeEach(async () => {
  place = await onePlace({ podCidr: '10.244.7.0/28' })
  const { node, clock } = place
  cluster = fakeCluster({ nodes: [fakeNode('node-07', { uid: 'uid-7', bootId: node.bootId })] })
  for (const name of ['a', 'b', 'c']) await node.add({ name, namespace: 'payments', uid: `uid-${name}` })
  await node.leak(10, { between: [clock.now() - 15 * day, clock.now() - 14 * day] })
  const { stores, sandboxes } = await look(node, { args: ['--light'] })
  const owners = new Set(value(sandboxes).map(({ id }) => id))
  orphans = (value(stores)[0]?.allocations ?? []).filter(({ owner }) => !owners.has(owner))
})
afterEach(() => place.close())

const shellOf = (argvOf?: () => string[] | Error) => localShell(() => place.node, argvOf)
const undo = (shell = shellOf(), fence = 2) =>
  undoOnNode({ node: place.node, clock: place.clock, cluster, shell, fence, entries: orphans })

const ips = (list: Allocation[]): string[] => list.map(({ ip }) => ip).sort()

test('B4: one undo puts back every file as it was, to the byte: content, mode, owner, time; the plugin counts them again', async () => {
  for (const [i, { ip }] of orphans.entries()) {
    chmodSync(inStore(ip), i % 2 === 0 ? 0o600 : 0o640)
    if (process.getuid?.() === 0) chownSync(inStore(ip), 1_000 + i, 2_000)
    utimesSync(inStore(ip), 1_700_000_000.123456, 1_700_000_000 + i + 0.654321)
  }
  const before = new Map(orphans.map(({ ip }) => [ip, stateOf(ip)]))
  const { report } = await order(place.node, orphans)
  expect(report.moved.sort()).toEqual(ips(orphans))
  expect(addressesIn(storeDir)).toHaveLength(3)
  expect(await undo()).toEqual({ says: '10 addresses put back', left: [] })
  expect(new Map(orphans.map(({ ip }) => [ip, stateOf(ip)]))).toEqual(before)
  expect(addressesIn(storeDir)).toHaveLength(13)
  await expect(place.node.add(owned())).rejects.toThrow(/no IP addresses available in range set/)
  // Of the quarantine, the folder and the list of what was approved stay; no file that counts as an address.
  expect(addressesIn(quarantine('run-1'))).toEqual([])
  expect(
    readFileSync(join(place.node.root, `${quarantine('run-1')}.work/manifest`), 'utf8').split('\n'),
  ).toHaveLength(11)
})

test('B4: refuses for an address that the plugin has given out since, and names the sandbox and the Pod that have it now', async () => {
  const before = new Map(orphans.map(({ ip }) => [ip, stateOf(ip)]))
  await order(place.node, orphans)
  const sandbox = await place.node.add(owned())
  const taken = sandbox.network?.address ?? ''
  expect(ips(orphans)).toContain(taken)
  const theirs = stateOf(taken)
  cluster.all.pods.push(
    fakePod('payments', 'api-1', { node: 'node-07', phase: 'Running', ips: [taken] }),
    fakePod('jobs', 'finished', { node: 'node-07', phase: 'Succeeded', ips: [taken] }),
    fakePod('kube-system', 'proxy', { node: 'node-07', phase: 'Running', hostNetwork: true, ips: [taken] }),
  )
  const undone = await undo()
  expect(undone).toEqual({
    says: `9 addresses put back; 1 could not be: its file stays in ${quarantine('run-1')}`,
    left: [`${taken}: given out since, to Pod payments/api-1 (sandbox ${sandbox.id})`],
  })
  expect(stateOf(taken)).toEqual(theirs)
  expect(theirs.content).toContain(sandbox.id)
  before.delete(taken)
  expect(new Map([...before.keys()].map(ip => [ip, stateOf(ip)]))).toEqual(before)
  expect(addressesIn(quarantine('run-1'))).toEqual([taken])
  expect(await undo(shellOf(), 3)).toEqual(undone)
})

test('B4: names the sandbox alone where the API knows no such Pod or does not answer', async () => {
  await order(place.node, orphans)
  const { id, network } = await place.node.add(owned())
  const { left } = await undo()
  expect(left).toEqual([
    `${network?.address}: given out since, to sandbox ${id}, of no Pod that the API knows by this address`,
  ])
  cluster.failing.set('podsOnNode', new Unreachable('no answer'))
  expect((await undo(shellOf(), 3)).left).toEqual([
    `${network?.address}: given out since, to sandbox ${id}; its Pod could not be asked`,
  ])
})

test('B4: an address that was given out and is free again goes back to its old owner', async () => {
  await order(place.node, orphans)
  const { id } = await place.node.add(owned())
  await place.node.remove(id)
  expect(await undo()).toEqual({ says: '10 addresses put back', left: [] })
})

const neither = (ip: string): string => `${ip}: its file is neither in the quarantine nor in the store`

test('B4: a file that is lost from the quarantine is named by the node, with those that are back', async () => {
  await order(place.node, orphans)
  const [lost = ''] = ips(orphans)
  rmSync(join(place.node.root, quarantine('run-1'), lost))
  expect(await undo()).toEqual({ says: '9 addresses put back; 1 could not be', left: [neither(lost)] })
  // What was put back and freed by its owner since is not lost.
  const [, freed = ''] = ips(orphans)
  rmSync(inStore(freed))
  expect(await undo(shellOf(), 3)).toEqual({
    says: '8 addresses put back; 1 could not be',
    left: [neither(lost)],
  })
})

test('B4: where the whole quarantine is lost, nothing is said to be back', async () => {
  await order(place.node, orphans)
  rmSync(join(place.node.root, quarantine('run-1')).replace(/\/run-1.*/, ''), { recursive: true })
  const { says, left } = await undo()
  expect(says).toBe('0 addresses put back; 10 could not be')
  expect(left.toSorted()).toEqual(ips(orphans).map(neither).toSorted())
})

/** The script with a word in front of one of its commands, so that it dies there once. */
const dying = (command: RegExp): string[] => {
  const path = join(place.dir, 'dying.sh')
  const text = readFileSync(removeOrphansPath, 'utf8')
  const cut = text.replace(command, found => `kill -9 $$; ${found}`)
  expect(cut).not.toBe(text)
  writeFileSync(path, cut)
  return ['dash', path]
}

test.each<[string, RegExp]>([
  ['before the first link', /\[ ! -s "\$W\/go" \] \|\| \(cd "\$Q" && xargs ln/],
  ['with all linked and none taken out of quarantine', /\[ ! -s "\$W\/back" \] \|\|/],
  ['after the last change, before the answer', /free_lock\n {2}\(cd "\$D" && cut/],
])(
  'B4: an undo whose connection dies %s is tried again, and tells of all that is back',
  async (_where, command) => {
    const before = new Map(orphans.map(({ ip }) => [ip, stateOf(ip)]))
    await order(place.node, orphans)
    const scripts = [dying(command), ['dash', removeOrphansPath]]
    let runs = 0
    const undone = await undo(
      shellOf(() => {
        runs += 1
        return scripts[runs - 1] ?? new Error('a third try')
      }),
    )
    expect(runs).toBe(2)
    expect(undone).toEqual({ says: '10 addresses put back', left: [] })
    expect(new Map(orphans.map(({ ip }) => [ip, stateOf(ip)]))).toEqual(before)
  },
)

test('B4: an undo that was done and not written down because the worker died is done again, with the same words', async () => {
  await order(place.node, orphans)
  const first = await undo()
  expect(await undo(shellOf(), 3)).toEqual(first)
  expect(addressesIn(storeDir)).toHaveLength(13)
})

test('B4: a half that was put back when the worker died is not lost: the next one does the other half and tells of both', async () => {
  await order(place.node, orphans)
  const half = [dying(/\[ ! -s "\$W\/back" \] \|\|/)]
  const worker = undo(shellOf(() => half.shift() ?? new Unreachable('the worker is gone')))
  await expect(worker).rejects.toThrow(Failed)
  expect(addressesIn(storeDir)).toHaveLength(13)
  expect(addressesIn(quarantine('run-1'))).toHaveLength(10)
  expect(await undo(shellOf(), 3)).toEqual({ says: '10 addresses put back', left: [] })
  expect(addressesIn(quarantine('run-1'))).toEqual([])
})

test('B4: an undo that cannot reach the node says what may be missing and the command that puts it back, and that command does', async () => {
  await order(place.node, orphans)
  const failed = await undo(shellOf(() => new Unreachable('connection refused'))).then(
    () => new Failed('it did not fail'),
    (error: unknown) => (error instanceof Failed ? error : new Failed(String(error))),
  )
  expect(failed.message).toBe(
    'connection refused. The addresses it had moved may still be missing on node-07; tried 3 times',
  )
  const [first, command = ''] = failed.output.split('\n')
  expect(first).toBe('On node-07, this puts back what is left:')
  expect(command).toContain('sudo cat /var/lib/cni/cnibot-quarantine/fence) | dash')
  const { root } = place.node
  const here = command.replace('sudo cat /', `sudo cat ${root}/`)
  const ran = await run(['sh', '-c', here], '', environment(place.node))
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(addressesIn(storeDir)).toHaveLength(13)
})
