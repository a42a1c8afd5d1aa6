import type { StuckSandbox, WatchedPod, Workload } from '../../core/incident/symptom.js'
import type { Ticket, TicketEnd } from '../../core/incident/ticket.js'
import type { Asked } from './pace.js'

/** A Pod's other warnings are asked for at most this often. By the clock. */
const warningsAgeMs = 60_000

export interface Tracked {
  pod: WatchedPod
  /** In the Pending selection; any other Pod has to be read to be known. */
  watched: boolean
  /** The last read of a Pod that is not watched; undefined asks for one at once. */
  read: Asked | undefined
  warnings: { at: number; list: string[] } | undefined
  reported: { node: string; workload: Workload; as: string } | undefined
  /** `told` once at least; its replacement is sought again at `seekAt`. */
  ended: { how: TicketEnd['how']; at: number; told: boolean; seekAt: number } | undefined
  /** When a Pod that is not watched was last known to exist: it may have gone any time after this. */
  seenUntil: number | undefined
}

export const track = (pod: WatchedPod, watched: boolean): Tracked => ({
  pod,
  watched,
  read: undefined,
  warnings: undefined,
  reported: undefined,
  ended: undefined,
  seenUntil: undefined,
})

export const ended = (how: TicketEnd['how'], at: number): Tracked['ended'] => ({
  how,
  at,
  told: false,
  seekAt: 0,
})

export const warningsAreFresh = ({ warnings }: Tracked, now: number): boolean =>
  warnings !== undefined && now - warnings.at <= warningsAgeMs

/** Whether something is still to be told of a ticket: its end, or where the Pod that took a deleted one's place started. */
export const isUnfinished = ({ ended: end }: Pick<Ticket, 'ended'>): boolean =>
  end === undefined || (end.how === 'deleted' && end.replacement === undefined)

/** A ticket from before this process started: its Pod is read at the first tick, a replacement is sought further. */
export const trackedFrom = (ticket: Ticket): Tracked | undefined => {
  if (ticket.kind !== 'stuck-sandbox' || !ticket.podUid || !ticket.pod || !isUnfinished(ticket))
    return undefined
  const pod: WatchedPod = {
    namespace: ticket.workload.namespace,
    name: ticket.pod,
    uid: ticket.podUid,
    node: ticket.node,
    phase: 'Unknown',
    hostNetwork: false,
    controller: undefined,
    templateHash: undefined,
    testPod: false,
    createdAt: ticket.since,
    scheduledAt: ticket.since,
    deletedAt: undefined,
    waiting: [],
    statusesMissing: false,
    sandboxReady: undefined,
    sandboxReadyChangedAt: undefined,
  }
  const end = ticket.ended && { how: ticket.ended.how, at: ticket.ended.at, told: true, seekAt: 0 }
  return {
    ...track(pod, false),
    reported: { node: ticket.node, workload: ticket.workload, as: '' },
    ended: end,
    // The record of an end is no sign of life: of an ended ticket only its beginning is sure.
    seenUntil: end === undefined ? ticket.lastSeen : ticket.firstSeen,
  }
}

/** A symptom is told again only when it says more than before. */
export const asReported = (symptom: StuckSandbox): string =>
  `${symptom.exhausted ? 'exhausted' : ''} ${symptom.message === undefined ? '' : 'message'}`

export const endOf = (pod: WatchedPod): TicketEnd['how'] | undefined => {
  if (pod.deletedAt !== undefined) return 'deleted'
  if (pod.phase === 'Succeeded' || pod.phase === 'Failed') return 'finished'
  const started = pod.sandboxReady ?? (pod.phase === 'Running' && pod.waiting.length === 0)
  return started ? 'started' : undefined
}
