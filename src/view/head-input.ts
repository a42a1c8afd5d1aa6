import type { Brakes } from '../core/brakes.js'
import type { Bundle } from '../core/evidence/bundle.js'
import type { Evidence, IncidentState } from '../core/incident/incident.js'
import type { Risk } from '../core/runbook/approval.js'
import type { RunState } from '../core/runbook/run.js'
import type { Cordon } from './cordon.js'

/** Everything the head message is drawn from; all of it comes out of histories. */
export interface HeadInput {
  cluster: string
  incident: IncidentState
  /** Oldest first. */
  runs: RunState[]
  bundle: Bundle | undefined
  cordon: Cordon
  /** `@sre-oncall` */
  approversNamed: string
  /** Where a risk has a list of its own. */
  approversFor?: Record<Risk, string>
  timeZone: string
  /** What keeps every node, or this one among many, from being changed now. */
  brakes?: Pick<Brakes, 'paused' | 'storm'>
}

export const latest = (incident: IncidentState): Evidence | undefined => incident.evidence.at(-1)
