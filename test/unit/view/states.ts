import type { Verdict } from '../../../src/core/diagnosis/finding.js'
import type { Bundle } from '../../../src/core/evidence/bundle.js'
import { foldIncident, type IncidentEvent, type IncidentState } from '../../../src/core/incident/incident.js'
import type { Symptom } from '../../../src/core/incident/symptom.js'
import { ticketId } from '../../../src/core/incident/ticket.js'
import { minute, now } from '../leaking-node.js'
import { countsOf, exhausted, hour, storyBundle } from './story-bundle.js'

export const leakVerdict: Verdict = {
  cause: 'ipam-leak',
  headline: 'Leaked addresses',
  sure: 'high',
  says: [
    'The store counts 212 addresses for sandboxes that are gone. Nothing on the node uses them.',
    'The plugin runs and answers: it has nothing left to give.',
  ],
  findings: [
    { name: 'range-exhausted', says: 'All 253 addresses are taken.', evidence: ['253 of 253'] },
    {
      name: 'allocations-leaked',
      says: '212 addresses have no sandbox.',
      evidence: ['212 without a sandbox'],
    },
  ],
  hypotheses: [
    {
      cause: 'runtime-restart',
      says: 'Teardown was lost when containerd restarted under load fifteen days ago.',
      for: ['209 of 212 were made in that window', 'containerd restarted twice', '187 DEL failures'],
      against: [],
      missing: ['why the DELs failed'],
    },
  ],
  outlook:
    'Not by itself; after the next restart under load it will: containerd 1.7.24 skips DEL here, 1.7.31 does not.',
  doNot: [
    'Do not restart the kubelet or containerd.',
    'Do not empty the folder: that gives the addresses of living Pods away.',
  ],
  next: ['Cordon node-07, then give the 212 back in place.'],
  runbooks: ['cordon', 'leak-reconcile'],
  escalateTo: undefined,
}

const stuck = (namespace: string, kind: string, name: string, since: number): Symptom => ({
  kind: 'stuck-sandbox',
  node: 'node-07',
  workload: { namespace, kind, name },
  pod: `${name}-x`,
  podUid: `uid-${name}`,
  since,
  message: exhausted,
  exhausted: false,
})

const seen = (symptom: Symptom): IncidentEvent => ({
  at: symptom.since + 5 * minute,
  by: 'cnibot',
  type: 'SymptomSeen',
  symptom,
})

const gone = (symptom: Symptom, waited: number, node: string, afterMs: number): IncidentEvent => ({
  at: symptom.since + waited,
  by: 'cnibot',
  type: 'SymptomGone',
  ticket: ticketId(symptom),
  end: { at: symptom.since + waited, how: 'deleted', replacement: { pod: 'new', node, afterMs } },
})

const tuesday = now - 25 * hour
const api = stuck('payments', 'Deployment', 'api', tuesday)
const query = stuck('search', 'Deployment', 'query', tuesday + 6 * hour)
const ledger = stuck('batch', 'CronJob', 'nightly-ledger', tuesday + 22 * hour)
const exporter: Symptom = {
  kind: 'stuck-rollout',
  node: 'node-07',
  workload: { namespace: 'platform', kind: 'DaemonSet', name: 'node-exporter' },
  pod: 'node-exporter-5b7qk',
  podUid: 'uid-exporter',
  since: now - 41 * minute,
  desired: 18,
  ready: 17,
}

export const noticedEvents: IncidentEvent[] = [
  seen(api),
  gone(api, 31 * minute, 'node-04', 4_000),
  seen(query),
  gone(query, 12 * minute, 'node-11', 900),
  seen(ledger),
  gone(ledger, 22 * minute, 'node-02', 6_000),
  seen(exporter),
]
export const openEvents: IncidentEvent[] = [
  ...noticedEvents,
  {
    at: now - 10_000,
    by: 'cnibot',
    type: 'Opened',
    why: 'the rollout of node-exporter is stuck on this node',
  },
]

export const collected = (bundle: Bundle, verdict: Verdict, id = 'b-1', reason?: string): IncidentEvent => ({
  at: bundle.collectedAt + 1_000,
  by: 'cnibot',
  type: 'EvidenceCollected',
  bundle: id,
  counts: countsOf(bundle),
  reason,
  verdict,
})
export const diagnosedEvents: IncidentEvent[] = [...openEvents, collected(storyBundle(), leakVerdict)]

export const incidentOf = (events: IncidentEvent[]): IncidentState => {
  const state = foldIncident('node-07', events, 72 * hour)
  if (!state) throw new Error('these events make no incident')
  return state
}
