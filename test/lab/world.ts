import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startControllers } from './api/controllers.js'
import { type LabApi, startApiServer } from './api/index.js'
import { LabClock } from './clock.js'
import { type LabNodes, startNodes } from './nodes/index.js'
import { startKubelets } from './nodes/kubelet.js'
import { type Running, startProcess } from './processes.js'
import { type LabRedis, startRedis } from './redis.js'
import { type LocalSlack, startSlack } from './slack/index.js'

export interface WorldOptions {
  /** Where the story's clock begins, milliseconds since 1970. */
  start: number
  nodes: string[]
  /** Port of the page; 0 takes a free one. */
  slackPort?: number
  /** The compiled command line program; default: the one that `node scripts/build.mjs build` makes. */
  cli?: string
}

/** Everything the bot and the worker talk to, on this machine, and the two processes themselves. */
export interface World {
  dir: string
  clock: LabClock
  redis: LabRedis
  slack: LocalSlack
  api: LabApi
  nodes: LabNodes
  channel: string
  people: { approver: string; other: string }
  /** The environment of a process, with its own rights and secrets only. */
  env(name: 'bot' | 'worker' | 'cli'): Record<string, string>
  start(name: 'bot' | 'worker'): Promise<Running>
  running(name: 'bot' | 'worker'): Running | undefined
  /** Resolves when controllers and kubelets have nothing left to do at the clock's present time. */
  settled(): Promise<void>
  /** Stops what runs; nothing stays behind. */
  stop(): Promise<void>
}

const removalScript = fileURLToPath(new URL('../../src/adapters/ssh/remove-orphans.sh', import.meta.url))
const compiledCli = fileURLToPath(new URL('../../src/cli.js', import.meta.url))
export const builtCli = fileURLToPath(new URL('../../build/src/cli.js', import.meta.url))

const settings = (world: Pick<World, 'clock' | 'redis' | 'nodes' | 'dir'>) => {
  const nodes = [...world.nodes.nodes.values()]
  return {
    CNIBOT_CLUSTER: 'prod-eu1',
    CNIBOT_CLOCK_FILE: world.clock.path,
    CNIBOT_TIME_ZONE: 'UTC',
    CNIBOT_REDIS_URL: world.redis.url,
    CNIBOT_HTTP_HOST: '127.0.0.1',
    CNIBOT_HTTP_PORT: '0',
    CNIBOT_RESUME_EVERY: '1s',
    CNIBOT_JOB_LOCK: '2s',
    ssh: {
      CNIBOT_SSH_READ_USER: world.nodes.user,
      CNIBOT_SSH_READ_KEY_FILE: world.nodes.readIdentity,
      CNIBOT_SSH_KNOWN_HOSTS: world.nodes.knownHosts,
      CNIBOT_SSH_NODE_ADDRESSES: nodes.map(n => `${n.name}=${n.address}:${n.port}`).join(','),
    },
  }
}

/** The nodes' state is rewritten thousands of times: in memory where there is a folder for it. */
const fastFolder = (): string => {
  try {
    accessSync('/dev/shm', constants.W_OK)
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize > 256 * 1024 * 1024 ? '/dev/shm' : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** Starts redis-server, the local Slack, the API server with its controllers, the nodes with their kubelets. */
export const startWorld = async (options: WorldOptions): Promise<World> => {
  const dir = mkdtempSync(join(fastFolder(), 'cnibot-lab-'))
  const clock = new LabClock(join(dir, 'clock.json'), options.start)
  const stops: (() => Promise<void> | void)[] = [() => rmSync(dir, { recursive: true, force: true })]
  const stop = async (): Promise<void> => {
    for (const one of stops.splice(0).reverse()) await one()
  }
  try {
    const redis = await startRedis({})
    stops.push(() => redis.stop())
    const slack = await startSlack({
      port: options.slackPort ?? 0,
      clock,
      channels: [{ name: 'sre-incidents', topic: 'Nodes that cannot give a Pod a network' }],
      users: [
        { name: 'approver', realName: 'Approver (on call)' },
        { name: 'colleague', realName: 'Colleague (on call too)' },
        { name: 'viewer', realName: 'Viewer' },
      ],
      userGroups: [{ handle: 'sre-oncall', users: ['approver', 'colleague'] }],
    })
    stops.push(() => slack.close())
    const api = await startApiServer({ clock, clusterName: 'prod-eu1' })
    stops.push(() => api.close())
    const podCidr = (name: string): string => `10.244.${Number.parseInt(name.replace(/\D/g, ''), 10)}.0/24`
    const nodes = await startNodes({ dir: join(dir, 'nodes'), clock, names: options.nodes, podCidr })
    stops.push(() => nodes.close())
    for (const node of nodes.nodes.values()) node.installScript(removalScript)
    const controllers = startControllers({ store: api.store, clock })
    stops.push(() => controllers.stop())
    const kubelets = startKubelets({ store: api.store, nodes, clock })
    stops.push(() => kubelets.stop())
    const settled = async (): Promise<void> => {
      await controllers.settled()
      await kubelets.settled()
      await controllers.settled()
    }
    const parts = { dir, clock, redis, slack, api, nodes, settled, cli: options.cli ?? compiledCli }
    return assemble(parts, stops, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

const assemble = (
  parts: Pick<World, 'dir' | 'clock' | 'redis' | 'slack' | 'api' | 'nodes' | 'settled'> & { cli: string },
  stops: (() => Promise<void> | void)[],
  stop: () => Promise<void>,
): World => {
  const { dir, api, nodes, slack, cli } = parts
  const { ssh, ...both } = settings(parts)
  const kubeconfig = {
    bot: join(dir, 'kubeconfig-bot'),
    worker: join(dir, 'kubeconfig-worker'),
    cli: join(dir, 'kubeconfig'),
  }
  for (const [name, file] of Object.entries(kubeconfig))
    writeFileSync(file, api.kubeconfig(name === 'cli' ? 'admin' : name === 'bot' ? 'bot' : 'worker'), {
      mode: 0o600,
    })
  mkdirSync(join(dir, 'logs'), { recursive: true })
  const channel = slack.channelId('sre-incidents')
  const roles = {
    bot: {
      CNIBOT_KUBECONFIG: kubeconfig.bot,
      CNIBOT_SLACK_BOT_TOKEN: slack.botToken,
      CNIBOT_SLACK_APP_TOKEN: slack.appToken,
      CNIBOT_SLACK_API_URL: slack.apiUrl,
      CNIBOT_SLACK_CHANNEL: channel,
      CNIBOT_APPROVER_GROUPS: slack.groupId('sre-oncall'),
    },
    worker: {
      ...ssh,
      CNIBOT_KUBECONFIG: kubeconfig.worker,
      CNIBOT_SSH_REPAIR_USER: nodes.user,
      CNIBOT_SSH_REPAIR_KEY_FILE: nodes.repairIdentity,
    },
    cli: { ...ssh, CNIBOT_KUBECONFIG: kubeconfig.cli },
  }
  const running = new Map<string, Running>()
  let over = false
  stops.push(async () => {
    over = true
    await Promise.all([...running.values()].map(p => p.kill('SIGTERM')))
  })
  const cliBase = {
    CNIBOT_CLUSTER: both.CNIBOT_CLUSTER,
    CNIBOT_CLOCK_FILE: both.CNIBOT_CLOCK_FILE,
    CNIBOT_TIME_ZONE: 'UTC',
  }
  const env = (name: 'bot' | 'worker' | 'cli'): Record<string, string> => ({
    ...(name === 'cli' ? cliBase : both),
    ...roles[name],
  })
  return {
    ...parts,
    channel,
    people: { approver: slack.userId('approver'), other: slack.userId('viewer') },
    env,
    running: name => running.get(name),
    start: async name => {
      if (over) throw new Error(`the world has ended: no ${name} is started in it`)
      const process = startProcess(cli, name, env(name), join(dir, 'logs', `${name}.log`))
      running.set(name, process)
      await process.ready
      return process
    },
    stop,
  }
}
