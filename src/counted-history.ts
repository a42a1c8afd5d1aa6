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
    const before = events[i - 1]
    // A step that failed while it was planned had not begun.
    const began = before?.type === 'StepStarted' || before?.type === 'UndoStarted' ? before.at : event.at
    if (kind) metrics.stepEnded(kind, outcomes[event.type], (event.at - began) / 1_000)
  }
}
