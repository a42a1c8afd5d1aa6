import type { Gap } from '../ipam/gap.js'
import type { Symptom, Workload } from './symptom.js'

/** How a ticket ended. A Pod that was deleted and came back elsewhere is evidence against the node, not a repair. */
export interface TicketEnd {
  at: number
  how: 'started' | 'deleted' | 'finished' | 'rollout-complete'
  /** Where the Pod that took its place started, and how long that took after the end. */
  replacement: { pod: string; node: string; afterMs: number } | undefined
}

/** One workload's trouble on one node, from its first symptom to its end. */
export interface Ticket {
  /** Stable while the ticket is open: `payments/Deployment/api 8d2c…` (workload and Pod uid). */
  id: string
  kind: Symptom['kind']
  node: string
  workload: Workload
  pod: string | undefined
  podUid: string | undefined
  /** Since when it has been stuck; `firstSeen` is when we were told. */
  since: number
  firstSeen: number
  lastSeen: number
  /** The newest CNI message. */
  message: string | undefined
  exhausted: boolean
  /** Of a stuck rollout: the newest counts. */
  desired: number | undefined
  ready: number | undefined
  ended: TicketEnd | undefined
}

export const workloadKey = (workload: Workload): string =>
  `${workload.namespace}/${workload.kind}/${workload.name}`

/** One id a workload and Pod; a rollout that lacks a Pod altogether is known by its workload. */
export const ticketId = (symptom: Pick<Symptom, 'workload' | 'podUid'>): string =>
  [workloadKey(symptom.workload), symptom.podUid ?? 'no-pod'].join(' ')

/** A DaemonSet's Pod is seen twice, as a stuck sandbox and as a stuck rollout: that is one trouble. */
const sameTrouble = (ticket: Ticket, symptom: Symptom): boolean =>
  ticket.ended === undefined &&
  ticket.node === symptom.node &&
  workloadKey(ticket.workload) === workloadKey(symptom.workload) &&
  (ticket.podUid === symptom.podUid || ticket.podUid === undefined || symptom.podUid === undefined)

const firstOf = (symptom: Symptom, at: number): Ticket => ({
  id: ticketId(symptom),
  kind: symptom.kind,
  node: symptom.node,
  workload: symptom.workload,
  pod: symptom.pod,
  podUid: symptom.podUid,
  since: symptom.since,
  firstSeen: at,
  lastSeen: at,
  message: symptom.kind === 'stuck-sandbox' ? symptom.message : undefined,
  exhausted: symptom.kind === 'stuck-sandbox' && symptom.exhausted,
  desired: symptom.kind === 'stuck-rollout' ? symptom.desired : undefined,
  ready: symptom.kind === 'stuck-rollout' ? symptom.ready : undefined,
  ended: undefined,
})

const seenAgain = (ticket: Ticket, symptom: Symptom, at: number): Ticket => {
  const fresh = firstOf(symptom, at)
  return {
    ...ticket,
    // A rollout says more than its Pod: it cannot be cured by moving the Pod.
    kind: symptom.kind === 'stuck-rollout' ? symptom.kind : ticket.kind,
    pod: ticket.pod ?? fresh.pod,
    podUid: ticket.podUid ?? fresh.podUid,
    since: Math.min(ticket.since, symptom.since),
    lastSeen: Math.max(ticket.lastSeen, at),
    message: fresh.message ?? ticket.message,
    exhausted: ticket.exhausted || fresh.exhausted,
    desired: fresh.desired ?? ticket.desired,
    ready: fresh.ready ?? ticket.ready,
  }
}

const byTime = (a: Ticket, b: Ticket): number => a.since - b.since || a.firstSeen - b.firstSeen

/** Folds one symptom in: the same Pod again renews its ticket, another Pod or an ended ticket makes a new one. Oldest first. */
export const addSymptom = (tickets: readonly Ticket[], symptom: Symptom, at: number): Ticket[] => {
  const index = tickets.findIndex(ticket => sameTrouble(ticket, symptom))
  const known = tickets[index]
  if (known === undefined) return [...tickets, firstOf(symptom, at)].toSorted(byTime)
  return tickets.with(index, seenAgain(known, symptom, at)).toSorted(byTime)
}

/**
 * Ends the open ticket with this id; an ended one keeps its first end, and only learns where the replacement started.
 * The ticket stays in the list: that a symptom vanished closes nothing.
 */
export const endTicket = (tickets: readonly Ticket[], id: string, end: TicketEnd, at: number): Ticket[] => {
  const open = tickets.findIndex(ticket => ticket.id === id && ticket.ended === undefined)
  const index = open >= 0 ? open : tickets.findLastIndex(ticket => ticket.id === id)
  const ticket = tickets[index]
  if (ticket === undefined) return [...tickets]
  const ended =
    ticket.ended === undefined
      ? end
      : { ...ticket.ended, replacement: ticket.ended.replacement ?? end.replacement }
  return tickets.with(index, { ...ticket, ended, lastSeen: Math.max(ticket.lastSeen, at) })
}

/** Its Pod was deleted and the one that took its place started on another node: evidence against this one (P-R2). */
export const movedAway = ({ ended, node }: Ticket): boolean =>
  ended?.how === 'deleted' && ended.replacement !== undefined && ended.replacement.node !== node

/** How long the ticket's Pod waited, until its end or until now. */
export const waitedMs = (ticket: Ticket, now: number): number =>
  Math.max(0, (ticket.ended?.at ?? now) - ticket.since)

export interface OpeningSettings {
  /** Two workloads within this time open a thread. */
  windowMs: number
  /** Orphans that open a thread by themselves. */
  orphans: number
}
export type Opening = { open: true; why: string } | { open: false; why: string }

/**
 * A node deserves a thread when its store shows orphans or no free address, when a plugin said that the range is used
 * up, when a DaemonSet is stuck there, or when a second workload gets stuck within the window. `gap` is the last
 * measurement, undefined where there is none: then only the tickets count.
 */
export const shouldOpen = (
  tickets: readonly Ticket[],
  gap: Pick<Gap, 'orphaned' | 'taken' | 'usable'> | undefined,
  now: number,
  settings: OpeningSettings,
): Opening => {
  if (gap?.usable !== undefined && gap.taken >= gap.usable)
    return { open: true, why: `all ${gap.usable} addresses are taken` }
  if (gap !== undefined && gap.orphaned >= Math.max(1, settings.orphans))
    return { open: true, why: `${gap.orphaned} addresses belong to sandboxes that are gone` }
  const recent = tickets.filter(ticket => now - ticket.lastSeen <= settings.windowMs)
  // A measurement with room left outweighs what a Pod that is gone was told.
  const full = recent.find(ticket => ticket.exhausted && (ticket.ended === undefined || gap === undefined))
  if (full) return { open: true, why: `the plugin told ${full.workload.name} that the range is used up` }
  const rollout = recent.find(ticket => ticket.kind === 'stuck-rollout' && ticket.ended === undefined)
  if (rollout) return { open: true, why: `the rollout of ${rollout.workload.name} is stuck on this node` }
  const workloads = new Set(recent.map(ticket => workloadKey(ticket.workload)))
  if (workloads.size > 1) return { open: true, why: `${workloads.size} workloads got stuck on this node` }
  return {
    open: false,
    why: recent.length === 0 ? 'nothing is stuck here' : 'one workload is stuck, the store shows no leak',
  }
}
