import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isKnown, type NodeAnswers } from '../../src/core/evidence/bundle.js'
import { readNodeAnswers } from '../../src/core/evidence/parse/answers.js'
import {
  type ApprovedFile,
  encodeOrder,
  encodeRemovalList,
  readRemovalReport,
} from '../../src/core/evidence/parse/removal-report.js'
import { removeOrphansPath } from '../../src/adapters/ssh/scripts.js'
import {
  environment,
  look,
  onePlace,
  orderArgs,
  quarantine,
  run,
  storeDir,
  value,
} from '../integration/node/on-node.js'
import { FakeNode } from '../saga/fake-node.js'
import { contentOf } from '../saga/node-model.js'

interface Answer {
  code: number
  stderr: string
  stdout: string
}

/** A node with four living Pods and three leaked addresses. */
interface Node {
  leaked: string[]
  bootId: string
  ask(): Promise<NodeAnswers>
  order(
    verb: 'remove' | 'restore',
    stdin: string,
    more?: { bootId?: string; extra?: string[] },
  ): Promise<Answer>
  /** The address goes, and a new Pod gets it. */
  giveAway(ip: string): Promise<void>
  free(ip: string): Promise<void>
  silence(): void
  close(): Promise<void>
}

const fake = async (): Promise<Node> => {
  const clock = { now: () => Date.UTC(2026, 10, 18, 11, 31) }
  const node = new FakeNode(clock)
  const pods = ['a', 'b', 'c', 'd'].map(name => ({ namespace: 'payments', name, uid: `uid-${name}` }))
  for (const pod of pods) node.add(pod)
  const leaked = [node.leak(), node.leak(), node.leak()]
  const shell = node.shell()
  const at = clock.now()
  const target = { name: 'node-07', address: undefined }
  const limits = { timeoutMs: 1_000, maxBytes: 1_000_000 }
  return {
    leaked,
    bootId: node.bootId,
    ask: async () => {
      const said = await shell.run(target, { script: 'probe', args: ['--light'] }, limits)
      return readNodeAnswers(said, { at, now: at + 1_000 })
    },
    order: async (verb, stdin, { bootId = node.bootId, extra = [] } = {}) => {
      const fixed = `${verb} --op op --quarantine ${quarantine('op')} --lock-inode 4711 --min-sandboxes 1`
      const args = [...fixed.split(' '), '--boot-id', bootId, ...extra]
      const command = { script: 'remove-orphans' as const, args, stdin }
      const { exitCode, stdout, stderr } = await shell.run(target, command, limits)
      return { code: exitCode ?? -1, stdout, stderr }
    },
    giveAway: async ip => {
      node.store.delete(ip)
      node.add({ namespace: 'payments', name: 'new', uid: 'uid-new' }, ip)
    },
    free: async ip => void node.store.delete(ip),
    silence: () => void Object.assign(node, { runtimeDown: true }),
    close: async () => {},
  }
}

const real = async (): Promise<Node> => {
  const place = await onePlace()
  const { node, clock } = place
  for (const name of ['a', 'b', 'c', 'd']) await node.add({ name, namespace: 'payments', uid: `uid-${name}` })
  await node.leak(3, { between: [clock.now() - 15 * 86_400_000, clock.now() - 14 * 86_400_000] })
  const inStore = (ip: string): string => join(node.root, storeDir, ip)
  const lock = value((await look(node, { args: ['--light'] })).stores)[0]?.lockInode
  return {
    leaked: node.orphans().map(({ address }) => address),
    bootId: node.bootId,
    ask: () => look(node, { args: ['--light'] }),
    order: async (verb, stdin, { bootId = node.bootId, extra = [] } = {}) => {
      const more = ['--lock-inode', String(lock), '--min-sandboxes', '1', ...extra]
      const args = orderArgs(node, { verb, op: 'op', bootId, extra: more })
      const { code, stdout, stderr } = await run(
        ['dash', removeOrphansPath, ...args],
        stdin,
        environment(node),
      )
      return { code: code ?? -1, stdout, stderr }
    },
    giveAway: async ip => writeFileSync(inStore(ip), `${'f'.repeat(64)}\r\neth0`),
    free: async ip => rmSync(inStore(ip)),
    silence: () => node.switches.runtime('down'),
    close: () => place.close(),
  }
}

describe.each([
  ['in memory', fake],
  ['with the real scripts', real],
])('what a node promises: %s', (_name, open) => {
  let node: Node
  beforeEach(async () => {
    node = await open()
  })
  afterEach(() => node.close())

  const files = async (): Promise<ApprovedFile[]> => value((await node.ask()).stores)[0]?.allocations ?? []
  const leakedFiles = async (): Promise<ApprovedFile[]> =>
    (await files()).filter(({ ip }) => node.leaked.includes(ip))
  const ips = (list: readonly { ip: string }[]): string[] => list.map(({ ip }) => ip).sort()
  const remove = async (list: readonly ApprovedFile[], fence = 5, which: 'first' | 'further' = 'further') => {
    const order = encodeOrder(fence, encodeRemovalList(list, which))
    const { code, stdout, stderr } = await node.order('remove', order)
    return { code, stderr, report: readRemovalReport(stdout) }
  }
  const restore = async (fence = 6) => {
    const { code, stdout } = await node.order('restore', encodeOrder(fence))
    return { code, report: readRemovalReport(stdout) }
  }

  test('the probe tells files, sandboxes, records, what is held, lock, runtime and boot', async () => {
    const answers = await node.ask()
    const store = value(answers.stores)[0]
    const listed = new Set(value(answers.sandboxes).map(({ id }) => id))
    expect(store?.allocations).toHaveLength(7)
    expect(store?.lockInode).toBeDefined()
    for (const { content, owner, size } of store?.allocations ?? []) {
      expect(content).toBe(contentOf({ owner }))
      expect(size).toBe(content.length)
    }
    const living = store?.allocations.filter(({ owner }) => listed.has(owner)) ?? []
    expect(ips(living)).toEqual(ips((await files()).filter(({ ip }) => !node.leaked.includes(ip))))
    expect(
      value(answers.sandboxes)
        .map(({ podUid }) => podUid)
        .sort(),
    ).toEqual(['uid-a', 'uid-b', 'uid-c', 'uid-d'])
    expect(value(answers.records).ids).toEqual(expect.arrayContaining([...listed]))
    const held = value(answers.held).map(({ ip }) => ip)
    for (const { ip } of living) expect(held).toContain(ip)
    for (const ip of node.leaked) expect(held).not.toContain(ip)
    expect(value(answers.runtime)).toMatchObject({ name: 'containerd', version: '1.7.24' })
    expect(value(answers.runtime).startedAt).toBeDefined()
    expect(value(answers.conflist).ipam.rangeSets).toEqual([
      [expect.objectContaining({ subnet: '10.244.7.0/24' })],
    ])
    expect(value(answers.host).bootId).toBe(node.bootId)
  })

  test('P-A3: moves what is approved, and tells it again to whoever asks again', async () => {
    const list = await leakedFiles()
    const first = await remove(list.slice(0, 2))
    expect(first).toMatchObject({ code: 0, report: { complete: true, skipped: [], already: [] } })
    expect(first.report.moved.sort()).toEqual(ips(list.slice(0, 2)))
    const again = await remove(list)
    expect(again.report.already.sort()).toEqual(ips(list.slice(0, 2)))
    expect(again.report.moved).toEqual(ips(list.slice(2)))
    expect((await remove([])).report).toMatchObject({ moved: [], skipped: [], complete: true })
    expect(ips(await leakedFiles())).toEqual([])
  })

  test('P-A3: skips a living owner, a file that has gone, and one of a new owner', async () => {
    const list = await files()
    const [given = '', gone = '', last = ''] = node.leaked
    await node.giveAway(given)
    await node.free(gone)
    const { report } = await remove(list)
    expect(report.moved).toEqual([last])
    const why = new Map(report.skipped.map(({ ip, why: text }) => [ip, text]))
    expect(why.get(gone)).toBe('gone: the plugin has freed it meanwhile')
    expect(why.get(given)).toContain('changed since the plan')
    const living = list.filter(({ ip }) => !node.leaked.includes(ip))
    for (const { ip } of living) expect(why.get(ip)).toBe('the runtime knows its owner')
  })

  test('B4: puts back what is free, names the new owner of the rest, and tells it again', async () => {
    await remove(await leakedFiles())
    const [taken = '', ...free] = node.leaked
    await node.giveAway(taken)
    const { code, report } = await restore()
    expect(code).toBe(0)
    expect(report.moved.sort()).toEqual(free.toSorted())
    expect(report.skipped).toEqual([
      { ip: taken, why: expect.stringContaining('the address has a new owner: ') },
    ])
    expect((await restore()).report.already.sort()).toEqual(free.toSorted())
  })

  test('B4: a first order is refused where files of its name are in quarantine already, or were put back from there', async () => {
    const list = await leakedFiles()
    const first = (fence: number) => remove(list, fence, 'first')
    expect((await remove(list.slice(0, 1), 1, 'first')).report.moved).toEqual(ips(list.slice(0, 1)))
    const refused = {
      code: 78,
      stderr: expect.stringContaining('holds files of an earlier run that had the same name'),
      report: expect.objectContaining({ moved: [], complete: false }),
    }
    expect(await first(2)).toMatchObject(refused)
    expect((await remove([], 3)).report.already).toEqual(ips(list.slice(0, 1)))
    await restore(4)
    expect(await first(5)).toMatchObject(refused)
    expect(ips(await leakedFiles())).toEqual(node.leaked.toSorted())
  })

  test('B4: an address that a living Pod had when it was to be removed is not told as put back', async () => {
    const list = await files()
    const { report } = await remove(list)
    expect(report.moved.sort()).toEqual(node.leaked.toSorted())
    const restored = await restore()
    expect(restored.report).toMatchObject({ already: [], skipped: [] })
    expect(restored.report.moved.sort()).toEqual(node.leaked.toSorted())
    expect((await restore()).report.already.sort()).toEqual(node.leaked.toSorted())
  })

  test('B3: an order with a lower number than the node has seen is refused, of either kind', async () => {
    const list = await leakedFiles()
    expect((await remove(list.slice(0, 1), 7)).code).toBe(0)
    expect(await remove(list, 6)).toMatchObject({
      code: 76,
      stderr: expect.stringContaining('a newer order (fence 7)'),
    })
    expect((await restore(6)).code).toBe(76)
    expect((await remove(list.slice(1), 7)).code).toBe(0)
    expect((await restore(8)).code).toBe(0)
    expect((await remove(list, 7)).code).toBe(76)
    expect(ips(await leakedFiles())).toEqual(node.leaked.toSorted())
  })

  test.each<[string, number, () => Promise<Answer>]>([
    ['an order without a number', 65, () => node.order('remove', '')],
    ['an order with words for a number', 65, () => node.order('remove', 'fence high\n')],
    ['another boot', 78, () => node.order('remove', encodeOrder(1), { bootId: 'another-boot' })],
    [
      'too few sandboxes',
      69,
      () => node.order('remove', encodeOrder(1), { extra: ['--min-sandboxes', '9'] }),
    ],
    ['another lock', 78, () => node.order('remove', encodeOrder(1), { extra: ['--lock-inode', '1'] })],
    [
      'a silent runtime',
      69,
      () => {
        node.silence()
        return node.order('remove', encodeOrder(1))
      },
    ],
  ])('P-A3: refuses %s, and touches nothing', async (_what, code, ask) => {
    const ran = await ask()
    expect(ran).toMatchObject({ code, stdout: '' })
    expect(ran.stderr).toMatch(/^remove-orphans: .*\n$/)
    const { stores } = await node.ask()
    expect(isKnown(stores) && stores.value[0]?.allocations).toHaveLength(7)
  })
})
