import {
  type AuditVerdict,
  type ChainEntry,
  type Compared,
  follow,
  readLine,
  startWalk,
  verdictOf,
} from '../core/audit/chain.js'
import { auditFacts, eventDigest, otherwise } from '../core/audit/entry.js'
import { planDigest, planSubject } from '../core/runbook/plan.js'
import { foldRun, type RunEvent } from '../core/runbook/run.js'
import type { Audit, History } from '../ports.js'

export interface VerifyDeps {
  history: Pick<History, 'read' | 'streams'>
  audit: Audit
  cluster: string
}

/** Entries are read so many at a time: memory does not grow with the chain. */
const page = 500

const kinds = ['run/', 'incident/', 'thread/', 'fleet']

/** Which events of each history belong on the record, in order; read before the chain is: so nothing young is missed. */
const positionsOnRecord = async ({ history }: VerifyDeps): Promise<Map<string, number[]>> => {
  const positions = new Map<string, number[]>()
  for (const kind of kinds)
    for (const stream of await history.streams(kind)) {
      const { events } = await history.read(stream)
      const audited = events.flatMap((event, i) => (auditFacts(stream, i, event) === undefined ? [] : [i]))
      positions.set(stream, audited)
    }
  return positions
}

/** Entries of one history come each once and in its order, none left out: a chain written anew may fit otherwise. */
const misplaced = (
  { n, stream, position }: ChainEntry,
  positions: ReadonlyMap<string, number[]>,
  seen: Map<string, { entries: number; last: number }>,
): string | undefined => {
  const { entries, last } = seen.get(stream) ?? { entries: 0, last: -1 }
  seen.set(stream, { entries: entries + 1, last: position })
  const due = positions.get(stream)?.[entries]
  if (due === undefined ? position > last : position === due) return undefined
  return `entry ${n} tells of event ${position + 1} of ${stream}, out of its turn: ${due === undefined ? 'it came before' : `event ${due + 1} is next`}`
}

/** Why this entry does not fit the history it was made from; 'plan' where a digest was made again and is the same. */
const compare = (entry: ChainEntry, events: RunEvent[]): { wrong?: string; plan?: true } => {
  const { n, stream, position } = entry
  const event = events[position]
  const where = `event ${position + 1} of ${stream}`
  // Nothing on the record is ever forgotten: only requests are, and those are not on it.
  if (events.length === 0) return { wrong: `entry ${n} tells of ${where}, and that history is gone` }
  if (!event)
    return { wrong: `entry ${n} tells of ${where}, and that history has only ${events.length} events` }
  if (eventDigest(event) !== entry.event)
    return { wrong: `${where} was changed: it is not the event that entry ${n} tells of` }
  const { n: _number, previous: _previous, ...said } = entry
  const made = auditFacts(stream, position, event)
  if (!made) return { wrong: `entry ${n} tells of ${where}, which does not belong on the record` }
  const forged = otherwise(said, made)
  if (forged.length > 0)
    return { wrong: `entry ${n} does not follow from ${where}: it says otherwise on ${forged.join(', ')}` }
  if (event.type !== 'StepPlanned') return {}
  const state = foldRun(events.slice(0, position))
  if (!state) return { wrong: `${where} is a plan of a run that was never opened` }
  const digest = planDigest(event.plan, planSubject(state, event.index))
  return digest === entry.plan
    ? { plan: true }
    : { wrong: `the plan of entry ${n} does not give the digest that was approved: ${where}` }
}

/** The histories of one page of entries, each read once. */
const comparePage = async (
  { history }: VerifyDeps,
  entries: readonly ChainEntry[],
): Promise<Compared & { wrong: { n: number; says: string } | undefined }> => {
  const read = new Map<string, RunEvent[]>()
  let plans = 0
  for (const entry of entries) {
    const { stream } = entry
    const events = read.get(stream) ?? (await history.read<RunEvent>(stream)).events
    read.set(stream, events)
    const { wrong, plan } = compare(entry, events)
    if (wrong !== undefined) return { plans, wrong: { n: entry.n, says: wrong } }
    if (plan) plans += 1
  }
  return { plans, wrong: undefined }
}

const leftOut = (
  positions: ReadonlyMap<string, number[]>,
  seen: ReadonlyMap<string, { entries: number }>,
): string | undefined => {
  for (const [stream, { length: count }] of positions) {
    const entries = seen.get(stream)?.entries ?? 0
    if (entries < count)
      return `${stream} holds ${count} events that belong on the record, and the chain has ${entries} of them: the others were written past it, or the end of the chain was cut off`
  }
  return undefined
}

/**
 * Follows the chain to its end, and compares each entry with the history that it tells of, both ways. `head`: a hash, or its beginning, that somebody noted and that must be in the chain.
 */
export const verifyAudit = async (deps: VerifyDeps, head?: string): Promise<AuditVerdict> => {
  const positions = await positionsOnRecord(deps)
  const seen = new Map<string, { entries: number; last: number }>()
  const compared: Compared = { plans: 0 }
  let walk = startWalk(deps.cluster, head)
  let wrong: { n: number; says: string } | undefined
  // What others add meanwhile is left to the next time, else a busy record would never be read to its end.
  const end = await deps.audit.length()
  while (walk.lines < end) {
    const lines = await deps.audit.lines(walk.lines, Math.min(page, end - walk.lines))
    if (lines.length === 0) break
    const held = walk.tip.n
    walk = lines.reduce(follow, walk)
    if (walk.broken || wrong) continue
    const entries = lines.flatMap(line => readLine(line)?.entry ?? []).filter(({ n }) => n > held)
    const more = await comparePage(deps, entries)
    compared.plans += more.plans
    wrong = more.wrong
    for (const entry of entries) {
      const says = misplaced(entry, positions, seen)
      if (says !== undefined) wrong ??= { n: entry.n, says }
    }
  }
  const verdict = verdictOf(walk)
  if (!verdict.whole) return verdict
  if (wrong) return { whole: false, ...wrong }
  const missing = leftOut(positions, seen)
  return missing === undefined
    ? { ...verdict, ...compared }
    : { whole: false, n: verdict.entries + 1, says: missing }
}
