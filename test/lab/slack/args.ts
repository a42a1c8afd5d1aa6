import { type Fields, SlackError } from './types.js'

/** The arguments of one call. In a form everything is text and structures are JSON inside it. */
export class Args {
  private readonly raw: Fields

  constructor(raw: Fields) {
    this.raw = raw
  }

  has(name: string): boolean {
    return this.raw[name] !== undefined && this.raw[name] !== null && this.raw[name] !== ''
  }

  text(name: string): string | undefined {
    const value = this.raw[name]
    return typeof value === 'string' && value !== ''
      ? value
      : typeof value === 'number'
        ? String(value)
        : undefined
  }

  required(name: string): string {
    const value = this.text(name)
    if (value === undefined) throw missing(name)
    return value
  }

  flag(name: string): boolean | undefined {
    const value = this.raw[name]
    if (typeof value === 'boolean') return value
    return value === 'true' || value === '1' ? true : value === 'false' || value === '0' ? false : undefined
  }

  number(name: string, otherwise: number): number {
    const value = Number(this.raw[name] ?? otherwise)
    if (!Number.isFinite(value)) throw new SlackError('invalid_arguments', lines(`${name} must be a number`))
    return value
  }

  /** A structure, or `undefined` when it was not given. `refusal` is the code when it is not JSON. */
  json(name: string, refusal: string): unknown {
    const value = this.raw[name]
    if (typeof value !== 'string') return value ?? undefined
    if (value === '') return undefined
    try {
      return JSON.parse(value) as unknown
    } catch {
      throw new SlackError(refusal)
    }
  }
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const lines = (...messages: string[]): Fields => ({
  response_metadata: { messages: messages.map(line => `[ERROR] ${line}`) },
})

export const missing = (name: string): SlackError =>
  new SlackError('invalid_arguments', lines(`missing required field: ${name}`))
