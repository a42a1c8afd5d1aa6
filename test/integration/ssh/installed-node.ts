import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { createNodeShell, type SshSettings } from '../../../src/adapters/ssh/node-shell.js'
import { newKey, writeKey } from '../../lab/nodes/keys.js'
import { type SshServer, startSshd } from '../../lab/nodes/sshd.js'
import { environment, onePlace, type Place, programs } from '../node/on-node.js'

export const shipped = join(import.meta.dirname, '../../../src/adapters/ssh')
export const library = '/usr/local/lib/cnibot'

const needRoot = (): void => {
  if (process.getuid?.() !== 0)
    throw new Error('what is installed on a node must belong to root: run this test as root')
}

/** Runs install-node.sh into a tree; throws with what it said where it refuses. */
export const install = (tree: string, readKey: string, repairKey: string): string => {
  needRoot()
  const keys = ['--read-key', readKey, '--repair-key', repairKey]
  return execFileSync('sh', [join(shipped, 'install-node.sh'), ...keys, '--destdir', tree], {
    encoding: 'utf8',
    stdio: 'pipe',
  })
}

export interface InstalledNode {
  place: Place
  /** What install-node.sh filled. */
  tree: string
  /** What it printed. */
  printed: string
  port: number
  readKey: string
  repairKey: string
  settings(change?: Partial<SshSettings>): SshSettings
  close(): Promise<void>
}

/**
 * A node of the lab behind an sshd of its own whose keys run the installed forced command. Both identities log in as the
 * user of the test: only their keys tell them apart.
 */
export const startInstalledNode = async (): Promise<InstalledNode> => {
  const place = await onePlace()
  const [tree, readKey, repairKey] = ['tree', 'read', 'repair'].map(name => join(place.dir, name)) as [
    string,
    string,
    string,
  ]
  for (const path of [readKey, repairKey]) writeKey(path, newKey(path))
  const printed = install(tree, `${readKey}.pub`, `${repairKey}.pub`)
  const dispatch = join(tree, library, 'dispatch')
  // The node's programs are the lab's, and its root lies elsewhere.
  const text = readFileSync(dispatch, 'utf8').replace(/^PATH=/m, `PATH=${programs}:`)
  writeFileSync(dispatch, text)
  const lines = ['cnibot-probe', 'cnibot-repair'].map(user =>
    readFileSync(join(tree, `/home/${user}/.ssh/authorized_keys`), 'utf8').replace(
      library,
      join(tree, library),
    ),
  )
  writeFileSync(join(tree, 'authorized_keys'), lines.join(''))
  const hostKey = newKey('installed')
  writeKey(join(tree, 'host_key'), hostKey)
  const server: SshServer = await startSshd({
    dir: tree,
    hostKeyFile: join(tree, 'host_key'),
    authorizedKeysFile: join(tree, 'authorized_keys'),
    environment: Object.fromEntries(
      Object.entries(environment(place.node)).map(([name, value]) => [name, value ?? '']),
    ),
  })
  writeFileSync(join(tree, 'known_hosts'), `node-07 ${hostKey.public}\n`)
  return {
    place,
    tree,
    printed,
    port: server.port,
    readKey,
    repairKey,
    settings: (change = {}) => ({
      mode: 'installed',
      readUser: place.lab.user,
      readKeyFile: readKey,
      repairUser: place.lab.user,
      repairKeyFile: repairKey,
      knownHostsFile: join(tree, 'known_hosts'),
      nodeAddresses: new Map([['node-07', { host: '127.0.0.1', port: server.port }]]),
      connectTimeoutMs: 10_000,
      ...change,
    }),
    close: async () => {
      await server.close()
      await place.close()
    },
  }
}

export const shellOf = (node: InstalledNode, change: Partial<SshSettings> = {}) =>
  createNodeShell(node.settings(change))

export interface Answered {
  code: number | undefined
  out: string
  err: string
}

/** What a client that keeps to no form gets: `ask` opens whatever channel it likes. */
export const asStranger = async (
  { port, place }: InstalledNode,
  keyFile: string,
  ask: (client: ssh2.Client, answered: ssh2.ClientCallback) => void,
): Promise<Answered> => {
  const client = new ssh2.Client()
  try {
    await new Promise<void>((resolve, reject) => {
      client.once('ready', resolve).once('error', reject)
      const login = { host: '127.0.0.1', port, username: place.lab.user }
      client.connect({ ...login, privateKey: readFileSync(keyFile), hostVerifier: () => true })
    })
    return await new Promise<Answered>((resolve, reject) => {
      ask(client, (error, channel) => {
        if (error !== undefined) {
          reject(error)
          return
        }
        const answered: Answered = { code: undefined, out: '', err: '' }
        channel.on('data', (chunk: Buffer) => (answered.out += chunk.toString()))
        channel.stderr.on('data', (chunk: Buffer) => (answered.err += chunk.toString()))
        channel.on('exit', (code: number | null) => (answered.code = code ?? undefined))
        channel.once('close', () => resolve(answered))
        channel.end()
      })
    })
  } finally {
    client.end()
  }
}
