import { createHash } from 'node:crypto'
import { canonical } from './plan.js'
import type { RunState } from './run-events.js'

/**
 * Where a run stands and what it has begun so far, as sha256 in hex. Undo and Retry carry it, as an approval carries the
 * digest of its plan: what is pressed on a card that is older than the last start would reverse or repeat more than was seen.
 */
export const standing = ({ run, position, lines }: Pick<RunState, 'run' | 'position' | 'lines'>): string =>
  createHash('sha256')
    .update(canonical({ run, position, starts: lines.map(line => line.starts) }))
    .digest('hex')
