import { mkdirSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pLimit from 'p-limit'
import type { LabClock } from '../clock.js'
import { pluginFolder } from './host-local.js'
import { hashedHost, newKey, writeKey } from './keys.js'
import { LabNode } from './lab-node.js'
import { startSsh2Server } from './ssh2-server.js'
import { type SshServer, type SshServerOptions, sshdUnusable, startSshd } from './sshd.js'

export { LabNode } from './lab-node.js'
export { type Allocation, type PodNetwork, type Sandbox, SandboxError, type SandboxPod } from './model.js'

export interface StartNodesOptions {
  /** Everything of the lab's nodes lies below it. */
  dir: string
  clock: LabClock
  names: string[]
  /** e.g. `10.244.7.0/24` for `node-07`. */
  podCidr: (name: string) => string
  /** Default `1.7.24`; a function for a mixed fleet. */
  runtimeVersion?: string | ((name: string) => string)
  /** Default: OpenSSH where it can serve this user, else ssh2. */
  ssh?: 'openssh' | 'ssh2'
  /** How long the nodes have been up, in milliseconds; default 20 days. */
  uptimeMs?: number
}

export interface LabNodes {
  nodes: Map<string, LabNode>
  /** Throws for a name the lab does not have. */
  node(name: string): LabNode
  user: string
  /** known_hosts with hashed entries for `[127.0.0.1]:port` and for the node's name. */
  knownHosts: string
  /** Private keys that every node accepts: one for reading, one for repairs. `identityFile` is the first. */
  identityFile: string
  readIdentity: string
  repairIdentity: string
  ssh: 'openssh' | 'ssh2'
  /** Ends every SSH server and session of the lab. */
  close(): Promise<void>
}

const programs = fileURLToPath(new URL('./bin', import.meta.url))
const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Throws when host-local is missing, naming the package. */
export const startNodes = async (options: StartNodesOptions): Promise<LabNodes> => {
  const plugins = pluginFolder()
  const { dir, clock, names, podCidr, runtimeVersion = '1.7.24', uptimeMs = 20 * 86_400_000 } = options
  const ssh = options.ssh ?? (sshdUnusable() === undefined ? 'openssh' : 'ssh2')
  const clients = ['read', 'repair'].map(name => ({
    key: newKey(`lab-${name}`),
    path: join(dir, `id_${name}`),
  }))
  mkdirSync(dir, { recursive: true })
  for (const { key, path } of clients) writeKey(path, key)
  const authorizedKeysFile = join(dir, 'authorized_keys')
  writeFileSync(authorizedKeysFile, clients.map(({ key }) => `${key.public}\n`).join(''))

  const nodes = new Map<string, LabNode>()
  for (const name of names) {
    const version = typeof runtimeVersion === 'string' ? runtimeVersion : runtimeVersion(name)
    const node = new LabNode({
      name,
      dir: join(dir, name),
      podCidr: podCidr(name),
      clock,
      plugins,
      runtimeVersion: version,
      uptimeMs,
    })
    nodes.set(name, node)
  }
  const servers: SshServer[] = []
  const close = async (): Promise<void> => {
    for (const node of nodes.values()) node.close()
    await Promise.all(servers.splice(0).map(server => server.close()))
  }
  const start = ssh === 'openssh' ? startSshd : startSsh2Server
  const limit = pLimit(4)
  try {
    await Promise.all(
      [...nodes.values()].map(node =>
        limit(async () => servers.push(await open(node, start, authorizedKeysFile))),
      ),
    )
  } catch (error) {
    await close()
    throw error
  }
  const [read, repair] = clients.map(client => client.path)
  const known = [...nodes.values()].flatMap(({ address, port, name, hostKey }) =>
    [`[${address}]:${port}`, name].map(host => hashedHost(host, hostKey)),
  )
  writeFileSync(join(dir, 'known_hosts'), known.join(''))
  return {
    nodes,
    node: name => {
      const node = nodes.get(name)
      if (node === undefined) throw new Error(`The lab has no node ${name}; it has ${names.join(', ')}`)
      return node
    },
    user: userInfo().username,
    knownHosts: join(dir, 'known_hosts'),
    identityFile: read ?? '',
    readIdentity: read ?? '',
    repairIdentity: repair ?? '',
    ssh,
    close,
  }
}

const open = async (
  node: LabNode,
  start: (options: SshServerOptions) => Promise<SshServer>,
  authorizedKeysFile: string,
): Promise<SshServer> => {
  const key = newKey(node.name)
  const hostKeyFile = join(node.dir, 'host_key')
  writeKey(hostKeyFile, key)
  const server = await start({
    dir: node.dir,
    hostKeyFile,
    authorizedKeysFile,
    commandLog: node.commandLog,
    environment: {
      CNIBOT_NODE_ROOT: node.root,
      CNIBOT_LAB_CLOCK: node.clock.path,
      PATH: `${programs}:${systemPath}`,
    },
  })
  node.hostKey = key.public
  node.port = server.port
  return server
}
