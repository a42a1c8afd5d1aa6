import type { Plan } from '../../../src/core/runbook/plan.js'
import { foldRun, type RunEvent, type RunState } from '../../../src/core/runbook/run.js'
import { type Runbook, runbookSchema } from '../../../src/core/runbook/schema.js'

export const t0 = Date.UTC(2026, 10, 18, 11, 31)
export const digest = 'a'.repeat(64)

/** Cordon, a check, uncordon: the smallest run with changing and reading steps. */
export const runbook = (more: object = {}): Runbook => ({
  ...runbookSchema.parse({
    name: 'small',
    title: 'Small',
    risk: 'medium',
    answers: ['allocations-leaked'],
    steps: [
      { kind: 'cordon' },
      { kind: 'expect', check: 'allocations-match-sandboxes' },
      { kind: 'uncordon' },
    ],
    ...more,
  }),
  digest: 'd'.repeat(64),
})

export const opened = (book: Runbook = runbook()): RunEvent => ({
  at: t0,
  by: 'U1',
  type: 'RunOpened',
  run: 'node-07.1-r1',
  cluster: 'prod-eu1',
  incident: 'node-07.1',
  node: 'node-07',
  nodeUid: 'uid-7',
  bootId: 'boot-7',
  runbook: book,
})

export const planOf = (kind: Plan['kind'], nothingToDo = false): Plan => ({
  kind,
  title: kind,
  facts: [],
  lists: [],
  commands: [],
  nothingToDo,
  data: { sentences: [] },
  readAt: t0,
})

export const event = (index: number, type: string, more: object = {}): RunEvent =>
  ({ at: t0 + index, by: 'cnibot', type, ...more }) as RunEvent

export const planned = (index: number, kind: Plan['kind'], nothingToDo = false): RunEvent =>
  event(index, 'StepPlanned', { index, plan: planOf(kind, nothingToDo), digest, expiresAt: t0 + 1_800_000 })

export const done = (index: number, kind: Plan['kind'], changed: boolean): RunEvent =>
  event(index, 'StepDone', {
    index,
    done: { kind, changed, says: `${kind} done`, detail: [], commands: [], data: {} },
  })

export const failed = (index: number): RunEvent =>
  event(index, 'StepFailed', { index, error: { class: 'failed', message: 'it did not work', output: '' } })

export const fold = (...events: RunEvent[]): RunState => {
  const state = foldRun(events)
  if (!state) throw new Error('no events')
  return state
}
