import { Agent, fetch } from 'undici'
import type { LabApi, LabUser } from '../../lab/api/index.js'
import { at, isRecord } from '../../lab/api/shapes.js'

export interface Answer {
  code: number
  headers: Headers | { get(name: string): string | null }
  /** Parsed where it is JSON, else the text. */
  body: unknown
}

export interface Frame {
  type: string
  object: Record<string, unknown>
}

/** A bare HTTP client: what the server sends, with no library in between. */
export class Client {
  readonly #api: LabApi
  readonly #agent: Agent

  constructor(api: LabApi) {
    this.#api = api
    this.#agent = new Agent({ connect: { ca: api.certificate } })
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  async request(
    method: string,
    path: string,
    options: { body?: unknown; type?: string; accept?: string; user?: LabUser } = {},
  ): Promise<Answer> {
    const response = await fetch(this.#api.url + path, {
      method,
      dispatcher: this.#agent,
      headers: {
        Authorization: `Bearer ${this.#api.tokens[options.user ?? 'admin']}`,
        Accept: options.accept ?? 'application/json',
        ...(options.body === undefined ? {} : { 'Content-Type': options.type ?? 'application/json' }),
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    })
    const text = await response.text()
    const json = (response.headers.get('content-type') ?? '').includes('json')
    return { code: response.status, headers: response.headers, body: json ? JSON.parse(text) : text }
  }

  get(path: string, accept?: string): Promise<Answer> {
    return this.request('GET', path, accept === undefined ? {} : { accept })
  }

  /** Opens a watch. `next` gives the next frame, undefined at the end; it fails after ten seconds without one. */
  async watch(
    path: string,
    accept = 'application/json',
  ): Promise<{ code: number; next(): Promise<Frame | undefined>; stop(): void }> {
    const abort = new AbortController()
    const response = await fetch(this.#api.url + path, {
      dispatcher: this.#agent,
      signal: abort.signal,
      headers: { Authorization: `Bearer ${this.#api.token}`, Accept: accept },
    })
    const frames = readFrames(response.body)
    const next = async () => {
      const late = setTimeout(() => abort.abort(new Error(`no frame on ${path}`)), 10_000)
      try {
        const { value, done } = await frames.next()
        return done === true ? undefined : value
      } finally {
        clearTimeout(late)
      }
    }
    return { code: response.status, next, stop: () => abort.abort() }
  }
}

async function* readFrames(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<Frame, void> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of body ?? []) {
    rest += decoder.decode(chunk, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line) as Frame
  }
}

export const nameOf = (frame: Frame | undefined): unknown => at(frame?.object, 'metadata.name')
export const versionOf = (value: unknown): string => String(at(value, 'metadata.resourceVersion') as string)

export const itemsOf = (answer: Answer): Record<string, unknown>[] => {
  const items = at(answer.body, 'items')
  return Array.isArray(items) ? items.filter(isRecord) : []
}

export const namesOf = (answer: Answer): unknown[] => itemsOf(answer).map(item => at(item, 'metadata.name'))
