import { diagnose, type TicketHistory } from '../core/diagnosis/diagnose.js'
import { type Bundle, isKnown } from '../core/evidence/bundle.js'
import {
  type Counts,
  foldIncident,
  type IncidentEvent,
  type IncidentState,
  incidentStream,
} from '../core/incident/incident.js'
import { movedAway, shouldOpen } from '../core/incident/ticket.js'
import { countsOf, measure } from '../core/ipam/gap.js'
import type { History, Jobs, Log, Runbooks } from '../ports.js'
import { type GatherDeps, gather } from '../steps/gather.js'
import { record } from './record.js'

export interface CollectDeps extends GatherDeps {
  history: History
  jobs: Jobs
  runbooks: Runbooks
  log: Log
  settings: GatherDeps['settings'] & {
    bundleTtlMs: number
    incidentWindowMs: number
    ticketWindowMs: number
    orphansToOpen: number
  }
}

const counted = (bundle: Bundle): { counts: Counts | undefined; reason: string | undefined } => {
  const gap = measure(bundle)
  return isKnown(gap)
    ? { counts: countsOf(gap.value), reason: undefined }
    : { counts: undefined, reason: gap.reason }
}

/** What the tickets say of the node: a Pod that ran elsewhere after it was moved speaks against this one (P-R2). */
const ticketHistory = (incident: IncidentState | undefined): TicketHistory | undefined => {
  const tickets = incident?.tickets ?? []
  const [first] = tickets
  if (!first) return undefined
  const last = Math.max(...tickets.map(ticket => ticket.lastSeen))
  const moved = tickets.filter(movedAway).length
  return { tickets: tickets.length, moved, overMs: last - first.since }
}

/** A full look at a node, kept under an id, with what we think of it. */
export const look = async (
  deps: CollectDeps,
  node: string,
  incident: IncidentState | undefined,
  signal: AbortSignal,
) => {
  const bundle = await gather(deps, node, 'full', signal)
  // A look that was cut off by us says nothing of the node.
  if (signal.aborted) throw new Error('stopped')
  const id = `${node}-${bundle.collectedAt}`
  await deps.history.keepBundle(id, bundle, deps.settings.bundleTtlMs)
  const verdict = diagnose(bundle, await deps.runbooks.list(), ticketHistory(incident))
  // The node is as old as the look's beginning: one that took long says nothing of what came up meanwhile.
  return { id, at: bundle.collectedAt, bundle, verdict, ...counted(bundle) }
}

/** A symptom after the repair made us look before the re-count was due, and there are orphans again. */
const grewAgain = (
  collected: IncidentEvent & { type: 'EvidenceCollected' },
  orphans: number,
): IncidentEvent[] => {
  const { at, by, bundle, counts } = collected
  const says = `${orphans} addresses without a sandbox again: the leak is still active`
  return [{ at, by, type: 'Recounted', bundle, counts, matched: false, says, nextAt: undefined }, collected]
}

const afterLook = (
  deps: CollectDeps,
  state: IncidentState | undefined,
  collected: IncidentEvent & { type: 'EvidenceCollected' },
): IncidentEvent[] => {
  const { at, by } = collected
  const more: IncidentEvent[] = [collected]
  if (state?.status === 'watching' && collected.counts && collected.counts.orphaned > 0)
    return [...more, ...grewAgain(collected, collected.counts.orphaned)]
  if (state && state.status !== 'noticed' && state.status !== 'resolved') return more
  const tickets = state?.tickets ?? []
  const opening = shouldOpen(tickets, collected.counts, at, {
    windowMs: deps.settings.ticketWindowMs,
    orphans: deps.settings.orphansToOpen,
  })
  if (opening.open) more.push({ at, by, type: 'Opened', why: opening.why })
  else if (state?.status === 'noticed' && collected.counts && tickets.every(t => t.ended))
    more.push({ at, by, type: 'MeasuredClean' })
  return more
}

/** Evidence wanted → one look at the node → diagnosis → the incident's history; a thread when the node deserves one. */
export const collectEvidence =
  (deps: CollectDeps) =>
  async (job: { node: string }, signal: AbortSignal): Promise<void> => {
    const { node } = job
    const fold = (events: IncidentEvent[]) => foldIncident(node, events, deps.settings.incidentWindowMs)
    const before = fold((await deps.history.read<IncidentEvent>(incidentStream(node))).events)
    const wanted = before?.evidenceWanted
    if (!wanted) return
    const { id, at, verdict, counts, reason } = await look(deps, node, before, signal)
    const written = await record<IncidentEvent>(deps.history, incidentStream(node), events => {
      const state = fold(events)
      // A look that another one overtook is older than what was asked for since.
      if (state?.evidenceWanted?.at !== wanted.at) return []
      return afterLook(deps, state, {
        at,
        by: 'cnibot',
        type: 'EvidenceCollected',
        bundle: id,
        counts,
        reason,
        verdict,
      })
    })
    deps.log.info({ node, bundle: id, cause: verdict.cause }, 'evidence collected')
    await deps.jobs.enqueue({ kind: 'publish', node, length: written.length })
  }

export { afterLook }
