import type { ServerResponse } from 'node:http'
import type { MemoryStore } from './memory-store.js'
import type { ApiRequest } from './request.js'
import { ApiError, type Status } from './status.js'
import type { Watches } from './watch.js'

export interface Fault {
  /** Which requests; all when left out. */
  when?: (request: ApiRequest) => boolean
  /** How often; for ever when left out. */
  times?: number
  /** An answer instead of the real one; `reset` breaks the connection, `hang` never answers. */
  answer:
    | { code: number; reason: string; message: string; retryAfter?: number }
    /** An answer of a real server, as it was captured. */
    | { code: number; body: string; headers?: Record<string, string> }
    | 'reset'
    | 'hang'
}

/** Trouble that a real API server gives its clients. */
export class Faults {
  readonly #store: MemoryStore
  readonly #watches: Watches
  readonly #active = new Set<{ fault: Fault; left: number }>()

  constructor(store: MemoryStore, watches: Watches) {
    this.#store = store
    this.#watches = watches
  }

  /** Returns what takes the fault away again. */
  add(fault: Fault): () => void {
    const entry = { fault, left: fault.times ?? Number.POSITIVE_INFINITY }
    this.#active.add(entry)
    return () => this.#active.delete(entry)
  }

  clear(): void {
    this.#active.clear()
    this.#watches.each(watch => {
      watch.silent = false
    })
  }

  /** Ends the open watches cleanly, as a server that is being replaced does. */
  endWatches(): void {
    this.#watches.each(watch => watch.end())
  }

  /** Breaks the connections of the open watches. */
  resetWatches(): void {
    this.#watches.each(watch => watch.destroy())
  }

  /** The open watches stay open and say nothing more, bookmarks included. */
  silenceWatches(): void {
    this.#watches.each(watch => {
      watch.silent = true
    })
  }

  /** Sends an ERROR frame on the open watches, then ends them. */
  failWatches(status: Status): void {
    this.#watches.each(watch => watch.error(status))
  }

  /** Forgets the history: old resourceVersions and continue tokens get 410. */
  compact(): void {
    this.#store.compact()
  }

  /** Milliseconds between bookmarks. Watches opened later follow it. */
  set bookmarkEvery(milliseconds: number) {
    this.#watches.bookmarkEvery = milliseconds
  }

  get openWatches(): number {
    return this.#watches.count
  }

  /** Sends a bookmark on the watches that asked for them. */
  bookmark(): void {
    this.#watches.each(watch => {
      if (watch.request.query.get('allowWatchBookmarks') === 'true') watch.bookmark()
    })
  }

  /**
   * True when a fault has dealt with the request.
   * @throws ApiError when the fault is an answer.
   */
  strike(request: ApiRequest, response: ServerResponse): boolean {
    for (const entry of this.#active) {
      if (entry.left <= 0 || entry.fault.when?.(request) === false) continue
      entry.left -= 1
      const { answer } = entry.fault
      if (answer === 'reset') response.destroy()
      else if (answer !== 'hang' && 'body' in answer) {
        response.writeHead(answer.code, { 'Content-Type': 'application/json', ...answer.headers })
        response.end(answer.body)
      } else if (answer !== 'hang') {
        const { code, reason, message, retryAfter } = answer
        throw new ApiError(
          code,
          reason,
          message,
          retryAfter === undefined ? undefined : { retryAfterSeconds: retryAfter },
        )
      }
      return true
    }
    return false
  }
}
