import { setImmediate as yieldOnce, setTimeout as sleep } from 'node:timers/promises'
import { reasonOf } from './errors.js'
import { type Frame, framesOf, type Identified, Interrupted, insist, interruptionOf } from './stream.js'
import { type RunningWatch, type WatchOptions, type WatchTimings, watchTimings } from './watch-options.js'

/**
 * Lists, then follows, for ever. Written here because the package's informer stops for good on most errors, never asks
 * for bookmarks and calls silence of 30 s a failure. Source: kubernetes-client/javascript cache.ts, watch.ts.
 */
export const startWatch = <O extends Identified, T>(options: WatchOptions<O, T>): RunningWatch<T> => {
  const watch = new ListWatch(options)
  const done = watch.run()
  return {
    records: () => watch.records,
    lastProofOfLife: () => watch.alive,
    counts: () => ({ lists: watch.lists, interruptions: watch.interruptions }),
    stop: async () => {
      watch.stop()
      await done
    },
  }
}

class ListWatch<O extends Identified, T> {
  records = new Map<string, T>()
  alive = 0
  lists = 0
  interruptions = 0
  readonly #options: WatchOptions<O, T>
  readonly #timings: WatchTimings
  /** Of whatever is under way: a page, a watch or a pause. */
  #abort = new AbortController()
  #stopped = false
  /** Where to go on; undefined asks for a list. */
  #version: string | undefined
  #listedAt = 0
  /** Interruptions since the last frame or clean end. */
  #inARow = 0

  constructor(options: WatchOptions<O, T>) {
    this.#options = options
    this.#timings = { ...watchTimings, ...options.timings }
  }

  stop(): void {
    this.#stopped = true
    this.#abort.abort()
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      try {
        if (this.#version === undefined) await this.#list()
        await this.#follow()
      } catch (error) {
        if (!this.#stopped) await this.#interrupted(error)
      }
    }
  }

  async #list(): Promise<void> {
    const seen = new Map<string, T>()
    let next: string | undefined
    let version: string | undefined
    do {
      const page = await this.#page(next)
      for (const object of page.items ?? []) this.#keep(seen, object)
      version = page.metadata?.resourceVersion
      next = page.metadata?.continue || undefined
      // Half a megabyte of JSON was just parsed: let clicks and locks have their turn.
      await yieldOnce()
    } while (next !== undefined && !this.#stopped)
    if (this.#stopped) return
    const left = [...this.records].filter(([uid]) => !seen.has(uid)).map(([, record]) => record)
    this.records = seen
    this.#version = version ?? '0'
    this.#listedAt = Date.now()
    this.lists += 1
    this.alive = Date.now()
    this.#notify([...seen.values()], left)
    this.#guard(() => this.#options.onSynced?.())
  }

  async #page(next: string | undefined): Promise<Page<O>> {
    const { kube, path, selector, resource } = this.#options
    const query = { ...selector, limit: '500', ...(next === undefined ? {} : { continue: next }) }
    return this.#within(kube.timeoutMs * 2, async signal => {
      const response = await kube.get(path, query, signal)
      await insist(response, `list ${resource}`)
      return (await response.json()) as Page<O>
    })
  }

  async #follow(): Promise<void> {
    const { kube, path, selector, resource } = this.#options
    const seconds = Math.ceil((this.#timings.watchForMs / 1_000) * (1 + Math.random() / 4))
    const query = {
      ...selector,
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: this.#version ?? '0',
      timeoutSeconds: String(seconds),
    }
    const began = Date.now()
    await this.#within(this.#timings.silentAfterMs, async (signal, heard) => {
      const response = await kube.get(path, query, signal)
      heard()
      await insist(response, `watch ${resource}`)
      for await (const frames of framesOf<O>(response)) {
        heard()
        if (this.#stopped) return
        this.#apply(frames)
      }
    })
    // A server that ends each watch at once would be asked without pause.
    if (Date.now() - began < 1_000) throw new Interrupted('the watch ended as soon as it began', 'suspect')
    this.#inARow = 0
    if (Date.now() - this.#listedAt > this.#timings.relistAfterMs) this.#version = undefined
  }

  #apply(frames: Frame<O>[]): void {
    const upserted = new Map<string, T>()
    const left: T[] = []
    let end: Interrupted | undefined
    for (const frame of frames) {
      if (frame.type === 'ERROR') {
        end = interruptionOf(frame.object)
        break
      }
      this.alive = Date.now()
      this.#inARow = 0
      this.#version = frame.object.metadata?.resourceVersion ?? this.#version
      const uid = frame.object.metadata?.uid
      if (frame.type === 'BOOKMARK' || uid === undefined) continue
      if (frame.type === 'DELETED') {
        const record = this.records.get(uid) ?? this.#keep(new Map(), frame.object)
        this.records.delete(uid)
        upserted.delete(uid)
        if (record !== undefined) left.push(record)
      } else {
        const record = this.#keep(this.records, frame.object)
        if (record !== undefined) upserted.set(uid, record)
      }
    }
    if (upserted.size + left.length > 0) this.#notify([...upserted.values()], left)
    if (end) throw end
  }

  /** An object that cannot be read is left out; it must not end the watch. */
  #keep(into: Map<string, T>, object: O): T | undefined {
    const uid = object.metadata?.uid
    if (uid === undefined) return undefined
    return this.#guard(() => {
      const record = this.#options.translate(object)
      into.set(uid, record)
      return record
    })
  }

  #notify(upserted: T[], left: T[]): void {
    if (!this.#stopped) this.#guard(() => this.#options.onChange({ upserted, left }))
  }

  #guard<R>(act: () => R): R | undefined {
    try {
      return act()
    } catch (error) {
      this.#options.log.warn(
        { resource: this.#options.resource, error: reasonOf(error) },
        'a watch callback failed',
      )
      return undefined
    }
  }

  /** Runs something that `stop` ends, and silence of `ms` too; `heard` begins the silence anew. */
  async #within<R>(ms: number, act: (signal: AbortSignal, heard: () => void) => Promise<R>): Promise<R> {
    const abort = new AbortController()
    this.#abort = abort
    if (this.#stopped) abort.abort()
    const timer = setTimeout(
      () => abort.abort(new Interrupted(`no sign of life for ${ms} ms`, 'suspect')),
      ms,
    )
    try {
      return await act(abort.signal, () => timer.refresh())
    } finally {
      clearTimeout(timer)
      // Lets go of a stream that was left in the middle.
      abort.abort()
    }
  }

  async #interrupted(error: unknown): Promise<void> {
    const { resource, log } = this.#options
    const { firstBackoffMs, longestBackoffMs } = this.#timings
    this.interruptions += 1
    this.#inARow += 1
    const interruption = error instanceof Interrupted ? error : undefined
    // Three failures without a frame between them: whatever is wrong with the resourceVersion, a list begins anew.
    const suspect = interruption?.why === 'suspect' && this.#inARow >= 3
    if (interruption?.why === 'expired' || suspect) this.#version = undefined
    const doubled = Math.min(longestBackoffMs, firstBackoffMs * 2 ** Math.min(this.#inARow - 1, 20))
    const wait = Math.max(interruption?.retryAfterMs ?? 0, doubled * (0.5 + Math.random() / 2))
    log.warn(
      { resource, error: reasonOf(error), again_ms: Math.round(wait), relist: this.#version === undefined },
      'watch interrupted',
    )
    this.#abort = new AbortController()
    if (this.#stopped) return
    await sleep(wait, undefined, { signal: this.#abort.signal }).catch(() => undefined)
  }
}

interface Page<O> {
  items?: O[]
  metadata?: { resourceVersion?: string; continue?: string }
}
