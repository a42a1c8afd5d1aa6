import { type Plan, planDigest } from '../../../src/core/runbook/plan.js'
import type { RunEvent } from '../../../src/core/runbook/run.js'
import { minute, now } from '../leaking-node.js'
import { removalDone, subject } from './run-states.js'
import { approver } from './story-bundle.js'

const proving = (
  index: number,
  kind: 'expect' | 'test-pod' | 'uncordon',
  title: string,
  says: string,
): RunEvent[] => {
  const at = now + (6 + index) * minute
  const changed = kind === 'uncordon'
  const plan: Plan = {
    kind,
    title,
    facts: [],
    lists: [],
    commands: [],
    nothingToDo: kind === 'expect',
    data: { cordonedBy: 'prod-eu1/node-07.1' },
    readAt: at,
  }
  const digest = planDigest(plan, { ...subject, index })
  const approved: RunEvent[] = plan.nothingToDo
    ? []
    : [{ at: at + 5_000, by: approver, type: 'StepApproved', index, digest }]
  return [
    { at, by: 'cnibot', type: 'StepPlanned', index, plan, digest, expiresAt: at + 30 * minute },
    ...approved,
    { at: at + 6_000, by: 'cnibot', type: 'StepStarted', index },
    {
      at: at + 9_000,
      by: 'cnibot',
      type: 'StepDone',
      index,
      done: {
        kind,
        changed,
        says,
        detail: [],
        commands: [],
        data: { changed, previousOwner: changed ? 'prod-eu1/node-07.1' : undefined },
      },
    },
  ]
}
/** All nine lines of the runbook. */
export const repaired: RunEvent[] = [
  ...removalDone,
  ...proving(
    3,
    'expect',
    'Check that addresses match sandboxes',
    'node-07: 41 addresses, 41 with a living sandbox: 41 = 41',
  ),
  ...proving(
    4,
    'test-pod',
    'Test Pod on node-07',
    'ran with 10.244.7.54; deleted, and its address came back: 42 → 41',
  ),
  ...proving(5, 'uncordon', 'Uncordon node-07', 'schedulable again'),
  ...proving(
    6,
    'test-pod',
    'Test Pod on node-07 through the scheduler',
    'ran with 10.244.7.55; deleted, and its address came back: 42 → 41',
  ),
  ...proving(7, 'expect', 'Check the DaemonSets', 'DaemonSets complete: platform/node-exporter: 18 of 18'),
  ...proving(8, 'expect', 'Check every node', '18 nodes: every address has its sandbox'),
]
