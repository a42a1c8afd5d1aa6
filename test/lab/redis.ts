import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'

export interface LabRedis {
  url: string
  port: number
  /** Changes with `restart`. */
  readonly pid: number
  /** Ends the server and removes its folder, unless the folder was given. */
  stop(): Promise<void>
  /** Ends the server as a crash would; its data stays. */
  kill9(): Promise<void>
  /** Starts it again, after `kill9` or while it runs, on the same port with the same data. */
  restart(): Promise<void>
}

export interface LabRedisOptions {
  dir?: string
  /** Default true. */
  appendonly?: boolean
  /** Default: a free one. */
  port?: number
  /** More command line options, e.g. `['--maxmemory-policy', 'allkeys-lru']`. */
  args?: string[]
}

/** Starts redis-server or valkey-server on loopback. Throws with the Debian package to install when neither is there. */
export const startRedis = async (options: LabRedisOptions = {}): Promise<LabRedis> => {
  const program = onPath('redis-server') ?? onPath('valkey-server')
  if (!program) {
    throw new Error('redis-server is not installed: apt-get install redis-server (or valkey-server)')
  }
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'cnibot-redis-'))
  const start = async (port: number) => launch(program, serverArgs(port, dir, options), port)

  let port = options.port ?? (await freePort())
  let server: ChildProcess | undefined
  for (let left = 5; !server; left--) {
    try {
      server = await start(port)
    } catch (error) {
      if (options.port !== undefined || left === 0) throw error
      port = await freePort()
    }
  }
  let running = server
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return running.pid ?? -1
    },
    async stop() {
      await end(running, 'SIGTERM')
      if (options.dir === undefined) rmSync(dir, { recursive: true, force: true })
    },
    kill9: () => end(running, 'SIGKILL'),
    async restart() {
      await end(running, 'SIGTERM')
      running = await start(port)
    },
  }
}

const serverArgs = (port: number, dir: string, options: LabRedisOptions): string[] => {
  const settings: Record<string, string> = {
    port: String(port),
    bind: '127.0.0.1',
    dir,
    save: '',
    appendonly: options.appendonly === false ? 'no' : 'yes',
    appendfsync: 'everysec',
    'maxmemory-policy': 'noeviction',
  }
  return [
    ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    ...(options.args ?? []),
  ]
}

/** Waits until the server answers PING; throws with its last lines when it ends before that. */
const launch = async (program: string, args: string[], port: number): Promise<ChildProcess> => {
  // Ends with this process even when that one is killed.
  const tied = onPath('setpriv')
  const [file, argv] = tied ? [tied, ['--pdeathsig', 'KILL', '--', program, ...args]] : [program, args]
  // In a group of its own: Ctrl-C at a terminal must not end it before those that still write to it.
  const child = spawn(file, argv, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let said = ''
  const keep = (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4_000)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const killWithUs = () => child.kill('SIGKILL')
  process.once('exit', killWithUs)
  child.once('exit', () => process.removeListener('exit', killWithUs))
  const gaveUp = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`${program} ended at once:\n${said}`)))
  })
  gaveUp.catch(() => {})
  await Promise.race([answersPing(port, child), gaveUp])
  return child
}

const answersPing = async (port: number, child: ChildProcess): Promise<void> => {
  const redis = new Redis(port, '127.0.0.1', {
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
    disconnectTimeout: 100,
  })
  redis.on('error', () => {})
  try {
    const deadline = performance.now() + 20_000
    for (;;) {
      const server = await redis.info('server').catch(() => '')
      // Another server that took the port in between has another pid.
      if (server.includes(`process_id:${child.pid}`)) return
      if (performance.now() > deadline)
        throw new Error(`no Redis of ours answered on port ${port} within 20 s`)
      await pause(20)
    }
  } finally {
    redis.disconnect()
  }
}

const end = async (child: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))
  child.kill(signal)
  const stubborn = setTimeout(() => child.kill('SIGKILL'), 5_000)
  await gone
  clearTimeout(stubborn)
}

const freePort = async (): Promise<number> => {
  const probe = createServer()
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', resolve)
  })
  const address = probe.address()
  await new Promise(resolve => probe.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}

const onPath = (name: string): string | undefined => {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, name)
    try {
      accessSync(file, constants.X_OK)
      return file
    } catch {
      // not in this folder
    }
  }
  return undefined
}
