import { z } from 'zod'
import { type Answer, type Bundle, unknown } from './bundle.js'
import { name, peer, shapes, text, time } from './saved-shapes.js'

const whole = z.object({
  cluster: name.default(''),
  node: name,
  collectedAt: time,
  durationMs: z.number().min(0).default(0),
  shown: text.optional(),
})

export interface SavedBundle {
  bundle: Bundle
  /** Parts that are in the file and cannot be read, with where: they count as not looked at. */
  unreadable: string[]
}

/** Whether it is meant as one: `cnibot diagnose --json` writes it under `bundle`, a store keeps it bare. */
export const bundleIn = (value: unknown): Record<string, unknown> | undefined => {
  const outer = z.record(z.string(), z.unknown()).safeParse(value)
  if (!outer.success) return undefined
  const inner = z.record(z.string(), z.unknown()).safeParse(outer.data.bundle)
  const found = inner.success ? inner.data : outer.data
  return typeof found.collectedAt === 'number' && 'stores' in found ? found : undefined
}

/**
 * Reads a saved bundle. A part that is missing or has another shape becomes one that was not looked at, so that half a file
 * is still worth reading and a damaged one is never taken for an empty store. Throws a `z.ZodError` where not even node and
 * time can be read.
 */
export const readSavedBundle = (value: Record<string, unknown>): SavedBundle => {
  const head = whole.parse(value)
  const unreadable: string[] = []
  const part = <T>(key: string, shape: z.ZodType<T>): Answer<T> => {
    const given = value[key]
    const none = z.object({ at: time, reason: text }).safeParse(given)
    if (none.success) return none.data
    const read = z.object({ at: time, value: shape }).safeParse(given)
    if (read.success) return { at: read.data.at, value: read.data.value as T }
    if (given !== undefined) unreadable.push(`${key}: ${firstIssue(read.error)}`)
    return unknown(given === undefined ? 'not in the file' : 'not readable in the file', head.collectedAt)
  }
  const peers = z
    .array(peer)
    .max(10_000)
    .safeParse(value.peers ?? [])
  if (!peers.success) unreadable.push(`peers: ${firstIssue(peers.error)}`)
  const bundle = {
    ...head,
    shown: head.shown,
    facts: part('facts', shapes.facts),
    pods: part('pods', shapes.pods),
    events: part('events', shapes.events),
    rollouts: part('rollouts', shapes.rollouts),
    host: part('host', shapes.host),
    conflist: part('conflist', shapes.conflist),
    stores: part('stores', shapes.stores),
    runtime: part('runtime', shapes.runtime),
    sandboxes: part('sandboxes', shapes.sandboxes),
    records: part('records', shapes.records),
    owners: part('owners', shapes.owners),
    held: part('held', shapes.held),
    journal: part('journal', shapes.journal),
    restarts: part('restarts', shapes.restarts),
    leftovers: part('leftovers', shapes.leftovers),
    peers: peers.success ? peers.data : [],
  }
  return { bundle: bundle as Bundle, unreadable }
}

const firstIssue = (error: z.ZodError): string => {
  const [issue] = error.issues
  return issue === undefined ? error.message : `${issue.path.join('.') || 'here'}: ${issue.message}`
}
