import type { ProbeOutput } from '../../../src/core/evidence/parse/answers.js'

export interface Part {
  body: string
  code?: number
  said?: string
}

/** The node's answer as the probe frames it, with these sections. */
export const probeText = (parts: Record<string, Part>, at = 1_000): string =>
  `${Object.entries(parts)
    .map(([name, { body, code = 0, said = '' }]) => {
      const lines = `${body}\n`.split('\n').slice(0, -1)
      return `>${name} ${at}.5\n${lines.map(line => ` ${line}\n`).join('')}=${code} ${said}\n`
    })
    .join('')}>end ${at}.9\n`

export const output = (stdout: string, change: Partial<ProbeOutput> = {}): ProbeOutput => ({
  stdout,
  stderr: '',
  exitCode: 0,
  timedOut: false,
  truncated: false,
  ...change,
})

export const id = (digit: string): string => digit.repeat(64)
export const content = (owner: string): string => `${owner}\r\neth0`
