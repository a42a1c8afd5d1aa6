import { createHash } from 'node:crypto'
import type { CheckName } from '../check-names.js'
import type { RemovalEntry } from '../ipam/removal.js'
import type { TestPodSpec } from '../requests.js'
import type { RunState } from './run-events.js'
import type { StepKind } from './schema.js'

/** What each kind needs to act, frozen at planning time; all of it is covered by the digest. */
export interface PlanData {
  confirm: { sentences: string[] }
  expect: { check: CheckName; on: 'node' | 'every-node'; withinMs: number | undefined }
  cordon: { wasUnschedulable: boolean; wasCordonedBy: string | undefined }
  uncordon: { cordonedBy: string | undefined }
  drain: {
    /** The only Pods that may be evicted, by uid: one that comes later, under the same name too, is not among them. */
    pods: { namespace: string; name: string; uid: string; graceMs: number }[]
    deleteEmptydirData: boolean
    evictUnmanaged: boolean
    /** For the whole step, and for one Pod beyond its own grace period. Real time. */
    deadlineMs: number
    podDeadlineMs: number
  }
  'remove-orphans': {
    network: string
    dir: string
    lockInode: number
    entries: RemovalEntry[]
    olderThanMs: number
    /** The reading the plan was made from: acting compares a fresh one with it. */
    bundleId: string
    /** Without the runtime's own records two readings must agree: acting waits until then. */
    actFrom: number | undefined
    command: { script: 'remove-orphans'; args: string[] }
  }
  'test-pod': TestPodSpec
}

/** What one step would do now. Shown to the approver in full; acting may do less, never more. */
export interface Plan<K extends StepKind = StepKind> {
  kind: K
  /** One line for the card. */
  title: string
  /** What the approver must know, a line each. */
  facts: string[]
  /** Lists that are too long for a card: attached in full. */
  lists: { title: string; rows: string[] }[]
  /** Every command exactly as it will run. */
  commands: string[]
  /** Reality is already as wanted: acting changes nothing, so nobody is asked. */
  nothingToDo: boolean
  data: PlanData[K]
  /** When the reading behind it was taken. */
  readAt: number
}

/** What was changed, what was there before: enough to undo it. */
export interface DoneData {
  confirm: { tickedBy: string }
  expect: { holds: true }
  cordon: { changed: boolean; wasUnschedulable: boolean }
  uncordon: { changed: boolean; previousOwner: string | undefined }
  /** `evicted` by any start of the step, as far as that is on record; `gone` by somebody else, or unknown. `namespace/name`. */
  drain: { evicted: string[]; gone: string[]; stay: number }
  'remove-orphans': {
    moved: string[]
    skipped: { ip: string; why: string }[]
    network: string
    dir: string
    quarantine: string
    underLockMs: number
    command: { script: 'remove-orphans'; args: string[] }
  }
  'test-pod': { ip: string; runningAfterMs: number; backAfterMs: number }
}

export interface Done<K extends StepKind = StepKind> {
  kind: K
  changed: boolean
  /** One line for the card. */
  says: string
  detail: string[]
  /** Every command that ran, as it ran. */
  commands: string[]
  data: DoneData[K]
}

/** What an undo came to. */
export interface Undone {
  /** One line for the card. */
  says: string
  /** What could not be reversed, a line each, with the reason; empty where all was. */
  left: string[]
}

/** What the plan is about; a plan for another boot or another cluster is another plan. */
export interface PlanSubject {
  cluster: string
  run: string
  index: number
  node: string
  nodeUid: string
  bootId: string
  /** How many plans of this step were given up before, if any: an approval of one of them is none of the next. */
  before?: number
}

export const planSubject = (state: RunState, index: number): PlanSubject => {
  const { cluster, run, node, nodeUid, bootId } = state
  const line = state.lines[index]
  const before = (line?.attempts.length ?? 0) + (line?.outdated.length ?? 0)
  return { cluster, run, index, node, nodeUid, bootId, ...(before > 0 ? { before } : {}) }
}

/** JSON with sorted keys and nothing between its parts: the same value gives the same text. */
export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value && typeof value === 'object') {
    const entries = Object.entries(value)
      .filter(([, v]) => v !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([k, v]) => `${JSON.stringify(k)}:${canonical(v)}`).join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/**
 * SHA-256 over the subject and everything the step would do, 64 hex digits. When it was read is left out:
 * the same reality gives the same digest.
 */
export const planDigest = (plan: Plan, subject: PlanSubject): string =>
  createHash('sha256')
    .update(canonical({ subject, kind: plan.kind, commands: plan.commands, data: plan.data }))
    .digest('hex')

/** `7f3a·91c2`: enough for two people to see that they talk about the same plan. */
export const shownDigest = (digest: string): string => `${digest.slice(0, 4)}·${digest.slice(4, 8)}`
