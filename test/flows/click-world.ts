import { type IncidentEvent, incidentStream } from '../../src/core/incident/incident.js'
import type { Risk } from '../../src/core/runbook/approval.js'
import { decide, type DecideDeps } from '../../src/flows/decide.js'
import type { ButtonValue } from '../../src/view/button.js'
import { fakeHistory } from '../fakes/history.js'
import { fakeJobs } from '../fakes/jobs.js'
import { leaked } from '../fakes/verdict.js'
import { runbook, t0 } from '../unit/runbook/runs.js'

const diagnosed = (node: string): IncidentEvent[] => [
  {
    at: t0,
    by: 'cnibot',
    type: 'EvidenceCollected',
    bundle: 'b',
    counts: undefined,
    reason: undefined,
    verdict: leaked,
  },
  { at: t0, by: 'cnibot', type: 'Opened', why: `${node} is full` },
]

/** Both repairs were shown side by side, so that one may be chosen. */
export const compared: IncidentEvent = {
  at: t0,
  by: 'cnibot',
  type: 'RepairsCompared',
  comparison: { readAt: t0, addresses: { give: 2, leave: 0 }, pods: { unknown: 'not read' }, past: {} },
}

interface Given {
  approvers?: string[]
  byRisk?: Partial<Record<Risk, string[]>>
  selfApproval?: boolean
  paused?: boolean
  nodes?: string[]
  /** Without the comparison that a choice of repair needs. */
  uncompared?: true
}

/** Two nodes with a diagnosis, and people who click on what their threads show. */
export const clickWorld = async (given: Given = {}) => {
  const clock = { time: t0 + 10_000, now: () => clock.time }
  const history = fakeHistory(clock)
  const jobs = fakeJobs(clock)
  for (const node of given.nodes ?? ['node-07', 'node-08'])
    await history.append(incidentStream(node), 0, [
      ...diagnosed(node),
      ...(given.uncompared ? [] : [compared]),
    ])
  const deps: DecideDeps = {
    clusterName: 'prod-eu1',
    history,
    jobs,
    clock,
    runbooks: {
      list: async () => [
        { ...runbook(), name: 'leak-reconcile' },
        { ...runbook(), name: 'cordon' },
      ],
    },
    approvers: async risk => {
      const own = risk && given.byRisk?.[risk]
      const people = own ?? given.approvers ?? ['U1', 'U2']
      const named = own ? `@${risk}-approvers` : '@sre-oncall'
      return { people, named, selfApproval: given.selfApproval ?? true }
    },
    settings: {
      incidentWindowMs: 3 * 86_400_000,
      maxNodesUnderRepair: 1,
      escalateTo: '@platform',
      paused: given.paused ?? false,
    },
  }
  const click = (by: string, value: Partial<ButtonValue>, reason?: string) =>
    decide(deps)({
      by,
      value: { action: 'reconcile', cluster: 'prod-eu1', incident: 'node-07.1', ...value },
      reason,
    })
  const incident = async (node = 'node-07') =>
    (await history.read<IncidentEvent>(incidentStream(node))).events
  return { clock, deps, history, jobs, click, incident }
}
