import { existsSync, readFileSync, writeFileSync } from 'node:fs'

import { join } from 'node:path'
import { createNodeShell, type SshSettings } from '../../../src/adapters/ssh/node-shell.js'
import { readNodeAnswers } from '../../../src/core/evidence/parse/answers.js'
import type { NodeCommand, NodeShell } from '../../../src/ports.js'
import { onePlace, type Place, value } from './on-node.js'

let place: Place
let shells: (NodeShell & { close(): Promise<void> })[]

beforeAll(async () => {
  place = await onePlace()
  await place.node.add({ name: 'a', namespace: 'payments', uid: 'uid-a' })
})
afterAll(() => place.close())
beforeEach(() => {
  shells = []
})
afterEach(async () => {
  await Promise.all(shells.map(shell => shell.close()))
})

const settings = (change: Partial<SshSettings> = {}): SshSettings => ({
  readUser: place.lab.user,
  readKeyFile: place.lab.readIdentity,
  repairUser: place.lab.user,
  repairKeyFile: place.lab.repairIdentity,
  knownHostsFile: place.lab.knownHosts,
  nodeAddresses: new Map([['node-07', { host: '127.0.0.1', port: place.node.port }]]),
  connectTimeoutMs: 10_000,
  ...change,
})
const shellWith = (change: Partial<SshSettings> = {}): NodeShell & { close(): Promise<void> } => {
  const shell = createNodeShell(settings(change))
  shells.push(shell)
  return shell
}

const node = { name: 'node-07', address: '127.0.0.1' }
const probe: NodeCommand = { script: 'probe', args: ['--light'] }
const limits = { timeoutMs: 30_000, maxBytes: 16 * 1024 * 1024 }
const file = (name: string, text: string): string => {
  const path = join(place.dir, name)
  writeFileSync(path, text)
  return path
}
/** A node's command that is a small program instead of the probe. */
const saying = (program: string): Partial<SshSettings> => ({ probeCommand: ['/bin/sh', '-c', program, '--'] })
const eventually = async (what: string, holds: () => boolean): Promise<void> => {
  for (const deadline = Date.now() + 15_000; Date.now() < deadline; ) {
    if (holds()) return
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`not within 15 s: ${what}`)
}
const isRunning = (pidFile: string): boolean => existsSync(`/proc/${readFileSync(pidFile, 'utf8').trim()}`)

/** Whether our side of a connection still exists, by its local port. */
const listening = (port: string): boolean =>
  readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .some(
      line =>
        line.split(/\s+/)[2]?.endsWith(`:${Number(port).toString(16).toUpperCase().padStart(4, '0')}`) ===
          true && line.split(/\s+/)[4] === '01',
    )

test('P-E3: the probe over SSH, with a hashed known_hosts, answers and shows the line that ran', async () => {
  expect(readFileSync(place.lab.knownHosts, 'utf8')).toMatch(/^\|1\|/)
  const shell = shellWith()
  const at = place.clock.now()
  const result = await shell.run(node, probe, limits)
  expect(result).toMatchObject({ exitCode: 0, timedOut: false, truncated: false, stderr: '' })
  expect(result.shown).toBe('timeout -k 5 120 /bin/sh -s -- --light')
  expect(result.shown).toBe(shell.shown(probe))
  const answers = readNodeAnswers(result, { at, now: place.clock.now() })
  expect(value(answers.host).hostname).toBe('node-07')
  expect(value(answers.stores)[0]?.allocations).toHaveLength(1)
})

test('an argument with quotes, blanks and a dollar arrives as it was', async () => {
  const odd = `a 'b' "c" $HOME \`id\` ; \\ é`
  const shell = shellWith({ probeCommand: ['printf', '%s'] })
  const result = await shell.run(node, { script: 'probe', args: [odd] }, limits)
  expect(result.stdout).toBe(odd)
})

test('remove-orphans runs as the user for repairs and reads its list', async () => {
  const shell = shellWith({ removeCommand: ['sh', '-c', 'cat; echo " $0"'] })
  const result = await shell.run(
    node,
    { script: 'remove-orphans', args: ['restore'], stdin: 'one\n' },
    limits,
  )
  expect(result.stdout).toBe('one\n restore\n')
  // The digest lets a node with another version of the script refuse.
  expect(result.shown).toMatch(
    /^timeout -k 5 120 sh -c 'cat; echo " \$0"' restore --script-digest [0-9a-f]{64}$/,
  )
})

test('output beyond the cap is cut and the command on the node ends', async () => {
  const pid = join(place.dir, 'flood.pid')
  const shell = shellWith(saying(`echo $$ > ${pid}; exec yes`))
  const result = await shell.run(node, probe, { timeoutMs: 30_000, maxBytes: 100_000 })
  expect(result).toMatchObject({ truncated: true, timedOut: false })
  expect(result.stdout).toHaveLength(100_000)
  await eventually('yes has ended', () => !isRunning(pid))
})

test('a flood on stderr neither hangs the command nor fills the memory', async () => {
  const shell = shellWith(saying('head -c 5000000 /dev/zero | tr "\\0" e >&2; echo done'))
  const result = await shell.run(node, probe, limits)
  expect(result).toMatchObject({ stdout: 'done\n', exitCode: 0 })
  expect(result.stderr).toHaveLength(64 * 1024)
})

test('what had arrived when the time is up is kept, and the command on the node ends', async () => {
  const pid = join(place.dir, 'slow.pid')
  const shell = shellWith(saying(`echo $$ > ${pid}; echo early; while sleep 0.2; do echo more; done`))
  const result = await shell.run(node, probe, { timeoutMs: 1500, maxBytes: 1000 })
  expect(result).toMatchObject({ timedOut: true, stdout: expect.stringMatching(/^early\n/) })
  await eventually('the loop has ended', () => !isRunning(pid))
})

test('the limit on the node ends a silent command although nobody waits for it', async () => {
  const pid = join(place.dir, 'silent.pid')
  const shell = shellWith({ ...saying(`echo $$ > ${pid}; exec sleep 600`), commandLimitS: 3 })
  expect(await shell.run(node, probe, limits)).toMatchObject({ exitCode: 124, timedOut: false })
  expect(isRunning(pid)).toBe(false)
  expect(await shell.run(node, probe, { ...limits, timeoutMs: 500 })).toMatchObject({ timedOut: true })
  await eventually('sleep has ended', () => !isRunning(pid))
})

test('a connection lost in the middle leaves what had arrived, and no exit code', async () => {
  const shell = shellWith(saying('echo ">host 1.0"; echo " hostname a"; kill -9 $(ps -o ppid= -p $PPID)'))
  const result = await shell.run(node, probe, limits)
  expect(result.exitCode).toBeUndefined()
  expect(result.stdout).toBe('>host 1.0\n hostname a\n')
  const answers = readNodeAnswers(result, { at: 1, now: 2 })
  expect(answers.sandboxes).toMatchObject({ reason: expect.stringContaining('the connection ended before') })
  // The next command opens another connection.
  const next = await shell.run(node, { script: 'remove-orphans', args: ['x'] }, limits)
  expect(next.exitCode).not.toBeUndefined()
})

test('one connection serves many commands at once, and a cap holds for all nodes', async () => {
  const shell = shellWith({ ...saying('echo $SSH_CONNECTION'), maxConnections: 1 })
  const results = await Promise.all(Array.from({ length: 12 }, () => shell.run(node, probe, limits)))
  expect(new Set(results.map(({ stdout }) => stdout)).size).toBe(1)
  // The other user needs a connection of his own: the idle one makes room.
  const repair = await shell.run(node, { script: 'remove-orphans', args: [] }, limits)
  expect(repair.exitCode).not.toBe(0)
})

test('an unused connection is closed after a while', async () => {
  const shell = shellWith({ ...saying('echo $SSH_CONNECTION; echo $PPID'), idleMs: 100 })
  const { stdout } = await shell.run(node, probe, limits)
  const session = `/proc/${stdout.split('\n')[1]}`
  const port = stdout.split(' ')[1] ?? ''
  await eventually('the session has ended', () => !existsSync(session))
  await eventually('its port is free', () => !listening(port))
  expect((await shell.run(node, probe, limits)).stdout.split(' ')[1]).not.toBe(port)
})

test('stopping the caller stops the command', async () => {
  const pid = join(place.dir, 'stopped.pid')
  const controller = new AbortController()
  const shell = shellWith(saying(`echo $$ > ${pid}; while sleep 0.2; do echo more; done`))
  const running = shell.run(node, probe, { ...limits, signal: controller.signal })
  await eventually('it runs', () => existsSync(pid) && readFileSync(pid, 'utf8') !== '')
  controller.abort()
  await expect(running).rejects.toThrow(/^stopped before the node had answered/)
  await eventually('the loop has ended', () => !isRunning(pid))
})

test('a jump host is gone through, and its key is pinned too', async () => {
  const jump = { user: place.lab.user, host: '127.0.0.1', port: place.node.port }
  const result = await shellWith({ ...saying('echo through'), jump }).run(node, probe, limits)
  expect(result.stdout).toBe('through\n')
  const only = file('only-node', `node-07 ${place.node.hostKey}\n`)
  await expect(
    shellWith({ jump: { ...jump, host: 'localhost' }, knownHostsFile: only }).run(node, probe, limits),
  ).rejects.toThrow(/no host key of localhost/)
})
