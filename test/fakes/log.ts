import type { Log } from '../../src/ports.js'

export interface FakeLog extends Log {
  lines: { level: 'info' | 'warn' | 'error'; message: string }[]
}

/** Keeps what was logged. */
export const fakeLog = (): FakeLog => {
  const lines: FakeLog['lines'] = []
  return {
    lines,
    info: (_fields, message) => void lines.push({ level: 'info', message }),
    warn: (_fields, message) => void lines.push({ level: 'warn', message }),
    error: (_fields, message) => void lines.push({ level: 'error', message }),
  }
}
