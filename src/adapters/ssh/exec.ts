import type ssh2 from 'ssh2'
import { type CommandResult, Unreachable } from '../../ports.js'

export interface Execution {
  /** The line that is shown and run. */
  shown: string
  stdin: string
  timeoutMs: number
  maxBytes: number
  signal?: AbortSignal
}

/** Stderr is for one line in a message; a flood of it must not fill the memory. */
const mostStderr = 64 * 1024
/** How long a stopped command may take to go away before the channel is given up. */
const graceMs = 3000

/** The channel could not be opened: nothing was started, so another connection may try. */
export class NotStarted extends Error {
  override name = 'NotStarted'
}

const open = (client: ssh2.Client, shown: string): Promise<ssh2.ClientChannel> =>
  new Promise((resolve, reject) => {
    const lost = () => reject(new NotStarted('the connection was lost'))
    client.once('close', lost)
    try {
      client.exec(shown, (error, channel) => {
        client.removeListener('close', lost)
        if (error === undefined) resolve(channel)
        else reject(new NotStarted(error.message))
      })
    } catch (error) {
      reject(new NotStarted(error instanceof Error ? error.message : String(error)))
    }
  })

/**
 * Runs one line. Both streams are read to the end, since an unread one fills its window and the command hangs; at
 * `maxBytes` or `timeoutMs` the command is told to end (TERM reaches `timeout` on the node, which ends its children).
 * Long, because everything in it ends one shared state exactly once. No exit code and no signal means that the connection was lost: whether the command finished is then not known.
 */
export const execute = async (
  client: ssh2.Client,
  { shown, stdin, timeoutMs, maxBytes, signal }: Execution,
): Promise<CommandResult> => {
  const began = performance.now()
  const channel = await open(client, shown)
  return new Promise((resolve, reject) => {
    const out: Buffer[] = []
    const err: Buffer[] = []
    let bytes = 0
    let errBytes = 0
    let exitCode: number | undefined
    let exitSignal: string | undefined
    let timedOut = false
    let truncated = false
    let grace: NodeJS.Timeout | undefined

    const stop = (): void => {
      if (grace !== undefined) return
      channel.signal('TERM')
      grace = setTimeout(finish, graceMs)
    }
    const timer = setTimeout(() => {
      timedOut = true
      stop()
    }, timeoutMs)
    const aborted = (): void => stop()
    signal?.addEventListener('abort', aborted, { once: true })
    if (signal?.aborted === true) stop()

    let over = false
    function finish(): void {
      if (over) return
      over = true
      clearTimeout(timer)
      clearTimeout(grace)
      signal?.removeEventListener('abort', aborted)
      channel.destroy()
      if (signal?.aborted === true) {
        reject(new Unreachable(`stopped before the node had answered: ${shown}`))
        return
      }
      resolve({
        shown,
        exitCode,
        signal: exitSignal,
        timedOut,
        truncated,
        stdout: Buffer.concat(out).toString('utf8'),
        stderr: Buffer.concat(err).toString('utf8'),
        durationMs: Math.round(performance.now() - began),
      })
    }

    channel.on('data', (chunk: Buffer) => {
      const room = maxBytes - bytes
      if (room > 0) out.push(room < chunk.length ? chunk.subarray(0, room) : chunk)
      bytes += chunk.length
      if (bytes <= maxBytes) return
      truncated = true
      stop()
    })
    channel.stderr.on('data', (chunk: Buffer) => {
      if (errBytes < mostStderr) err.push(chunk.subarray(0, mostStderr - errBytes))
      errBytes += chunk.length
    })
    channel.on('exit', (code: number | null, name?: string) => {
      exitCode = code ?? undefined
      exitSignal = name
    })
    channel.on('error', finish)
    channel.once('close', finish)
    client.once('close', finish)
    channel.once('close', () => client.removeListener('close', finish))
    channel.end(stdin)
  })
}
