import { spawn } from 'node:child_process'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { probeScript } from '../../../src/adapters/ssh/scripts.js'
import { fileClock } from '../../../src/adapters/system/clock.js'
import type { CommandResult, NodeCommand, NodeShell, NodeTarget } from '../../../src/ports.js'
import { startedFile, type StepOrder } from './actor-orders.js'
import { quickLook } from './quick-look.js'
import { storeDir } from './soak-node.js'

interface Ended {
  exitCode: number | undefined
  signal: string | undefined
  stdout: string
  stderr: string
}

/**
 * The node's end of an SSH session without the encryption: own process group, and no reader left when the session is
 * lost. As on a node, a script that is under way then goes on until it writes.
 */
export class SoakShell implements NodeShell {
  private readonly clock
  private scripts = 0

  constructor(
    private readonly root: string,
    private readonly order: StepOrder,
    private readonly point: (name: string) => void,
  ) {
    this.clock = fileClock(join(root, 'clock'))
  }

  shown({ script, args }: NodeCommand): string {
    return [script, ...args].join(' ')
  }

  async run(_node: NodeTarget, command: NodeCommand): Promise<CommandResult> {
    const began = performance.now()
    const what = command.script === 'probe' ? 'the reading' : 'the script'
    this.point(`before ${what}`)
    const ended = await (command.script === 'probe' ? this.look(command) : this.remove(command))
    this.point(`after ${what}`)
    const durationMs = Math.round(performance.now() - began)
    return { shown: this.shown(command), timedOut: false, truncated: false, durationMs, ...ended }
  }

  private async look(command: NodeCommand): Promise<Ended> {
    if (this.order.probe) {
      const args = command.args.includes('--light') ? command.args : ['--light', ...command.args]
      return this.session(['dash', '-s', '--', ...args], probeScript())
    }
    const state = (name: string) => readFileSync(join(this.root, '.lab', name), 'utf8').trim()
    const endpoint = state('runtime-endpoint')
    const stdout = await quickLook({
      root: this.root,
      now: () => this.clock.now() + Number(state('clock-skew')),
      endpoint,
      unit: endpoint.includes('crio') ? 'crio' : 'containerd',
      storeDir,
      waitsMs: this.order.readingWaitsMs,
    })
    return { exitCode: 0, signal: undefined, stdout, stderr: '' }
  }

  private remove({ args, stdin = '' }: NodeCommand): Promise<Ended> {
    const { script, furtherScript } = this.order
    this.scripts += 1
    return this.session(['dash', this.scripts === 1 ? script : furtherScript, ...args], stdin, true)
  }

  private environment(): NodeJS.ProcessEnv {
    const { programs } = this.order
    const path = process.env.PATH ?? ''
    return {
      ...process.env,
      CNIBOT_NODE_ROOT: this.root,
      CNIBOT_LAB_CLOCK: join(this.root, 'clock'),
      PATH: programs === undefined ? path : `${programs}:${path}`,
    }
  }

  /** Long, because a session that may be lost anywhere ends in one place. */
  private session([program = '', ...args]: string[], stdin: string, mayFail = false): Promise<Ended> {
    const { session, killScriptAfterMs } = this.order
    return new Promise((resolve, reject) => {
      const child = spawn(program, args, { env: this.environment(), detached: true })
      if (mayFail) appendFileSync(join(this.root, '.lab', startedFile), `${child.pid}\n`)
      let stdout = ''
      let stderr = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text
      })
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text
      })
      child.stdin.on('error', () => undefined)
      child.once('error', reject)
      child.once('close', (code, signal) =>
        resolve({ exitCode: code ?? undefined, signal: signal ?? undefined, stdout, stderr }),
      )
      if (!mayFail) return void child.stdin.end(stdin)
      this.point('after the script was started')
      const lost = (): void => {
        child.stdin.destroy()
        child.stdout.destroy()
        child.stderr.destroy()
        child.unref()
        // What the adapter answers then: no exit code and no signal.
        resolve({ exitCode: undefined, signal: undefined, stdout: '', stderr: '' })
      }
      if (killScriptAfterMs !== undefined) setTimeout(() => killGroup(child.pid), killScriptAfterMs)
      const half = Math.floor(stdin.length / 2)
      const part = session.lost === 'while the list is sent' ? Math.floor(stdin.length * session.part) : half
      child.stdin.write(stdin.slice(0, part), () => {
        this.point('while the list is sent')
        if (session.lost === 'while the list is sent') return lost()
        child.stdin.end(stdin.slice(part), () => {
          this.point('after the list was sent')
          if (session.lost === 'after the list') lost()
        })
      })
      return undefined
    })
  }
}

const killGroup = (pid: number | undefined): void => {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It had ended.
  }
}
