import type { Metrics } from './adapters/system/metrics.js'
import { type IncidentEvent, incidentStream, runStream } from './core/incident/incident.js'
import type { RunEvent } from './core/runbook/run.js'
import { linesOf } from './core/runbook/schema.js'
import type { History, Log } from './ports.js'

type Outcomes = Pick<Metrics, 'runEnded' | 'stepEnded'>

/**
 * The same history, with the ends of steps and runs told to the metrics by the process that appended them: what somebody
 * else recorded first is not counted again. A number that could not be counted is logged; what was recorded stands.
 */
export const countedHistory = <H extends History>(history: H, metrics: Outcomes, log: Log): H => {
  const count = async (stream: string, from: number, to: number): Promise<void> => {
    if (stream.startsWith(runStream(''))) {
      const { events } = await history.read<RunEvent>(stream)
      countSteps(events.slice(0, to), from, metrics)
    }
    if (stream.startsWith(incidentStream(''))) {
      const { events } = await history.read<IncidentEvent>(stream)
      for (const event of events.slice(from, to))
        if (event.type === 'RunEnded') metrics.runEnded(event.outcome)
    }
  }
  return {
    ...history,
    append: async <E>(stream: string, expected: number, events: E[]): Promise<boolean> => {
      const first = await history.append(stream, expected, events)
      if (first)
        await count(stream, expected, expected + events.length).catch((error: unknown) =>
          log.warn({ stream }, `not counted: ${error instanceof Error ? error.message : String(error)}`),
        )
      return first
    },
  }
}

const outcomes = {
  StepDone: 'done',
  StepFailed: 'failed',
  UndoDone: 'undone',
  UndoFailed: 'undo-failed',
} as const

/**
 * When what ends now was begun: its first start, whichever workers and notes came after it. undefined where it was not: a
 * step that failed while it was planned.
 */
const firstStart = (before: readonly RunEvent[], index: number): number | undefined => {
  const own = before.filter(event => 'index' in event && event.index === index)
  const since = own.findLastIndex(({ type }) => !atWork.has(type))
  return own.slice(since + 1).find(({ type }) => type !== 'StepProgressed')?.at
}

const atWork: ReadonlySet<RunEvent['type']> = new Set(['StepStarted', 'UndoStarted', 'StepProgressed'])

const countSteps = (events: RunEvent[], from: number, metrics: Outcomes): void => {
  const opened = events[0]
  const lines = opened?.type === 'RunOpened' ? linesOf(opened.runbook) : []
  for (const [i, event] of events.entries()) {
    const ended =
      event.type === 'StepDone' ||
      event.type === 'StepFailed' ||
      event.type === 'UndoDone' ||
      event.type === 'UndoFailed'
    if (i < from || !ended) continue
    const kind = lines[event.index]?.kind
    const began = firstStart(events.slice(0, i), event.index) ?? event.at
    if (kind) metrics.stepEnded(kind, outcomes[event.type], (event.at - began) / 1_000)
  }
}
