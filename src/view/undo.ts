import { type Line, type RunState, toUndo } from '../core/runbook/run.js'
import { many } from './text.js'

type Try = Pick<Line, 'startedAt' | 'error'>

/** Whether this plan was begun. */
export const begun = ({ startedAt }: Try): boolean => startedAt !== undefined

/**
 * Whether any try of this line may have changed something without its end being on record. A refusal says that nothing
 * was done, but speaks for its own start only: not for an earlier one, nor for one that a crash cut off.
 */
export const mayHaveActed = (line: Line): boolean => {
  // An undo that failed has put its own error in the place of the step's.
  const told = ['failed', 'undoing', 'undone'].includes(line.status)
  const tries: Try[] = told ? [...line.attempts, line] : line.attempts
  return line.starts > tries.filter(each => each.error?.class === 'refused' && begun(each)).length
}

/** Whether a drain evicted Pods, or may have. */
export const movedPods = (line: Line): boolean =>
  line.spec.kind === 'drain' && (line.status === 'done' ? line.done?.changed === true : mayHaveActed(line))

const left = (line: Line): boolean =>
  toUndo(line) && (line.status === 'done' || line.status === 'undoing' || mayHaveActed(line))

const undoWords = (line: Line): string | undefined => {
  const sure = line.status === 'done'
  switch (line.spec.kind) {
    case 'cordon':
      return sure ? "lifts this incident's cordon" : 'lifts the cordon, if this run set it'
    case 'uncordon':
      return sure ? 'cordons the node again' : 'cordons the node again, if it was lifted'
    case 'remove-orphans':
      return line.done?.kind === 'remove-orphans' && sure && 'moved' in line.done.data
        ? `puts back those of the ${many(line.done.data.moved.length, 'moved address', 'moved addresses')} that are still free`
        : 'puts back what the removal may have moved and is still free'
    case 'test-pod':
      return 'deletes the test Pod, if one is left'
    // Said with what is not reversed.
    case 'drain':
    case 'confirm':
    case 'expect':
      return undefined
  }
}

const notReversed = (run: RunState, lines: readonly Line[]): string => {
  const removal = lines.some(line => line.spec.kind === 'remove-orphans')
  const drained = run.lines.some(movedPods)
  const proved = run.lines.some(
    line => line.status === 'done' && (line.spec.kind === 'expect' || line.spec.kind === 'test-pod'),
  )
  return [
    ...(drained ? [' Not reversed: Pods that were drained stay where they run now.'] : []),
    ...(removal ? [' Not reversed: addresses that new Pods have taken since.'] : []),
    ...(proved ? [' Checks and finished test Pods left nothing.'] : []),
  ].join('')
}

/** What undo will reverse, newest first, and what it will not; undefined where there is nothing to undo. */
export const undoPreview = (run: RunState): string | undefined => {
  const lines = run.lines.filter(left)
  const words = lines.map(undoWords).filter(word => word !== undefined)
  if (words.length === 0) return undefined
  return `Undo ${words.toReversed().join(', then ')}.${notReversed(run, lines)}`
}
