import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2, { type Connection, type ServerChannel } from 'ssh2'
import { createNodeShell } from '../../../src/adapters/ssh/node-shell.js'
import type { CommandResult } from '../../../src/ports.js'
import { newKey, writeKey } from '../../lab/nodes/keys.js'

type Rudeness = (accept: () => ServerChannel) => void

let dir: string
let rude: Rudeness
let server: ssh2.Server
let connections: Set<Connection>
let banner: string | undefined

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cnibot-rude-'))
  connections = new Set()
  banner = undefined
})
afterEach(async () => {
  for (const client of connections) client.end()
  await new Promise<void>(resolve => server.close(() => resolve()))
  rmSync(dir, { recursive: true, force: true })
})

/** A server that knows the protocol and keeps to none of its manners once a command is asked for. */
const start = async (): Promise<number> => {
  const hostKey = newKey('rude')
  writeKey(join(dir, 'key'), newKey('client'))
  const options = { hostKeys: [hostKey.private], ...(banner === undefined ? {} : { banner }) }
  server = new ssh2.Server(options, client => {
    connections.add(client)
    client.on('error', () => undefined)
    client.once('close', () => connections.delete(client))
    client.on('authentication', context => context.accept())
    client.on('session', accept => {
      const session = accept()
      session.on('exec', acceptExec => rude(acceptExec))
      session.on('signal', () => undefined)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  writeFileSync(join(dir, 'known_hosts'), `node-07 ${hostKey.public}\n`)
  return (server.address() as AddressInfo).port
}

const ask = async (
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<{ result: CommandResult; again: () => Promise<CommandResult>; close: () => Promise<void> }> => {
  const port = await start()
  const shell = createNodeShell({
    readUser: 'probe',
    readKeyFile: join(dir, 'key'),
    knownHostsFile: join(dir, 'known_hosts'),
    nodeAddresses: new Map([['node-07', { host: '127.0.0.1', port }]]),
    connectTimeoutMs: 10_000,
  })
  const target = { name: 'node-07', address: '127.0.0.1' }
  const limits = { timeoutMs, maxBytes: 100_000, ...(signal === undefined ? {} : { signal }) }
  const again = () => shell.run(target, { script: 'probe', args: [] }, limits)
  try {
    return { result: await again(), again, close: () => shell.close() }
  } catch (error) {
    await shell.close()
    throw error
  }
}

/** Whether the last connection is ended by us, without waiting for it to be idle. */
const hungUp = async (): Promise<boolean> => {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; ) {
    if (connections.size === 0) return true
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  return false
}

test('B6: a node that takes the connection and never starts the command is left at the deadline', async () => {
  rude = () => undefined
  const { result, close } = await ask(700)
  expect(result).toMatchObject({ timedOut: true, exitCode: undefined, stdout: '' })
  expect(await hungUp()).toBe(true)
  await close()
})

test('B6: stopping the caller stops waiting for such a node too', async () => {
  const controller = new AbortController()
  rude = () => controller.abort()
  await expect(ask(60_000, controller.signal)).rejects.toThrow(/^stopped before the node had answered/)
})

test('B6: a node that goes on sending, whatever it is told, loses the connection', async () => {
  rude = accept => {
    const channel = accept()
    channel.on('error', () => undefined)
    const chunk = Buffer.alloc(32_768, 'x')
    const send = (): void => {
      while (channel.writable && channel.write(chunk));
      channel.once('drain', send)
    }
    send()
  }
  const { result, close } = await ask(30_000)
  expect(result).toMatchObject({ truncated: true, exitCode: undefined })
  expect(result.stdout).toHaveLength(100_000)
  expect(await hungUp()).toBe(true)
  await close()
})

test('B6: a node that says how the command ended and never closes it is left at the deadline', async () => {
  rude = accept => {
    const channel = accept()
    channel.write('>host 1.0\n')
    channel.exit(0)
  }
  const { result, close } = await ask(700)
  expect(result).toMatchObject({ timedOut: true, stdout: '>host 1.0\n' })
  expect(await hungUp()).toBe(true)
  await close()
})

test('a command that is over before we look keeps its exit code', async () => {
  rude = accept => {
    const channel = accept()
    channel.stderr.write('not found\n')
    channel.exit(127)
    channel.end()
  }
  const { result, close, again } = await ask(10_000)
  const codes = [result.exitCode]
  for (let turn = 0; turn < 50; turn += 1) codes.push((await again()).exitCode)
  expect(new Set(codes)).toEqual(new Set([127]))
  await close()
})

test('B6: a long banner before the login, and a code that no command has, do no harm', async () => {
  banner = '\u001b[2J<!channel>\n'.repeat(1_000)
  rude = accept => {
    const channel = accept()
    channel.exit(4_294_967_295)
    channel.end()
  }
  const { result, close } = await ask(10_000)
  expect(result).toMatchObject({ timedOut: false, stdout: '', stderr: '' })
  await close()
})
