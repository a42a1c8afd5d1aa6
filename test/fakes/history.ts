import type { Bundle } from '../../src/core/evidence/bundle.js'
import type { Clock, History, Recorded } from '../../src/ports.js'

/** Histories in memory. Everything goes through JSON, as it does with the real one. */
export const fakeHistory = (clock: Clock = { now: () => Date.now() }): History => {
  const lists = new Map<string, string[]>()
  const bundles = new Map<string, { text: string; until: number }>()
  const marks = new Map<string, number>()
  return {
    async read<E>(stream: string): Promise<Recorded<E>> {
      const events = (lists.get(stream) ?? []).map(line => JSON.parse(line) as E)
      return { events, length: events.length }
    },
    async append<E>(stream: string, expectedLength: number, events: E[]): Promise<boolean> {
      const list = lists.get(stream) ?? []
      if (list.length !== expectedLength) return false
      if (events.length > 0) lists.set(stream, [...list, ...events.map(event => JSON.stringify(event))])
      return true
    },
    async streams(prefix: string): Promise<string[]> {
      return [...lists.keys()].filter(stream => stream.startsWith(prefix)).sort()
    },
    async keepBundle(id: string, bundle: Bundle, ttlMs: number): Promise<void> {
      bundles.set(id, { text: JSON.stringify(bundle), until: clock.now() + ttlMs })
    },
    async bundle(id: string): Promise<Bundle | undefined> {
      const kept = bundles.get(id)
      return kept && kept.until > clock.now() ? (JSON.parse(kept.text) as Bundle) : undefined
    },
    async firstTime(key: string, ttlMs: number): Promise<boolean> {
      if ((marks.get(key) ?? 0) > clock.now()) return false
      marks.set(key, clock.now() + ttlMs)
      return true
    },
  }
}
