import type { Verdict } from '../diagnosis/finding.js'
import type { CordonState } from '../runbook/cordon-mark.js'
import type { Gap } from '../ipam/gap.js'
import type { Comparison } from '../runbook/comparison.js'
import type { Actor, Outcome } from '../runbook/run.js'
import type { Symptom } from './symptom.js'
import type { Ticket, TicketEnd } from './ticket.js'

/** The three numbers a thread is headed by; ids decided them. */
export type Counts = Omit<Gap, 'standings'>

export type IncidentEvent = { at: number; by: Actor } & (
  | { type: 'SymptomSeen'; symptom: Symptom }
  | { type: 'SymptomGone'; ticket: string; end: TicketEnd }
  | { type: 'EvidenceWanted'; why: string }
  | {
      type: 'EvidenceCollected'
      bundle: string
      counts: Counts | undefined
      reason: string | undefined
      verdict: Verdict
    }
  | { type: 'Opened'; why: string }
  | { type: 'MeasuredClean' }
  | { type: 'RunOpened'; run: string; runbook: string }
  | {
      type: 'RunEnded'
      run: string
      outcome: Outcome
      says: string
      recountAt: number | undefined
      escalateTo?: string
      /** How the node stood then. */
      cordon?: CordonState
    }
  | { type: 'ComparisonWanted' }
  | { type: 'RepairsCompared'; comparison: Comparison }
  | { type: 'Held' }
  | { type: 'Released' }
  | { type: 'Escalated'; to: string; why: string }
  | { type: 'TakenBack' }
  | { type: 'ClosedByHand'; reason: string }
  | {
      type: 'Recounted'
      bundle: string
      counts: Counts | undefined
      matched: boolean | undefined
      says: string
      nextAt: number | undefined
    }
)
export type IncidentEventType = IncidentEvent['type']

export type IncidentStatus =
  | 'noticed'
  | 'open'
  | 'diagnosed'
  | 'repairing'
  | 'holding'
  | 'watching'
  | 'escalated'
  | 'resolved'

export interface Evidence {
  bundle: string
  at: number
  counts: Counts | undefined
  reason: string | undefined
  verdict: Verdict
}

export interface RunSummary {
  run: string
  runbook: string
  openedAt: number
  openedBy: Actor
  outcome: Outcome | undefined
  says: string | undefined
  endedAt: number | undefined
  /** How it left the node, as read right then. */
  cordon?: CordonState
}

export interface Recount {
  at: number
  bundle: string
  counts: Counts | undefined
  matched: boolean | undefined
  says: string
}

/** One node's trouble. A node has one history; every time it is noticed anew after the window an episode begins. */
export interface IncidentState {
  /** `node-07.1`: node and episode. */
  id: string
  node: string
  episode: number
  status: IncidentStatus
  startedAt: number
  tickets: Ticket[]
  /** Newest last. */
  evidence: Evidence[]
  evidenceWanted: { at: number; why: string } | undefined
  opened: { at: number; why: string; by: Actor } | undefined
  runs: RunSummary[]
  /** Somebody asked to see both repairs, and has not been shown them. */
  comparisonWanted: { at: number; by: Actor } | undefined
  /** Newest last. */
  comparisons: Comparison[]
  recounts: Recount[]
  recountAt: number | undefined
  escalated: { to: string; why: string; by: Actor; at: number } | undefined
  held: { by: Actor; at: number } | undefined
  resolvedAt: number | undefined
  closed: { by: Actor; reason: string } | undefined
  /** How often it was opened again, and when last. */
  reopened: number[]
}
