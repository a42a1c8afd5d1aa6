import type { Line } from './run-events.js'

/** A start: after a crash the same plan is begun once more, and goes on as of its first start. */
export const begins = (line: Line, at: number): Partial<Line> => ({
  status: 'acting',
  startedAt: at,
  begunAt: line.begunAt ?? at,
  progress: undefined,
  startedPlan: line.plan,
  starts: line.starts + 1,
})

/** The end of a plan; one that was never begun has not been at work. */
export const ends = (line: Line, at: number): Pick<Line, 'endedAt' | 'workedMs'> => ({
  endedAt: at,
  workedMs: line.workedMs + Math.max(0, at - (line.begunAt ?? at)),
})
