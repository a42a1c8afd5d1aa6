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

const unanswered = z.object({ at: time, reason: text })
const answered = <T>(shape: z.ZodType<T>) => z.object({ at: time, value: shape })
const peers = z.array(peer).max(10_000)
/** Made once: zod compiles each shape when it is first used. */
const answers = {
  facts: answered(shapes.facts),
  pods: answered(shapes.pods),
  events: answered(shapes.events),
  rollouts: answered(shapes.rollouts),
  host: answered(shapes.host),
  conflist: answered(shapes.conflist),
  stores: answered(shapes.stores),
  runtime: answered(shapes.runtime),
  sandboxes: answered(shapes.sandboxes),
  records: answered(shapes.records),
  owners: answered(shapes.owners),
  held: answered(shapes.held),
  journal: answered(shapes.journal),
  restarts: answered(shapes.restarts),
  leftovers: answered(shapes.leftovers),
}

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
  const part = <T>(key: string, shape: ReturnType<typeof answered<T>>): Answer<T> => {
    const given = value[key]
    const none = unanswered.safeParse(given)
    if (none.success) return none.data
    const read = shape.safeParse(given)
    if (read.success) return { at: read.data.at, value: read.data.value as T }
    if (given !== undefined) unreadable.push(`${key}: ${firstIssue(read.error)}`)
    return unknown(given === undefined ? 'not in the file' : 'not readable in the file', head.collectedAt)
  }
  const others = peers.safeParse(value.peers ?? [])
  if (!others.success) unreadable.push(`peers: ${firstIssue(others.error)}`)
  const bundle = {
    ...head,
    shown: head.shown,
    facts: part('facts', answers.facts),
    pods: part('pods', answers.pods),
    events: part('events', answers.events),
    rollouts: part('rollouts', answers.rollouts),
    host: part('host', answers.host),
    conflist: part('conflist', answers.conflist),
    stores: part('stores', answers.stores),
    runtime: part('runtime', answers.runtime),
    sandboxes: part('sandboxes', answers.sandboxes),
    records: part('records', answers.records),
    owners: part('owners', answers.owners),
    held: part('held', answers.held),
    journal: part('journal', answers.journal),
    restarts: part('restarts', answers.restarts),
    leftovers: part('leftovers', answers.leftovers),
    peers: others.success ? others.data : [],
  }
  return { bundle: bundle as Bundle, unreadable }
}

const firstIssue = (error: z.ZodError): string => {
  const [issue] = error.issues
  return issue === undefined ? error.message : `${issue.path.join('.') || 'here'}: ${issue.message}`
}
