import type { Symptom, Workload } from '../../core/incident/symptom.js'
import type { Ticket, TicketEnd } from '../../core/incident/ticket.js'
import type { Clock, Cluster } from '../../ports.js'
import type { Kube } from './connect.js'
import type { LoadTimings } from './pace.js'
import type { WatchLog, WatchTimings } from './watch-options.js'

/**
 * A symptom reported earlier is over; told a second time when the replacement of a deleted Pod has started. This alone says nothing about the node (law 6).
 */
export interface Gone {
  kind: Symptom['kind']
  /** Id of the ticket that it ends. */
  ticket: string
  node: string
  workload: Workload
  pod: string | undefined
  podUid: string | undefined
  end: TicketEnd
}

export interface SymptomSettings {
  /** By `clock`. */
  stuckAfterMs: number
  rolloutStuckAfterMs: number
  /** Real milliseconds between two looks at what time alone changes. */
  tickMs: number
  timings?: Partial<WatchTimings>
  load?: Partial<LoadTimings>
}

export interface SymptomWatchOptions {
  kube: Kube
  cluster: Cluster
  clock: Clock
  settings: SymptomSettings
  /** Tickets without an end in the histories: what became of them while nobody watched is found out at the start. */
  openTickets?: Ticket[]
  /** Told once for each Pod or node and again when it gets worse. One that fails is told again at the next tick. */
  onSymptom(symptom: Symptom): void | Promise<void>
  onGone(gone: Gone): void | Promise<void>
  log: WatchLog
}

/** What the two followers need beside: whether the node of a symptom is still there. */
export type FollowOptions = SymptomWatchOptions & { nodeExists(name: string): boolean }
