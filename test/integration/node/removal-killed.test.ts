import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { removeOrphansPath } from '../../../src/adapters/ssh/scripts.js'
import {
  encodeOrder,
  encodeRemovalList,
  readRemovalReport,
  type RemovalReport,
} from '../../../src/core/evidence/parse/removal-report.js'
import { readStatements, withLine } from '../../soak/removal/statements.js'
import { type Entry, racingBoot, racingDir, RacingNode } from './racing-node.js'

let node: RacingNode
beforeAll(async () => {
  node = new RacingNode('10.244.7.0/26')
  await node.start(0)
  await node.start(0)
})
afterAll(() => node.remove())

const statements = readStatements()
/** Every place between two statements: of what moves files, and inside the part that restores. */
const places = (verb: 'remove' | 'restore'): number[] =>
  verb === 'restore'
    ? statements.restore
    : statements.remove.filter(index => index > (statements.restore.at(-1) ?? 0))

const argv = (script: string, verb: string, op: string): string[] => {
  const where = [
    '--network-dir',
    racingDir,
    '--quarantine',
    `/var/lib/cni/cnibot-quarantine/${op}/k8s-pod-network`,
  ]
  const what = ['--op', op, '--boot-id', racingBoot, '--endpoint', 'unix:///run/containerd/containerd.sock']
  return ['setsid', 'dash', script, verb, ...where, ...what]
}
const run = async (
  script: string,
  verb: string,
  op: string,
  list: Entry[],
): Promise<{ code: number | null; report: RemovalReport }> => {
  const { code, stdout } = await node.run(argv(script, verb, op), encodeOrder(1, encodeRemovalList(list)))
  return { code, report: readRemovalReport(stdout) }
}
/** The script with its end at this line: as if the connection, and with it the script, had died there. */
const killedAt = (index: number): string => {
  const script = join(node.root, 'killed.sh')
  writeFileSync(script, withLine(statements, index, 'kill -9 $$'))
  return script
}
const leak = async (): Promise<Entry[]> => {
  const ids = await Promise.all([node.leak(), node.leak(), node.leak()])
  return node.entries().filter(({ owner }) => ids.includes(owner))
}
const isThere = ({ ip, owner }: Entry): boolean => node.entry(ip)?.owner === owner
const kept = (op: string): string[] =>
  [...node.ownersIn(`/var/lib/cni/cnibot-quarantine/${op}/k8s-pod-network`).keys()].sort()
const ips = (entries: Entry[]): string[] => entries.map(({ ip }) => ip).sort()

test('P-A3: killed between any two statements, the next try ends it and tells what the first one moved', async () => {
  const points = places('remove')
  expect(points.length).toBeGreaterThan(40)
  for (const index of points) {
    const op = `killed-${index}`
    const orphans = await leak()
    const killed = await run(killedAt(index), 'remove', op, orphans)
    expect(killed.code).toBeNull()
    const moved = ips(orphans.filter(entry => !isThere(entry)))
    expect(kept(op)).toEqual(moved)
    // A caller who looks again approves only what is still there.
    const { code, report } = await run(
      removeOrphansPath,
      'remove',
      op,
      index % 2 === 0 ? orphans : orphans.filter(isThere),
    )
    expect({
      code,
      already: report.already.toSorted(),
      all: [...report.already, ...report.moved].sort(),
    }).toEqual({
      code: 0,
      already: moved,
      all: ips(orphans),
    })
    expect(orphans.filter(isThere)).toEqual([])
    expect(kept(op)).toEqual(ips(orphans))
    expect(node.robbed()).toEqual([])
  }
}, 600_000)

test('P-A3: killed in the middle of moving: half is moved, and the next try says which half', async () => {
  const mv = join(node.root, 'bin/mv')
  writeFileSync(
    mv,
    '#!/bin/sh\ncase $1 in -n) /bin/mv "$1" "$2" "$3" -- "$5"; kill -9 -"$(ps -o pgid= -p $$ | tr -d " ")" ;; *) exec /bin/mv "$@" ;; esac\n',
  )
  chmodSync(mv, 0o755)
  const orphans = await leak()
  const killed = await run(removeOrphansPath, 'remove', 'half', orphans)
  rmSync(mv)
  expect(killed).toMatchObject({ code: null, report: { complete: false } })
  expect(kept('half')).toHaveLength(1)
  const { report } = await run(removeOrphansPath, 'remove', 'half', orphans)
  expect(report.already).toEqual(ips(orphans.filter(({ ip }) => !report.moved.includes(ip))))
  expect(report.moved).toHaveLength(2)
})

test('P-A3: an undo killed between any two statements is ended by the next', async () => {
  const points = places('restore')
  expect(points.length).toBeGreaterThan(8)
  for (const index of points) {
    const op = `undo-${index}`
    const orphans = await leak()
    await run(removeOrphansPath, 'remove', op, orphans)
    await run(killedAt(index), 'restore', op, [])
    const { code, report } = await run(removeOrphansPath, 'restore', op, [])
    expect({ code, skipped: report.skipped, back: [...report.moved, ...report.already].sort() }).toEqual({
      code: 0,
      skipped: [],
      back: ips(orphans),
    })
    expect(orphans.filter(entry => !isThere(entry))).toEqual([])
    expect(kept(op)).toEqual([])
    for (const { owner } of orphans) await node.del(owner)
  }
}, 300_000)
