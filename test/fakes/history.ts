import { beginOf, chained } from '../../src/core/audit/chain.js'
import { auditFacts } from '../../src/core/audit/entry.js'
import type { Bundle } from '../../src/core/evidence/bundle.js'
import type { Audit, Clock, History, Recorded } from '../../src/ports.js'

/** Read as often as a history is; nobody may change what he has read. */
const frozen = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}

/** Histories in memory, with their audit chain. Everything goes through JSON, as it does with the real one. */
export const fakeHistory = (
  clock: Clock = { now: () => Date.now() },
  cluster = 'prod-eu1',
): History & { audit: Audit } => {
  const chain: string[] = []
  let tip = beginOf(cluster)
  // Hashed when somebody looks at the chain: most tests do not.
  const unhashed: { stream: string; position: number; event: unknown }[] = []
  const hashed = (): string[] => {
    const facts = unhashed.splice(0).flatMap(each => auditFacts(each.stream, each.position, each.event) ?? [])
    const more = chained(tip, facts)
    chain.push(...more.lines)
    tip = more.tip
    return chain
  }
  const lists = new Map<string, unknown[]>()
  const bundles = new Map<string, { text: string; until: number }>()
  const marks = new Map<string, number>()
  const forgotten = new Map<string, number>()
  const eventsOf = (stream: string): unknown[] => {
    if ((forgotten.get(stream) ?? Infinity) <= clock.now()) lists.delete(stream)
    return lists.get(stream) ?? []
  }
  return {
    audit: {
      head: async () => (hashed().length === 0 ? undefined : tip),
      length: async () => hashed().length,
      lines: async (after, most) => hashed().slice(after, after + most),
    },
    async read<E>(stream: string): Promise<Recorded<E>> {
      const events = [...eventsOf(stream)] as E[]
      return { events, length: events.length }
    },
    async append<E>(stream: string, expectedLength: number, events: E[]): Promise<boolean> {
      const list = eventsOf(stream)
      if (list.length !== expectedLength) return false
      if (events.length === 0) return true
      lists.set(stream, [
        ...list,
        ...events.map(event => frozen(JSON.parse(JSON.stringify(event)) as unknown)),
      ])
      forgotten.delete(stream)
      unhashed.push(...events.map((event, i) => ({ stream, position: expectedLength + i, event })))
      return true
    },
    async streams(prefix: string): Promise<string[]> {
      return [...lists.keys()].filter(stream => stream.startsWith(prefix) && !forgotten.has(stream)).sort()
    },
    async forget(stream: string, ttlMs: number): Promise<void> {
      forgotten.set(stream, clock.now() + ttlMs)
    },
    async keepBundle(id: string, bundle: Bundle, ttlMs: number): Promise<void> {
      bundles.set(id, { text: JSON.stringify(bundle), until: clock.now() + ttlMs })
    },
    async bundle(id: string): Promise<Bundle | undefined> {
      const kept = bundles.get(id)
      return kept && kept.until > clock.now() ? (JSON.parse(kept.text) as Bundle) : undefined
    },
    async wasHandled(key: string): Promise<boolean> {
      return (marks.get(key) ?? 0) > clock.now()
    },
    async markHandled(key: string, ttlMs: number): Promise<void> {
      marks.set(key, clock.now() + ttlMs)
    },
  }
}
