import { spawn } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import type { Code } from './code.js'
import { type NodeCheck, refuses } from './refusing.js'
import { type Entry, quarantineOf, type RuleNode, store } from './rule-node.js'

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

export const sameFileUnderTheLock: NodeCheck = async (code, node) => {
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
  await neverOverAnother(code, node, orphan)
  await otherFilesystem(code, node)
  await lockReplaced(code, node)
  renameSync(node.path(store), node.path('store'))
  symlinkSync(node.path('store'), node.path(store))
  await refuses(code, node, [], /k8s-pod-network is not a folder/)
  rmSync(node.path(store))
  renameSync(node.path('store'), node.path(store))
  rmSync(node.inStore('lock'))
  await refuses(code, node, [], /lock does not exist/)
  expect(Object.keys(node.inodes(store))).not.toContain('lock')
}

/** A file of this address lies in quarantine already: the one that came after it stays. */
const neverOverAnother = async ({ script }: Code, node: RuleNode, before: Entry): Promise<void> => {
  writeFileSync(node.inStore(before.ip), before.content)
  const { moved, why } = await node.order(script, [node.entry(before.ip)])
  expect({ moved, why }).toEqual({
    moved: [],
    why: { [before.ip]: 'could not be moved: the quarantine holds an earlier file of this address' },
  })
  expect(node.inodes(quarantineOf('run-1'))).toEqual({ [before.ip]: before.inode })
}

/** Between opening the lock and having it, somebody puts another file in its place. */
const lockReplaced = async (code: Code, node: RuleNode): Promise<void> => {
  const [late] = await node.leak(1)
  const lock = node.inStore('lock')
  const wrapper = `#!/bin/sh\ncase $* in *' 9') mv '${lock}' '${node.path('lock-before')}' && : >'${lock}' ;; esac\nexec /usr/bin/flock "$@"\n`
  node.write('bin/flock', wrapper)
  chmodSync(node.path('bin/flock'), 0o755)
  await refuses(code, node, late ? [late] : [], /lock was replaced meanwhile/)
  rmSync(node.path('bin/flock'))
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
