import { changes, type Line, type Outcome, type RunState } from '../core/runbook/run.js'
import { undoneWords } from './left-behind.js'
import { lineWords } from './progress.js'
import { mayHaveActed } from './undo.js'

/** What steps have changed and what of it stands, in the order it was done. */
const changedBefore = (run: RunState): string[] =>
  run.lines.flatMap(line =>
    changes[line.spec.kind] && line.status === 'done' && line.done?.changed === true ? [line.done.says] : [],
  )

/** Where the run stopped and why: a step's words are of that step alone, so it is named with them. */
const stoppedAt = (run: RunState): { words: string; line: Line } | undefined => {
  const index = run.lines.findLastIndex(line => line.error !== undefined || line.refused !== undefined)
  const line = run.lines[index]
  if (line === undefined) return undefined
  const why = line.refused ? `its plan was refused by an approver` : (line.error?.message ?? '')
  const acted = mayHaveActed(line) && line.status === 'failed' ? '; what it did by then is on its card' : ''
  return {
    words: `at step ${index + 1} of ${run.lines.length} (${lineWords(line, run.node)}): ${why}${acted}`,
    line,
  }
}

const removed = ({ lines }: RunState): string[] =>
  lines.flatMap(({ done, status }) =>
    (done?.kind === 'remove-orphans' || done?.kind === 'drain') && status === 'done' ? [done.says] : [],
  )

/** A run's end in one sentence, for the head of the thread, the history and the record: what stopped it, what stands. */
export const outcomeWords = (run: RunState, outcome: Outcome): string => {
  const stopped = stoppedAt(run)
  switch (outcome) {
    case 'completed':
      return removed(run).join('; ') || `${run.runbook.name} done`
    case 'stuck': {
      const failed = run.lines.filter(line => line.status === 'undo-failed')
      return `undo did not work: ${failed.map(line => `${lineWords(line, run.node)}: ${line.error?.message ?? 'failed'}`).join('; ')}`
    }
    case 'undone':
      return stopped ? `${undoneWords(run)}; it had stopped ${stopped.words}` : undoneWords(run)
    case 'held':
    case 'abandoned': {
      const before = changedBefore(run)
      const stands =
        before.length === 0 ? 'no step changed anything before' : `done before: ${before.join('; ')}`
      return stopped ? `${outcome} ${stopped.words}; ${stands}` : `${outcome}; ${stands}`
    }
  }
}
