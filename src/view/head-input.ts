import type { Bundle } from '../core/evidence/bundle.js'
import type { Evidence, IncidentState } from '../core/incident/incident.js'
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
  timeZone: string
}

export const latest = (incident: IncidentState): Evidence | undefined => incident.evidence.at(-1)
