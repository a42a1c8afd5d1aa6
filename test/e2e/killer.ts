import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import type { World } from '../lab/world.js'

type Name = 'bot' | 'worker'

export interface Killer {
  /** The events after which the process was killed, by history, kind and step: all that were recorded. */
  readonly killed: string[]
  stop(): Promise<void>
}

/**
 * One event of one history: its kind, and which step or message it is about. Times and ids differ from run to run.
 * MONITOR prints text with its own escapes, so this looks for the words instead of parsing.
 */
const nameOf = (stream: string, text: string): string => {
  const plain = text.replaceAll('\\"', '"')
  const found = (pattern: RegExp): string => pattern.exec(plain)?.[1] ?? ''
  const key = found(/"key":"([^"]+)"/).replace(/-(node-|\d).*/, '')
  const parts = [stream.split('/')[0] ?? '', found(/"type":"(\w+)"/), found(/"index":(\d+)/), key]
  return parts.filter(part => part !== '').join(' ')
}

/**
 * Watches Redis itself and kills the process the moment an event is recorded, the first time for each kind and step,
 * while it is coming up again too: whatever it had yet to do after writing it down is lost. It is started again at once.
 */
export const killAtEveryEvent = async (world: World, victim: Name): Promise<Killer> => {
  // A plain socket: one line a command. A client library loses its count of answers over MONITOR's.
  const socket = connect(world.redis.port, '127.0.0.1')
  socket.on('error', () => undefined)
  const lines = createInterface({ input: socket })
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    lines.once('line', () => resolve())
    socket.write('MONITOR\r\n')
  })
  const seen = new Set<string>()
  let stopped = false
  const revive = async (): Promise<void> => {
    while (!stopped) {
      await world.running(victim)?.ended
      // One that is killed before it is ready is simply started once more.
      if (!stopped) await world.start(victim).catch(() => undefined)
    }
  }
  let reviving: Promise<void> | undefined
  lines.on('line', line => {
    const [, stream, text] = /"rpush" "[^"]*:history:([^"]+)" "(.*)"$/i.exec(line) ?? []
    if (stream === undefined || text === undefined || stopped) return
    const name = nameOf(stream, text)
    if (seen.has(name)) return
    seen.add(name)
    void world.running(victim)?.kill('SIGKILL')
    reviving ??= revive()
  })
  return {
    get killed() {
      return [...seen]
    },
    stop: async () => {
      stopped = true
      lines.close()
      socket.destroy()
      await world.running(victim)?.kill('SIGKILL')
      await reviving
    },
  }
}
