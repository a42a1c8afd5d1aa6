import type { ServerResponse } from 'node:http'
import type { KubeObject } from '../store.js'
import type { Change } from './change-log.js'
import { asServed } from './event-views.js'
import { requestFilter } from './list.js'
import type { MemoryStore } from './memory-store.js'
import { frameFor } from './representation.js'
import type { ApiRequest } from './request.js'
import { apiVersionOf } from './resources.js'
import { ApiError, expired, type Status } from './status.js'

/** The open watches of a server, so that a test can disturb them. */
export class Watches {
  readonly #open = new Set<Watch>()
  /** Milliseconds between bookmarks; the real server's is about a minute. */
  bookmarkEvery = 60_000

  add(watch: Watch): void {
    this.#open.add(watch)
  }

  remove(watch: Watch): void {
    this.#open.delete(watch)
  }

  get count(): number {
    return this.#open.size
  }

  each(act: (watch: Watch) => void): void {
    for (const watch of this.#open) act(watch)
  }
}

/** One watch: frames of `{"type", "object"}`, a line each, until its time is over or the client goes. */
export class Watch {
  readonly request: ApiRequest
  readonly #response: ServerResponse
  readonly #store: MemoryStore
  readonly #watches: Watches
  readonly #matches: (object: KubeObject) => boolean
  readonly #bookmarks: boolean
  readonly #encode: (object: object) => object
  #timers: NodeJS.Timeout[] = []
  #unsubscribe = () => {}
  /** A silent watch stays open and delivers nothing: the stall that only a watchdog sees. */
  silent = false

  constructor(store: MemoryStore, watches: Watches, request: ApiRequest, response: ServerResponse) {
    this.request = request
    this.#store = store
    this.#watches = watches
    this.#response = response
    this.#matches = requestFilter(request)
    this.#bookmarks = request.query.get('allowWatchBookmarks') === 'true'
    this.#encode = frameFor(request, store.clock)
  }

  /** @throws ApiError 422 before anything was sent, for a contradictory request. */
  start(): void {
    const { query } = this.request
    const initial = query.get('sendInitialEvents') === 'true'
    if (initial && query.get('resourceVersionMatch') !== 'NotOlderThan')
      throw new ApiError(
        422,
        'Invalid',
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      )
    this.#response.writeHead(200, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-cache, private',
    })
    this.#response.flushHeaders()
    this.#response.on('close', () => this.end())
    this.#watches.add(this)
    const revision = query.get('resourceVersion') ?? ''
    const fresh = revision === '' || revision === '0' || initial
    const missed = fresh ? [] : this.#store.changesSince(Number(revision))
    if (missed === undefined) {
      this.error(expired(`too old resource version: ${revision} (${this.#store.compacted})`).status)
      return
    }
    if (fresh) this.#sendAll()
    for (const change of missed) this.#deliver(change)
    if (initial && this.#bookmarks) this.bookmark(true)
    this.#unsubscribe = this.#store.subscribe(change => this.#deliver(change))
    this.#setTimers(Number(query.get('timeoutSeconds') ?? 0) || 1800)
  }

  /** An ERROR frame, after which the server ends the stream. */
  error(status: Status): void {
    this.#write('ERROR', status)
    this.end()
  }

  /** A clean end, as when `timeoutSeconds` is over. */
  end(): void {
    this.#unsubscribe()
    for (const timer of this.#timers) clearTimeout(timer)
    this.#watches.remove(this)
    if (!this.#response.writableEnded) this.#response.end()
  }

  /** The connection breaks in the middle. */
  destroy(): void {
    this.#response.destroy()
  }

  /** The rest of an empty object is what the real server sends with a bookmark of the kind. */
  bookmark(initialEventsEnd = false): void {
    const { type } = this.request
    const rest: Record<string, object> = {
      pods: { spec: { containers: null }, status: {} },
      nodes: { spec: {}, status: { daemonEndpoints: { kubeletEndpoint: { Port: 0 } }, nodeInfo: {} } },
    }
    this.#write('BOOKMARK', {
      kind: type.kind,
      apiVersion: apiVersionOf(type),
      metadata: {
        resourceVersion: String(this.#store.revision),
        ...(initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
      },
      ...rest[type.resource],
    })
  }

  #sendAll(): void {
    for (const object of this.#store.list(this.request.type.resource, this.request.namespace))
      if (this.#matches(object)) this.#write('ADDED', this.#encode(asServed(this.request.type, object)))
  }

  /**
   * What a change is to this selection (convertToWatchEvent in k8s.io/apiserver): leaving it is DELETED, with the
   * object as it was and the revision of the change.
   */
  #deliver(change: Change): void {
    if (change.resource !== this.request.type.resource) return
    const before = change.previous !== undefined && this.#matches(change.previous)
    const after = change.type !== 'DELETED' && this.#matches(change.object)
    if (!before && !after) return
    const gone = { ...(change.previous ?? change.object) }
    gone.metadata = { ...gone.metadata, resourceVersion: String(change.revision) }
    const type = after ? (before ? 'MODIFIED' : 'ADDED') : 'DELETED'
    this.#write(type, this.#encode(asServed(this.request.type, after ? change.object : gone)))
  }

  /** Bookmarks come about once a minute and once two seconds before the end. */
  #setTimers(seconds: number): void {
    const at = (milliseconds: number, act: () => void) => {
      const timer = setTimeout(act, Math.max(0, milliseconds))
      this.#timers.push(timer.unref())
    }
    at(seconds * 1000, () => this.end())
    if (!this.#bookmarks) return
    at((seconds - 2) * 1000, () => this.bookmark())
    this.#timers.push(setInterval(() => this.bookmark(), this.#watches.bookmarkEvery).unref())
  }

  #write(type: string, object: object): void {
    if (this.silent || this.#response.writableEnded) return
    this.#response.write(`${JSON.stringify({ type, object })}\n`)
  }
}
