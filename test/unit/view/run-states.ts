import { type Plan, type PlanSubject, planDigest } from '../../../src/core/runbook/plan.js'
import { foldRun, type RunEvent, type RunState } from '../../../src/core/runbook/run.js'
import type { Runbook } from '../../../src/core/runbook/schema.js'
import { idOf, minute, now } from '../leaking-node.js'
import { approver, hour, opener, range } from './story-bundle.js'

export const runbook: Runbook = {
  name: 'leak-reconcile',
  title: 'Give leaked addresses back without moving workloads',
  risk: 'medium',
  answers: ['allocations-leaked'],
  forbidden_by: ['runtime-silent'],
  prerequisites: ['The cluster can carry the loss of one node'],
  steps: [
    { kind: 'cordon' },
    { kind: 'remove-orphans', older_than: 15 * minute, readings: 2 },
    { kind: 'expect', check: 'allocations-match-sandboxes', on: 'node' },
    { kind: 'test-pod', via: 'pinned' },
    { kind: 'uncordon' },
  ],
  verify: [
    { kind: 'test-pod', via: 'scheduler' },
    { kind: 'expect', check: 'rollouts-complete', on: 'node' },
    { kind: 'expect', check: 'allocations-match-sandboxes', on: 'every-node' },
  ],
  watch: { after: 24 * hour, checks: ['allocations-match-sandboxes'] },
  escalate_to: 'platform',
  digest: 'c'.repeat(64),
}

export const removeCommand =
  "sudo -n /usr/local/lib/cnibot/remove-orphans 'inc-1' '/var/lib/cni/networks/k8s-pod-network' 'a `b` <c>'"

const plans: Plan[] = [
  {
    kind: 'confirm',
    title: 'Confirm the prerequisites',
    facts: ['The cluster can carry the loss of one node'],
    lists: [],
    commands: [],
    nothingToDo: false,
    data: { sentences: ['The cluster can carry the loss of one node'] },
    readAt: now + 2 * minute,
  },
  {
    kind: 'cordon',
    title: 'Cordon node-07',
    facts: ['The node is schedulable now.'],
    lists: [],
    commands: ['PATCH /api/v1/nodes/node-07 {"spec":{"unschedulable":true}}'],
    nothingToDo: false,
    data: { wasUnschedulable: false, wasCordonedBy: undefined },
    readAt: now + 3 * minute,
  },
  {
    kind: 'remove-orphans',
    title: 'Remove 212 addresses on node-07',
    facts: [
      'Moves them to /var/lib/cni/cnibot-quarantine/node-07.1 first; undo puts back what is still free.',
    ],
    lists: [
      {
        title: 'Removes',
        rows: range(212).map(i => `10.244.7.${i + 43}  ${idOf(i + 43)}  no sandbox, no record, 15 days old`),
      },
      { title: 'Keeps', rows: range(41).map(i => `10.244.7.${i + 2}  ${idOf(i + 2)}  its sandbox lives`) },
    ],
    commands: [removeCommand],
    nothingToDo: false,
    data: {
      network: 'k8s-pod-network',
      dir: '/var/lib/cni/networks/k8s-pod-network',
      lockInode: 4_711,
      entries: [],
      olderThanMs: 15 * minute,
      actFrom: undefined,
      bundleId: 'b-1',
      command: { script: 'remove-orphans', args: ['inc-1'] },
    },
    readAt: now + 4 * minute,
  },
]

const planAt = (index: number): Plan => {
  const plan = plans[index]
  if (!plan) throw new Error(`no plan for step ${index}`)
  return plan
}

export const subject: PlanSubject = {
  cluster: 'prod-eu1',
  run: 'r-1',
  index: 0,
  node: 'node-07',
  nodeUid: 'node-uid',
  bootId: 'boot-1',
}
export const digestAt = (index: number): string => planDigest(planAt(index), { ...subject, index })

export const opened: RunEvent = {
  at: now + 2 * minute,
  by: opener,
  type: 'RunOpened',
  run: 'r-1',
  cluster: 'prod-eu1',
  incident: 'node-07.1',
  node: 'node-07',
  nodeUid: 'node-uid',
  bootId: 'boot-1',
  runbook,
}
export const planned = (index: number, at: number): RunEvent => ({
  at,
  by: 'cnibot',
  type: 'StepPlanned',
  index,
  plan: planAt(index),
  digest: digestAt(index),
  expiresAt: at + 30 * minute,
})
export const ticked: RunEvent[] = [
  planned(0, now + 2 * minute),
  { at: now + 2 * minute + 20_000, by: approver, type: 'InputGiven', index: 0 },
  {
    at: now + 2 * minute + 21_000,
    by: 'cnibot',
    type: 'StepDone',
    index: 0,
    done: {
      kind: 'confirm',
      changed: false,
      says: 'confirmed',
      detail: [],
      commands: [],
      data: { tickedBy: approver },
    },
  },
]
export const cordoned: RunEvent[] = [
  planned(1, now + 3 * minute),
  { at: now + 3 * minute + 10_000, by: approver, type: 'StepApproved', index: 1, digest: digestAt(1) },
  { at: now + 3 * minute + 11_000, by: 'cnibot', type: 'StepStarted', index: 1 },
  {
    at: now + 3 * minute + 11_400,
    by: 'cnibot',
    type: 'StepDone',
    index: 1,
    done: {
      kind: 'cordon',
      changed: true,
      says: 'was schedulable, now cordoned',
      detail: [],
      commands: planAt(1).commands,
      data: { changed: true, wasUnschedulable: false },
    },
  },
]
export const removalPlanned: RunEvent[] = [opened, ...ticked, ...cordoned, planned(2, now + 4 * minute)]
export const removalStarted: RunEvent[] = [
  ...removalPlanned,
  { at: now + 5 * minute, by: approver, type: 'StepApproved', index: 2, digest: digestAt(2) },
  { at: now + 5 * minute + 1_000, by: 'cnibot', type: 'StepStarted', index: 2 },
]
export const removalDone: RunEvent[] = [
  ...removalStarted,
  {
    at: now + 5 * minute + 1_900,
    by: 'cnibot',
    type: 'StepDone',
    index: 2,
    done: {
      kind: 'remove-orphans',
      changed: true,
      says: '212 moved, 0 skipped, 20 ms under the lock',
      detail: [],
      commands: [removeCommand],
      data: {
        moved: [],
        skipped: [],
        network: 'k8s-pod-network',
        dir: '/var/lib/cni/networks/k8s-pod-network',
        quarantine: '/var/lib/cni/cnibot-quarantine/node-07.1',
        underLockMs: 20,
        command: { script: 'remove-orphans', args: ['inc-1'] },
      },
    },
  },
]

export const runOf = (events: RunEvent[]): RunState => {
  const state = foldRun(events)
  if (!state) throw new Error('these events make no run')
  return state
}
