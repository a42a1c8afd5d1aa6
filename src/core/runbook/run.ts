import { withApproval } from './approval.js'
import { begins, ends, notes } from './at-work.js'
import type { Line, Outcome, RunEvent, RunEventType, RunState } from './run-events.js'
import { linesOf, type StepKind, type StepSpec } from './schema.js'

export type * from './run-events.js'

/** Whether a kind changes the cluster or the node; such a step always waits for approval of its plan. */
export const changes: Record<StepKind, boolean> = {
  confirm: false,
  expect: false,
  cordon: true,
  uncordon: true,
  drain: true,
  'remove-orphans': true,
  'test-pod': true,
}

/** Which events each status may be followed by; anything else in a history is a bug. */
export const allowed: Record<RunState['status'], readonly RunEventType[]> = {
  planning: ['StepPlanned', 'StepFailed', 'RunEnded'],
  awaiting: ['StepApproved', 'StepRefused', 'InputGiven', 'PlanOutdated', 'UndoAsked', 'RunEnded'],
  acting: ['StepStarted', 'StepDone', 'StepFailed', 'PlanOutdated'],
  paused: ['RetryAsked', 'UndoAsked', 'RunEnded'],
  undoing: ['UndoStarted', 'UndoDone', 'UndoFailed', 'RunEnded'],
  ended: [],
}

const newLine = (spec: StepSpec): Line => ({
  spec,
  status: 'pending',
  plan: undefined,
  digest: undefined,
  plannedAt: undefined,
  expiresAt: undefined,
  needs: 1,
  approvals: [],
  approved: undefined,
  refused: undefined,
  startedAt: undefined,
  begunAt: undefined,
  workedMs: 0,
  progress: undefined,
  evicted: [],
  endedAt: undefined,
  done: undefined,
  error: undefined,
  undone: undefined,
  leftBehind: [],
  outdated: [],
  attempts: [],
  startedPlan: undefined,
  starts: 0,
})

const open = (event: RunEvent): RunState => {
  if (event.type !== 'RunOpened') throw new Error(`a run history begins with RunOpened, not ${event.type}`)
  const { run, cluster, incident, node, nodeUid, bootId, runbook } = event
  return {
    run,
    cluster,
    incident,
    node,
    nodeUid,
    bootId,
    runbook,
    openedBy: event.by,
    openedAt: event.at,
    status: 'planning',
    position: 0,
    lines: linesOf(runbook).map(newLine),
    outcome: undefined,
    endedAt: undefined,
    endedBy: undefined,
    escalateTo: undefined,
  }
}

/** Back to planning: no approval outlives its plan. One that was decided on or begun stays on record with what became of it. */
const givenUp = (state: RunState, index: number, why: string): RunState => {
  const line = state.lines[index]
  if (!line) return state
  const { plan, digest, plannedAt, needs, approvals, approved, refused, startedAt, error } = line
  const decided = approvals.length > 0 || approved || refused
  const attempts =
    plan && digest && (decided || line.starts > 0)
      ? [
          ...line.attempts,
          { plan, digest, plannedAt, needs, approvals, approved, refused, startedAt, error, why },
        ]
      : line.attempts
  const outdated = attempts === line.attempts ? [...line.outdated, why] : line.outdated
  const undecided = { approvals: [], approved: undefined, refused: undefined }
  const unbegun = { startedAt: undefined, begunAt: undefined }
  const fresh = { status: 'pending' as const, plan: undefined, digest: undefined, ...undecided, ...unbegun }
  return { ...withLine(state, index, { ...fresh, attempts, outdated }), status: 'planning' }
}

const changed = (state: RunState, index: number, change: (line: Line) => Partial<Line>): RunState => ({
  ...state,
  lines: state.lines.map((line, i) => (i === index ? { ...line, ...change(line) } : line)),
})
const withLine = (state: RunState, index: number, change: Partial<Line>): RunState =>
  changed(state, index, () => change)

const planned = (state: RunState, event: RunEvent & { type: 'StepPlanned' }): RunState => {
  const { plan, digest, expiresAt, index, at } = event
  const asks = (changes[plan.kind] && !plan.nothingToDo) || plan.kind === 'confirm'
  const next = withLine(state, index, {
    plan,
    digest,
    expiresAt,
    plannedAt: at,
    needs: event.approvals ?? 1,
    approvals: [],
    approved: undefined,
    refused: undefined,
    error: undefined,
    status: asks ? 'awaiting' : 'approved',
  })
  return { ...next, status: asks ? 'awaiting' : 'acting' }
}

/** Only the newest note of a step at work is kept: one that comes late, or of another start, changes nothing. */
const progressed = (state: RunState, event: RunEvent & { type: 'StepProgressed' }): RunState =>
  state.lines[event.index]?.status === 'acting'
    ? changed(state, event.index, line => notes(line, event))
    : state

/** The transition table, written out. A long switch: one arm for each event. */
export const applyRun = (state: RunState | undefined, event: RunEvent): RunState => {
  if (!state) return open(event)
  if (event.type === 'StepProgressed') return progressed(state, event)
  if (!allowed[state.status].includes(event.type))
    throw new Error(`run ${state.run}: ${event.type} cannot follow while it is ${state.status}`)
  switch (event.type) {
    case 'RunOpened':
      throw new Error(`run ${state.run} was opened twice`)
    case 'StepPlanned':
      return planned(state, event)
    case 'StepApproved': {
      const change = withApproval(state.lines[event.index], event)
      return {
        ...withLine(state, event.index, change),
        status: change.status === 'approved' ? 'acting' : state.status,
      }
    }
    case 'InputGiven':
      return {
        ...withLine(state, event.index, { status: 'approved', approved: { by: event.by, at: event.at } }),
        status: 'acting',
      }
    case 'StepRefused':
      return {
        ...withLine(state, event.index, {
          status: 'failed',
          endedAt: event.at,
          refused: { by: event.by, at: event.at },
          error: { class: 'refused', message: 'refused by an approver: its plan was not begun', output: '' },
        }),
        status: 'paused',
      }
    case 'PlanOutdated':
      return givenUp(state, event.index, event.why)
    case 'StepStarted':
      return changed(state, event.index, line => begins(line, event.at))
    case 'StepDone': {
      const { index, done, at } = event
      const next = changed(state, index, line => ({ status: 'done', done, ...ends(line, at) }))
      return { ...next, status: 'planning', position: index + 1 }
    }
    case 'StepFailed': {
      const { index, error, at } = event
      const next = changed(state, index, line => ({ status: 'failed', error, ...ends(line, at) }))
      return { ...next, status: 'paused' }
    }
    case 'RetryAsked':
      return givenUp(state, event.index, 'it was tried again')
    case 'UndoAsked':
      return { ...state, status: 'undoing' }
    case 'UndoStarted':
      return withLine(state, event.index, { status: 'undoing' })
    case 'UndoDone':
      return withLine(state, event.index, {
        status: 'undone',
        undone: event.says,
        leftBehind: event.left ?? [],
        endedAt: event.at,
      })
    case 'UndoFailed':
      return withLine(state, event.index, { status: 'undo-failed', error: event.error, endedAt: event.at })
    case 'RunEnded': {
      const { outcome, escalateTo, at: endedAt, by: endedBy } = event
      return { ...state, status: 'ended', outcome, endedAt, endedBy, escalateTo }
    }
  }
}

export const foldRun = (events: RunEvent[]): RunState | undefined =>
  events.reduce<RunState | undefined>(applyRun, undefined)

/**
 * The length by which the job in charge of the next step is called: notes that a step began, or how far it is, do not
 * count, so that a job that is still at work is not joined by a second one.
 */
export const settledLength = (events: readonly RunEvent[]): number => {
  return events.findLastIndex(event => !beginsOrNotes.has(event.type)) + 1
}

const beginsOrNotes: ReadonlySet<RunEventType> = new Set(['StepStarted', 'UndoStarted', 'StepProgressed'])

export type RunNext =
  | { do: 'plan'; index: number }
  | { do: 'act'; index: number }
  | { do: 'undo'; index: number }
  | { do: 'end'; outcome: Outcome }
  | { do: 'wait' }

/** A step that changed something, or failed after it began and so may have; not yet undone. */
export const toUndo = (line: Line): boolean =>
  (line.status === 'done' && line.done?.changed === true) ||
  (!['done', 'undone', 'undo-failed'].includes(line.status) && line.starts > 0 && changes[line.spec.kind]) ||
  line.status === 'undoing'

/** The one thing to do now. After a crash the same answer again: the step looks first. */
export const nextOfRun = (state: RunState): RunNext => {
  const index = state.position
  const line = state.lines[index]
  switch (state.status) {
    case 'ended':
    case 'paused':
      return { do: 'wait' }
    case 'planning':
      return line ? { do: 'plan', index } : { do: 'end', outcome: 'completed' }
    // An expired plan waits too: it is made again when somebody asks for it, not every half hour of the night.
    case 'awaiting':
      return { do: 'wait' }
    case 'acting':
      return { do: 'act', index }
    case 'undoing': {
      if (state.lines.some(l => l.status === 'undo-failed')) return { do: 'end', outcome: 'stuck' }
      const last = state.lines.findLastIndex(toUndo)
      return last < 0 ? { do: 'end', outcome: 'undone' } : { do: 'undo', index: last }
    }
  }
}
