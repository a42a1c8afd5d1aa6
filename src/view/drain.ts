import type { Line } from '../core/runbook/run.js'
import { oneLine, type Text, t } from './text.js'
import { clockSeconds } from './time.js'

/** How far a step at work is, as it said last: `31 of 44, waiting for payments/payments-db-0: PDB payments-db allows 0`. */
export const farText = ({ status, progress }: Line, timeZone: string): Text | undefined =>
  status === 'acting' && progress
    ? t`${oneLine(progress.says)} (${clockSeconds(progress.at, timeZone)})`
    : undefined

/** What an approver must know before the click of a step that no undo follows. */
export const noWayBack = ({ spec }: Line): string =>
  spec.kind === 'drain' ? ' Pods that move are not moved back by any undo.' : ''
