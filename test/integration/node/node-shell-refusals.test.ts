import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createNodeShell, type SshSettings } from '../../../src/adapters/ssh/node-shell.js'
import type { NodeCommand, NodeShell } from '../../../src/ports.js'
import { onePlace, type Place } from './on-node.js'

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

describe('refuses, with one line that says what to do', () => {
  const refused = async (change: Partial<SshSettings>): Promise<string> => {
    const error: unknown = await shellWith(change)
      .run(node, probe, limits)
      .catch((cause: unknown) => cause)
    if (!(error instanceof Error)) throw new Error('it was let in')
    expect(error.message).not.toContain('\n')
    return `${error.name}: ${error.message}`
  }
  const spelled = () => `[127.0.0.1]:${place.node.port}`

  test('a host key that is not pinned', async () => {
    expect(await refused({ knownHostsFile: file('none', '# empty\n') })).toMatch(
      /^Refused: no host key of node-07 \(\[127\.0\.0\.1\]:\d+\) is in .*none; compare what `ssh-keyscan -p \d+ 127\.0\.0\.1`/,
    )
  })
  test('another host key than the pinned one', async () => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(place.dir, 'other')])
    const [type, key] = readFileSync(join(place.dir, 'other.pub'), 'utf8').split(' ')
    const text = await refused({ knownHostsFile: file('wrong', `${spelled()} ${type} ${key}\n`) })
    expect(text).toMatch(
      /^Refused: node-07 \(127\.0\.0\.1:\d+\): its host key SHA256:\S+ is not the pinned one/,
    )
    expect(text).toContain('in line 1 of')
  })
  test('a revoked host key, even where another line pins it', async () => {
    const lines = `${spelled()} ${place.node.hostKey}\n@revoked * ${place.node.hostKey}\n`
    expect(await refused({ knownHostsFile: file('revoked', lines) })).toMatch(
      /is revoked \(.*revoked, line 2\): .*; give the node a new host key and pin that one$/,
    )
  })
  test('a certificate authority instead of a key', async () => {
    const lines = `@cert-authority * ${place.node.hostKey}\n`
    expect(await refused({ knownHostsFile: file('authority', lines) })).toContain(
      'line 1 names a certificate authority, which cannot be used here',
    )
  })
  test('a key of a type the node does not have', async () => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ecdsa', '-N', '', '-f', join(place.dir, 'ecdsa')])
    const [type, key] = readFileSync(join(place.dir, 'ecdsa.pub'), 'utf8').split(' ')
    expect(await refused({ knownHostsFile: file('type', `${spelled()} ${type} ${key}\n`) })).toMatch(
      /^Refused: .*offers no host key of a pinned type/,
    )
  })
  test('a user key the node does not accept', async () => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(place.dir, 'stranger')])
    expect(await refused({ readKeyFile: join(place.dir, 'stranger') })).toMatch(
      /^Refused: node-07 .* does not let \S+ in with the key .*stranger: add its public key/,
    )
  })
  test('a user key with a passphrase, and one that is not there', async () => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'secret', '-f', join(place.dir, 'locked')])
    expect(await refused({ readKeyFile: join(place.dir, 'locked') })).toMatch(
      /give one without a passphrase$/,
    )
    expect(await refused({ readKeyFile: join(place.dir, 'absent') })).toMatch(
      /absent cannot be read \(ENOENT\)/,
    )
    expect(await refused({ knownHostsFile: join(place.dir, 'absent') })).toMatch(
      /known_hosts file .* cannot be read/,
    )
  })
  test('a node without an address', async () => {
    const shell = shellWith()
    await expect(shell.run({ name: 'node-99', address: undefined }, probe, limits)).rejects.toThrow(
      'node-99 has no InternalIP: set its address in CNIBOT_SSH_NODE_ADDRESSES',
    )
  })
  test('a node where nobody listens, and one that says nothing', async () => {
    const silent: Server = createServer(socket => socket.resume())
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    const at = (number: number): Partial<SshSettings> => ({
      nodeAddresses: new Map([['node-07', { host: '127.0.0.1', port: number }]]),
      connectTimeoutMs: 700,
    })
    expect(await refused(at(port))).toMatch(/^Unreachable: node-07 .* did not answer SSH within 0\.7 s/)
    await new Promise(resolve => silent.close(resolve))
    expect(await refused(at(port))).toMatch(
      /^Unreachable: node-07 .* refuses connections: is sshd running there\?/,
    )
  })
})
