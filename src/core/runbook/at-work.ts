import type { Line, RunEvent } from './run-events.js'

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

/** The newest note in place of the one before; evictions add up, each Pod once, since a note may be written twice. */
export const notes = (
  line: Line,
  { at, says, evicted = [] }: RunEvent & { type: 'StepProgressed' },
): Pick<Line, 'progress' | 'evicted'> => ({
  progress: { at, says },
  evicted: [...new Map([...line.evicted, ...evicted].map(pod => [pod.uid, pod])).values()],
})
