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

interface Opened {
  channel: ssh2.ClientChannel
  /** How the command ended. Heard from the very beginning: of a short command all of it arrives in one piece. */
  ended: { code: number | undefined; signal: string | undefined }
}

const listened = (channel: ssh2.ClientChannel): Opened => {
  const ended: Opened['ended'] = { code: undefined, signal: undefined }
  channel.on('exit', (code: number | null, name?: string) => {
    ended.code = code ?? undefined
    ended.signal = name
  })
  // Until somebody who knows what to do listens too: without a listener it would end the process.
  channel.on('error', () => undefined)
  return { channel, ended }
}

const stopped = (shown: string): Unreachable =>
  new Unreachable(`stopped before the node had answered: ${shown}`)

/** The channel, or undefined where the node accepts the connection and then says nothing until the time is up. */
const open = (client: ssh2.Client, { shown, timeoutMs, signal }: Execution): Promise<Opened | undefined> =>
  new Promise((resolve, reject) => {
    const lost = () => settle(() => reject(new NotStarted('the connection was lost')))
    const aborted = () => settle(() => reject(stopped(shown)))
    const timer = setTimeout(() => settle(() => resolve(undefined)), timeoutMs)
    function settle(how: () => void): void {
      clearTimeout(timer)
      client.removeListener('close', lost)
      signal?.removeEventListener('abort', aborted)
      how()
    }
    client.once('close', lost)
    signal?.addEventListener('abort', aborted, { once: true })
    try {
      client.exec(shown, (error, channel) =>
        settle(() =>
          error === undefined ? resolve(listened(channel)) : reject(new NotStarted(error.message)),
        ),
      )
    } catch (error) {
      settle(() => reject(new NotStarted(error instanceof Error ? error.message : String(error))))
    }
  })

const sinceThen = (began: number): number => Math.round(performance.now() - began)

const silence = (shown: string, began: number): CommandResult => ({
  shown,
  exitCode: undefined,
  signal: undefined,
  timedOut: true,
  truncated: false,
  stdout: '',
  stderr: '',
  durationMs: sinceThen(began),
})

/**
 * Runs one line. Both streams are read to the end, since an unread one fills its window and the command hangs; at
 * `maxBytes` or `timeoutMs` the command is told to end (TERM reaches `timeout` on the node, which ends its children).
 * A node that goes on all the same loses the connection. Long, because everything in it ends one shared state exactly once.
 * No exit code and no signal means that the connection was lost: whether the command finished is then not known.
 */
export const execute = async (client: ssh2.Client, execution: Execution): Promise<CommandResult> => {
  const { shown, stdin, timeoutMs, maxBytes, signal } = execution
  const began = performance.now()
  const opened = await open(client, execution)
  if (opened === undefined) {
    client.destroy()
    return silence(shown, began)
  }
  const { channel, ended } = opened
  return new Promise((resolve, reject) => {
    const out: Buffer[] = []
    const err: Buffer[] = []
    let bytes = 0
    let errBytes = 0
    let timedOut = false
    let truncated = false
    let grace: NodeJS.Timeout | undefined

    const stop = (): void => {
      if (grace !== undefined) return
      channel.signal('TERM')
      grace = setTimeout(() => {
        finish()
        client.destroy()
      }, graceMs)
    }
    const timer = setTimeout(() => {
      timedOut = true
      stop()
    }, timeoutMs - sinceThen(began))
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
        reject(stopped(shown))
        return
      }
      resolve({
        shown,
        exitCode: ended.code,
        signal: ended.signal,
        timedOut,
        truncated,
        stdout: Buffer.concat(out).toString('utf8'),
        stderr: Buffer.concat(err).toString('utf8'),
        durationMs: sinceThen(began),
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
    channel.on('error', finish)
    channel.once('close', finish)
    client.once('close', finish)
    channel.once('close', () => client.removeListener('close', finish))
    channel.end(stdin)
  })
}
