import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

export interface SshServer {
  port: number
  close(): Promise<void>
}

export interface SshServerOptions {
  /** Keys, configuration and log lie here. */
  dir: string
  hostKeyFile: string
  authorizedKeysFile: string
  /** What a command finds in its environment. */
  environment: Record<string, string>
  /** Gets every command as it was asked for, each followed by a NUL. Without it the keys' own forced commands hold. */
  commandLog?: string
}

export const sshdProgram = '/usr/sbin/sshd'

/** Why OpenSSH's server cannot serve this user, or undefined when it can. */
export const sshdUnusable = (): string | undefined => {
  if (!existsSync(sshdProgram)) return `${sshdProgram} is not installed (apt-get install openssh-server)`
  if (userInfo().uid !== 0) return undefined
  const shadow = existsSync('/etc/shadow') ? readFileSync('/etc/shadow', 'utf8') : ''
  const locked = shadow.split('\n').some(line => line.startsWith('root:!'))
  return locked ? 'the account root is locked, and sshd without PAM refuses locked accounts' : undefined
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })

const configuration = (port: number, options: SshServerOptions): string => {
  // Bash started by sshd reads .bashrc, which costs up to 150 ms a command; a shell level above 1 tells it not to.
  const environment = Object.entries({ ...options.environment, SHLVL: '1' })
  return [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${options.hostKeyFile}`,
    `AuthorizedKeysFile ${options.authorizedKeysFile}`,
    'PidFile none',
    `AllowUsers ${userInfo().username}`,
    'PermitRootLogin prohibit-password',
    'AuthenticationMethods publickey',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'UsePAM no',
    'StrictModes no',
    'UseDNS no',
    'PrintMotd no',
    'PrintLastLog no',
    'X11Forwarding no',
    'AllowAgentForwarding no',
    'LogLevel ERROR',
    ...(options.commandLog === undefined
      ? []
      : [
          `ForceCommand printf '%s\\0' "$SSH_ORIGINAL_COMMAND" >> '${options.commandLog}'; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"`,
        ]),
    `SetEnv ${environment.map(([name, value]) => `"${name}=${value}"`).join(' ')}`,
    ...penalties(),
    '',
  ].join('\n')
}

/** From 9.8 on, a refused login locks the loopback address out for a while. */
let penaltyLines: string[] | undefined
const penalties = (): string[] => {
  if (penaltyLines === undefined) {
    const help = spawnSync(sshdProgram, ['-V'], { encoding: 'utf8' }).stderr
    const [, major = '0', minor = '0'] = /OpenSSH_(\d+)\.(\d+)/.exec(help) ?? []
    penaltyLines = Number(major) * 100 + Number(minor) >= 908 ? ['PerSourcePenalties no'] : []
  }
  return penaltyLines
}

const answers = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => resolve(false))
    socket.once('data', () => {
      socket.destroy()
      resolve(true)
    })
  })

/** Starts sshd in the foreground and resolves once it greets. Another process may take the port first: retried. */
export const startSshd = async (options: SshServerOptions, attempt = 1): Promise<SshServer> => {
  if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const port = await freePort()
  const config = join(options.dir, 'sshd_config')
  writeFileSync(config, configuration(port, options))
  const log = openSync(join(options.dir, 'sshd.log'), 'a')
  const child = spawn(sshdProgram, ['-D', '-e', '-f', config], { stdio: ['ignore', log, log] })
  closeSync(log)
  endWithProcess(child)
  const deadline = Date.now() + 10_000
  while (child.exitCode === null && child.signalCode === null && Date.now() < deadline) {
    if (await answers(port)) return { port, close: () => stop(child) }
    await delay(20)
  }
  await stop(child)
  if (attempt < 4) return startSshd(options, attempt + 1)
  const said = readFileSync(join(options.dir, 'sshd.log'), 'utf8').trim().split('\n').at(-1)
  throw new Error(`sshd did not start with ${config}: ${said ?? 'it said nothing'}`)
}

/** A lab that ends without `close`, by an error, still takes its servers with it. */
const servers = new Set<ChildProcess>()
const endWithProcess = (child: ChildProcess): void => {
  if (servers.size === 0) process.once('exit', endAll)
  servers.add(child)
  child.once('exit', () => {
    servers.delete(child)
    if (servers.size === 0) process.off('exit', endAll)
  })
}
const endAll = (): void => {
  for (const child of servers) child.kill('SIGTERM')
}

/** Parent process of each process, read from /proc. */
const parents = (): Map<number, number> => {
  const found = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      // The name in brackets may hold anything; the parent is the second field after it.
      found.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
    } catch {
      // Ended meanwhile.
    }
  }
  return found
}

const descendants = (pid: number): number[] => {
  const all = [...parents()]
  const below = (id: number): number[] =>
    all.filter(([, parent]) => parent === id).flatMap(([child]) => [child, ...below(child)])
  return below(pid)
}

/** Sessions outlive the server that accepted them, so they are ended one by one, the server first. */
const stop = async (child: ChildProcess): Promise<void> => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const sessions = descendants(child.pid)
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
  for (const pid of sessions) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // Ended by itself.
    }
  }
}
