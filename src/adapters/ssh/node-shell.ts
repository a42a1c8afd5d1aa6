import pRetry from 'p-retry'
import type ssh2 from 'ssh2'
import {
  type CommandResult,
  type NodeCommand,
  type NodeShell,
  type NodeTarget,
  Refused,
  Unreachable,
} from '../../ports.js'
import { openConnection, readSecretFile } from './connection.js'
import { Connections } from './connections.js'
import { execute, NotStarted } from './exec.js'
import { commandLine } from './quote.js'
import { whyNotStarted } from './dispatch.js'
import { probeDigest, probeScript, removeOrphansDigest } from './scripts.js'

export interface SshSettings {
  /**
   * `sent` (default): the probe goes to a shell on the node. `installed`: both scripts lie on the node, and a forced command
   * runs nothing but them, each only if its digest is that of ours.
   */
  mode?: 'sent' | 'installed'
  /** Asks questions only. */
  readUser: string
  readKeyFile: string
  /** Runs remove-orphans; may be absent where nothing is repaired. */
  repairUser?: string
  repairKeyFile?: string
  knownHostsFile: string
  /** Port of sshd on the nodes; default 22. */
  port?: number
  /** Nodes that are reached elsewhere than at their InternalIP. */
  nodeAddresses?: ReadonlyMap<string, { host: string; port?: number | undefined }>
  /** Host to go through; its key is pinned as well. The same key logs in there. */
  jump?: { user: string; host: string; port: number }
  /** Reads the probe from standard input; default `/bin/sh -s --`. */
  probeCommand?: readonly string[]
  /** Default `sudo -n /usr/local/lib/cnibot/remove-orphans`. */
  removeCommand?: readonly string[]
  /** On the node every command ends after so many seconds, whatever becomes of us; default 120. */
  commandLimitS?: number
  connectTimeoutMs?: number
  maxConnections?: number
  /** How long an unused connection is kept; default 30 s. */
  idleMs?: number
}

interface Destination {
  name: string
  address: string
  port: number
}
interface Identity {
  user: string
  keyFile: string
}

/** A connection that was dropped before its handshake: sshd refuses newcomers while many log in (MaxStartups). */
const busy = (error: unknown): boolean =>
  error instanceof Unreachable && /before handshake|before the login was done|ECONNRESET/.test(error.message)

class SshNodeShell implements NodeShell {
  private readonly connections: Connections

  constructor(private readonly settings: SshSettings) {
    this.connections = new Connections(settings.maxConnections ?? 16, settings.idleMs ?? 30_000)
  }

  shown({ script, args }: NodeCommand): string {
    const { mode, probeCommand, removeCommand, commandLimitS = 120 } = this.settings
    if (mode === 'installed') {
      const digest = script === 'probe' ? probeDigest() : removeOrphansDigest()
      return commandLine([script, ...args, '--script-digest', digest])
    }
    const command =
      script === 'probe'
        ? [...(probeCommand ?? ['/bin/sh', '-s', '--']), ...args]
        : [
            ...(removeCommand ?? ['sudo', '-n', '/usr/local/lib/cnibot/remove-orphans']),
            ...args,
            '--script-digest',
            removeOrphansDigest(),
          ]
    // Without it the command would outlive a lost connection.
    return commandLine(['timeout', '-k', '5', String(commandLimitS), ...command])
  }

  async run(
    node: NodeTarget,
    command: NodeCommand,
    options: { timeoutMs: number; maxBytes: number; signal?: AbortSignal },
  ): Promise<CommandResult> {
    const destination = this.destination(node)
    const identity = this.identity(command)
    if (options.signal?.aborted) throw new Unreachable(`${node.name} was not asked: this process is stopping`)
    // With the key: two identities never share a login, not even where they share a user.
    const key = `${identity.user} ${identity.keyFile} ${node.name} ${destination.address} ${destination.port}`
    const execution = {
      ...options,
      shown: this.shown(command),
      stdin: this.stdinOf(command),
    }
    const once = () =>
      this.connections.use(
        key,
        () => this.open(destination, identity),
        client => execute(client, execution),
      )
    try {
      const result = await once().catch((error: unknown) => {
        // A kept connection can be dead without our knowing; nothing was started on it.
        if (!(error instanceof NotStarted)) throw error
        this.connections.forget(key)
        return once()
      })
      const why = this.settings.mode === 'installed' ? whyNotStarted(result) : undefined
      if (why !== undefined) throw new Refused(`${node.name}: ${why}`)
      return result
    } catch (error) {
      if (error instanceof NotStarted)
        throw new Unreachable(`${node.name}: no command could be started: ${error.message}`)
      throw error
    }
  }

  close(): Promise<void> {
    return this.connections.close()
  }

  private stdinOf({ script, stdin = '' }: NodeCommand): string {
    if (script !== 'probe') return stdin
    return this.settings.mode === 'installed' ? '' : probeScript()
  }

  private destination({ name, address }: NodeTarget): Destination {
    const { nodeAddresses, port = 22 } = this.settings
    const own = nodeAddresses?.get(name)
    if (own !== undefined) return { name, address: own.host, port: own.port ?? port }
    if (address === undefined) {
      throw new Refused(`${name} has no InternalIP: set its address in CNIBOT_SSH_NODE_ADDRESSES`)
    }
    return { name, address, port }
  }

  private identity({ script }: NodeCommand): Identity {
    const { readUser, readKeyFile, repairUser, repairKeyFile } = this.settings
    if (script === 'probe') return { user: readUser, keyFile: readKeyFile }
    if (repairUser === undefined || repairKeyFile === undefined) {
      throw new Refused(
        'no user for repairs is set: set CNIBOT_SSH_REPAIR_USER and CNIBOT_SSH_REPAIR_KEY_FILE',
      )
    }
    return { user: repairUser, keyFile: repairKeyFile }
  }

  /** One key for both would let whoever may ask also repair. */
  private async checkOwnKey({ keyFile, user }: Identity, key: string): Promise<void> {
    const { readKeyFile, repairKeyFile, repairUser } = this.settings
    if (user !== repairUser || keyFile !== repairKeyFile) return
    const same =
      keyFile === readKeyFile || key.trim() === (await readSecretFile(readKeyFile, 'private key')).trim()
    if (same)
      throw new Refused(
        `reading and repairing have the same private key (${readKeyFile}): give each a key of its own in CNIBOT_SSH_READ_KEY_FILE and CNIBOT_SSH_REPAIR_KEY_FILE`,
      )
  }

  private async open(host: Destination, identity: Identity): Promise<ssh2.Client> {
    const { knownHostsFile, connectTimeoutMs = 20_000, jump } = this.settings
    const key = await readSecretFile(identity.keyFile, 'private key')
    await this.checkOwnKey(identity, key)
    const login = { key, keyFile: identity.keyFile, knownHostsFile, connectTimeoutMs }
    const attempt = async (): Promise<ssh2.Client> => {
      if (jump === undefined) return openConnection({ ...login, host, user: identity.user })
      const through = { name: jump.host, address: jump.host, port: jump.port }
      const first = await openConnection({ ...login, host: through, user: jump.user })
      try {
        const sock = await forward(first, host, connectTimeoutMs)
        const client = await openConnection({ ...login, host, user: identity.user, sock })
        client.once('close', () => first.end())
        return client
      } catch (error) {
        first.end()
        throw error
      }
    }
    return pRetry(attempt, {
      retries: 3,
      minTimeout: 200,
      randomize: true,
      shouldRetry: ({ error }) => busy(error),
    })
  }
}

const forward = (jump: ssh2.Client, host: Destination, withinMs: number): Promise<ssh2.ClientChannel> =>
  new Promise((resolve, reject) => {
    const silent = `${host.name}: the jump host did not answer within ${withinMs / 1000} s`
    const timer = setTimeout(() => reject(new Unreachable(silent)), withinMs)
    jump.forwardOut('127.0.0.1', 0, host.address, host.port, (error, channel) => {
      clearTimeout(timer)
      if (error === undefined) resolve(channel)
      else
        reject(
          new Unreachable(
            `${host.name} (${host.address}:${host.port}) cannot be reached from the jump host: ${error.message}`,
          ),
        )
    })
  })

/** Reaches nodes over SSH. `close` ends all connections. */
export const createNodeShell = (settings: SshSettings): NodeShell & { close(): Promise<void> } =>
  new SshNodeShell(settings)
