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
