import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { builtProgram } from './built.js'

const demo = join(dirname(builtProgram()), '../test/lab/demo.js')

/** Of a living process: its parent and how it was called. */
const living = (pid: string): { parent: number; command: string } | undefined => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    if (/^State:\s+Z/m.test(status)) return undefined
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { parent: Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]), command }
  } catch {
    return undefined
  }
}

const childrenOf = (parent: number): Map<string, string> => {
  const found = new Map<string, string>()
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    const one = living(pid)
    if (one?.parent === parent) found.set(pid, one.command)
  }
  return found
}

test('Ctrl-C in the middle of the story leaves no process and no folder', async () => {
  const child = spawn(process.execPath, [demo, '--small'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const { pid } = child
  if (pid === undefined) throw new Error('the demo did not start')
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  const said: string[] = []
  let before = new Map<string, string>()
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line)
    if (!line.includes('bot and worker are running')) continue
    before = childrenOf(pid)
    // As a terminal does it: everything in the foreground hears of it at once.
    process.kill(-pid, 'SIGINT')
  }
  expect(await ended).toBe(0)
  expect(said[0]).toMatch(/^The page of the local Slack: http:/)
  const commands = [...before.values()]
  for (const part of [/redis-server|valkey-server/, /cli\.js bot$/, /cli\.js worker$/])
    expect(commands.filter(command => part.test(command))).toHaveLength(1)
  expect([...before].filter(([was, command]) => living(was)?.command === command)).toEqual([])
  const folders = commands.flatMap(command => /\S*\/cnibot-lab-\w+/.exec(command)?.[0] ?? [])
  expect(folders).not.toEqual([])
  expect(folders.filter(existsSync)).toEqual([])
}, 600_000)

test('must-show 3: the drain told by itself ends proven, with exit code 0', () => {
  const told = spawnSync(process.execPath, [demo, '--play', '--small', '--path', 'drain'], {
    encoding: 'utf8',
  })
  expect(told.stdout).toMatch(/waiting for payments\/payments-db-0: PDB payments-db allows 0/)
  expect(told.stdout.trim().split('\n').slice(-6)).toEqual([
    expect.stringMatching(/^addresses on node-07: 253 before, \d+ after, without a sandbox now: 0$/),
    'removed: 243',
    'Pods moved: 10 of 10',
    'live addresses touched: 0',
    'DaemonSet platform/node-exporter: 4 of 4',
    're-count a day later: done, matched',
  ])
  expect(told.status).toBe(0)
}, 600_000)

test.each([
  [['--ply'], /Unknown option '--ply'/],
  [['--port', 'many'], /--port many is no port/],
  [['--path', 'reboot'], /--path reboot is neither reconcile nor drain/],
])('a wrong argument is one line and the usage: %s', (args, says) => {
  const { status, stderr } = spawnSync(process.execPath, [demo, ...args], { encoding: 'utf8' })
  expect(stderr).toMatch(says)
  expect(stderr.trim().split('\n').at(-1)).toMatch(/^usage: npm run demo/)
  expect(status).toBe(2)
})
