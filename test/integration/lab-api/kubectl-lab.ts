import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type LabApi, startApiServer } from '../../lab/api/index.js'
import { kubectlPath } from '../../lab/kubectl.js'
import { fixedClock, startTinyCluster, type TinyCluster, until, workload } from './tiny-cluster.js'

export interface Ran {
  code: number
  stdout: string
  stderr: string
}

/** Three nodes with `api` (Deployment, 3) and `log-shipper` (DaemonSet) running, and a kubectl that points there. */
export class KubectlLab {
  readonly api: LabApi
  readonly cluster: TinyCluster
  readonly folder: string
  readonly #program: string

  private constructor(api: LabApi, cluster: TinyCluster, folder: string, program: string) {
    this.api = api
    this.cluster = cluster
    this.folder = folder
    this.#program = program
  }

  static async start(): Promise<KubectlLab> {
    const program = await kubectlPath()
    const folder = await mkdtemp(join(tmpdir(), 'cnibot-kubectl-'))
    const api = await startApiServer({ clock: fixedClock() })
    await writeFile(join(folder, 'config'), api.kubeconfig(), { mode: 0o600 })
    const cluster = startTinyCluster({ store: api.store })
    api.store.create('deployments', workload('Deployment', 'api', { replicas: 3 }))
    api.store.create('daemonsets', workload('DaemonSet', 'log-shipper'))
    const ready = () =>
      api.store.get('daemonsets', 'payments', 'log-shipper')?.status?.numberReady === 3 &&
      api.store.get('deployments', 'payments', 'api')?.status?.availableReplicas === 3
    await until(api.store, ready, 'workloads ready')
    return new KubectlLab(api, cluster, folder, program)
  }

  kubectl(...args: string[]): Promise<Ran> {
    return run(this.#program, args, this.#environment())
  }

  /** Follows a command until what it printed matches, at most ten seconds, then ends it. Returns what it printed. */
  async follow(args: string[], until: RegExp, started: () => void): Promise<string> {
    const running = spawn(this.#program, args, {
      env: this.#environment(),
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = once(running, 'exit')
    let printed = ''
    running.stdout.on('data', chunk => {
      printed += String(chunk)
    })
    try {
      await eventually(() => this.api.faults.openWatches > 0, `kubectl ${args.join(' ')} to watch`)
      started()
      await eventually(() => until.test(printed), `kubectl to print ${until}`)
    } finally {
      running.kill()
      await ended
    }
    return printed
  }

  async stop(): Promise<void> {
    this.cluster.stop()
    await this.api.close()
    await rm(this.folder, { recursive: true })
  }

  #environment() {
    return { HOME: this.folder, KUBECONFIG: join(this.folder, 'config'), PATH: process.env.PATH ?? '' }
  }
}

export const run = (program: string, args: string[], env: Record<string, string>): Promise<Ran> =>
  new Promise(resolve => {
    execFile(program, args, { env, timeout: 50_000 }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, stdout, stderr })
    })
  })

/** Looks every 20 ms, at most ten seconds. */
const eventually = async (condition: () => boolean, what: string): Promise<void> => {
  const deadline = Date.now() + 10_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`waited ten seconds for ${what}`)
    await pause(20)
  }
}
