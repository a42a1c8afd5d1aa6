import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { placeFile, startedFile, type StepOrder, type Stepped } from './actor-orders.js'

export interface ActorPlaces {
  /** The acting process's program. */
  actor: string
  root: string
  environment: NodeJS.ProcessEnv
}

/** The acting process of one node, started again whenever it was killed. */
export class Acting {
  private child: ChildProcess | undefined

  constructor(private readonly places: ActorPlaces) {}

  /** One step of the run; undefined when the process died over it. `killAfterMs` kills it from outside. */
  async step(order: StepOrder, killAfterMs?: number): Promise<Stepped | undefined> {
    const child = this.running()
    const answer = new Promise<Stepped | undefined>((resolve, reject) => {
      const answered = (message: Stepped): void => {
        child.removeListener('exit', ended)
        resolve(message)
      }
      const ended = (code: number | null): void => {
        child.removeListener('message', answered)
        this.child = undefined
        if (code === null) resolve(undefined)
        else reject(new Error(`the acting process ended with ${code}`))
      }
      child.once('message', answered)
      child.once('exit', ended)
    })
    child.send(order, () => undefined)
    if (killAfterMs === undefined) return answer
    const timer = setTimeout(() => {
      // Its answer may be on its way already; it is dead all the same.
      this.child = undefined
      child.kill('SIGKILL')
    }, killAfterMs)
    return answer.finally(() => clearTimeout(timer))
  }

  /** The name of the place where it died by itself; undefined when it was killed from outside. */
  takePlace(): string | undefined {
    const path = join(this.places.root, '.lab', placeFile)
    const name = read(path)
    rmSync(path, { force: true })
    return name
  }

  /** Whether a script runs, of this session or of one before. */
  scriptsRun(): boolean {
    const pids = (read(this.startedPath) ?? '').split('\n').filter(Boolean).map(Number)
    return pids.some(isRunning)
  }

  /** Scripts that have outlived their session come to their end. */
  async scriptsEnded(): Promise<void> {
    const deadline = performance.now() + 60_000
    while (this.scriptsRun()) {
      if (performance.now() > deadline) throw new Error('a removal script did not end within 60 s')
      await delay(3)
    }
    rmSync(this.startedPath, { force: true })
  }

  private get startedPath(): string {
    return join(this.places.root, '.lab', startedFile)
  }

  close(): void {
    this.child?.removeAllListeners('exit')
    this.child?.disconnect()
    this.child = undefined
  }

  private running(): ChildProcess {
    const { actor, root, environment } = this.places
    this.child ??= fork(actor, [root], {
      env: environment,
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    return this.child
  }
}

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** A zombie that nobody reaps has ended. */
const isRunning = (pid: number): boolean => {
  const state = / ([A-Z]) /.exec(read(`/proc/${pid}/stat`) ?? '')?.[1]
  return state !== undefined && state !== 'Z'
}
