import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bundle } from '../../../src/core/evidence/bundle.js'
import type { History, Recorded } from '../../../src/ports.js'

/** Histories as files: what outlives an acting process that is killed. `point` is called before and after each write. */
export class FileHistory implements History {
  constructor(
    private readonly folder: string,
    private readonly point: (name: string) => void = () => undefined,
  ) {
    mkdirSync(folder, { recursive: true })
  }

  async read<E>(stream: string): Promise<Recorded<E>> {
    const events = this.lines(stream).map(line => JSON.parse(line) as E)
    return { events, length: events.length }
  }

  async append<E>(stream: string, expected: number, events: E[]): Promise<boolean> {
    if (this.lines(stream).length !== expected) return false
    const what = events.map(typeOf).join(', ')
    this.point(`before ${what} is recorded`)
    appendFileSync(this.path(stream), events.map(event => `${JSON.stringify(event)}\n`).join(''))
    this.point(`after ${what} is recorded`)
    return true
  }

  async keepBundle(id: string, bundle: Bundle): Promise<void> {
    this.point('before the reading is kept')
    writeFileSync(this.path(`bundle/${id}`), JSON.stringify(bundle))
    this.point('after the reading is kept')
  }

  async bundle(id: string): Promise<Bundle | undefined> {
    this.point('before the kept reading is read')
    const [line] = this.lines(`bundle/${id}`)
    return line === undefined ? undefined : (JSON.parse(line) as Bundle)
  }

  clear(): void {
    rmSync(this.folder, { recursive: true, force: true })
    mkdirSync(this.folder, { recursive: true })
  }

  streams = (): Promise<string[]> => Promise.resolve([])
  forget = (): Promise<void> => Promise.resolve()
  wasHandled = (): Promise<boolean> => Promise.resolve(false)
  markHandled = (): Promise<void> => Promise.resolve()

  private path(stream: string): string {
    return join(this.folder, stream.replaceAll('/', '+'))
  }

  private lines(stream: string): string[] {
    try {
      return readFileSync(this.path(stream), 'utf8').split('\n').filter(Boolean)
    } catch {
      return []
    }
  }
}

const typeOf = (event: unknown): string =>
  typeof event === 'object' && event !== null && 'type' in event ? String(event.type) : 'an event'
