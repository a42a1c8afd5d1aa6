import type { Kube } from './connect.js'
import type { Identified } from './stream.js'

export interface WatchLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** Real milliseconds. */
export interface WatchTimings {
  /** Silence after which a connection is given up; bookmarks come about once a minute. */
  silentAfterMs: number
  /** What the server is asked to end a watch after, up to a quarter more. */
  watchForMs: number
  /** A full list at least this often, since a watch can lie. */
  relistAfterMs: number
  firstBackoffMs: number
  longestBackoffMs: number
}

export const watchTimings: WatchTimings = {
  silentAfterMs: 95_000,
  watchForMs: 240_000,
  relistAfterMs: 600_000,
  firstBackoffMs: 500,
  longestBackoffMs: 30_000,
}

export interface WatchOptions<O extends Identified, T> {
  kube: Pick<Kube, 'get' | 'timeoutMs'>
  /** For logs and metrics. */
  resource: string
  path: string
  selector: { fieldSelector?: string; labelSelector?: string }
  /** Trims an object to what is kept of it; the object itself is dropped. */
  translate(object: O): T
  /**
   * `left` holds what was kept of objects that left the selection: deleted, or no longer matching. Nobody knows which
   * until the object is read again.
   */
  onChange(change: { upserted: T[]; left: T[] }): void
  /** After each full list. */
  onSynced?(): void
  log: WatchLog
  timings?: Partial<WatchTimings>
}

export interface RunningWatch<T> {
  /** Kept records by the object's uid. */
  records(): ReadonlyMap<string, T>
  /** Wall clock of the last frame, bookmark or list, in milliseconds since 1970; 0 before the first. */
  lastProofOfLife(): number
  counts(): { lists: number; interruptions: number }
  /** Final: nothing is called back after it. To watch again, start anew. */
  stop(): Promise<void>
}
