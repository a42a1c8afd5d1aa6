import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'

/** One of our own processes, as an operator would start it: compiled, with settings from the environment. */
export interface Running {
  name: string
  pid: number
  /** Resolves with exit code or signal. */
  ended: Promise<number | string>
  kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string>
  /** Its health address, once it has said so. */
  ready: Promise<string>
}

/** What a process needs of ours; the id of a test run tells that what was left behind is the tests'. */
const kept = (): Record<string, string> =>
  Object.fromEntries(
    ['PATH', 'HOME', 'TEST_RUN_ID'].flatMap(name => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )

/** Starts `cnibot <name>`; its log goes to `logFile`. `ready` rejects when the process ends before it is ready. */
export const startProcess = (
  cli: string,
  name: 'bot' | 'worker',
  env: Record<string, string>,
  logFile: string,
): Running => {
  const child: ChildProcess = spawn(process.execPath, ['--enable-source-maps', cli, name], {
    env: { ...kept(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const log = createWriteStream(logFile, { flags: 'a' })
  const ended = new Promise<number | string>(resolve => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'))
  })
  let last = ''
  const ready = new Promise<string>((resolve, reject) => {
    const read = (line: string): void => {
      log.write(`${line}\n`)
      last = line
      const found = /"msg":"ready".*|.*"ready":"(http:[^"]+)"/.exec(line)
      const at = /"ready":"(http:[^"]+)"/.exec(line)
      if (found && at?.[1]) resolve(at[1])
    }
    for (const stream of [child.stdout, child.stderr])
      if (stream) createInterface({ input: stream }).on('line', read)
    child.once('error', reject)
    void ended.then(how => reject(new Error(`${name} ended (${how}) before it was ready: ${last}`)))
  })
  ready.catch(() => undefined)
  return {
    name,
    pid: child.pid ?? -1,
    ended,
    ready,
    kill: async signal => {
      child.kill(signal)
      return ended
    },
  }
}
