import type { Verdict } from '../core/diagnosis/finding.js'
import { shownDuration } from '../core/duration.js'
import type { Bundle } from '../core/evidence/bundle.js'
import { measure } from '../core/ipam/gap.js'
import { peerTable } from './evidence/addresses.js'
import { columns } from './evidence/file.js'
import { type Row, withReasons } from './evidence/row.js'
import { evidenceRows } from './evidence/rows.js'
import { asTerminal, strong, type Text, t, indent } from './text.js'
import { weekday } from './time.js'
import { verdictGroups } from './verdict.js'

export interface TerminalOptions {
  /** Only where the output is a terminal. */
  colour: boolean
  timeZone?: string
}

/** The same evidence and the same verdict as in a thread, in the same order and words; ends with a newline. */
export const renderTerminal = (bundle: Bundle, verdict: Verdict, options: TerminalOptions): string => {
  const { colour, timeZone = 'UTC' } = options
  const gap = measure(bundle)
  const words = (text: Text): string => asTerminal(text, colour)
  const [first = [], ...rest] = withReasons(evidenceRows(bundle, gap, timeZone))
  const rows = (group: readonly Row[]): string[] =>
    group.flatMap(({ label, lines }) =>
      lines.map((line, i) => words(i === 0 ? t`${strong(`${label}:`)} ${line}` : t`${indent}${line}`)),
    )
  const how =
    bundle.shown === undefined
      ? 'the node was not reached'
      : `one read-only connection, ${shownDuration(bundle.durationMs)}`
  const lines = [
    words(
      t`${strong(`${bundle.node} · ${bundle.cluster}`)} · ${weekday(bundle.collectedAt, timeZone)} · ${how}`,
    ),
    '',
    ...rows(first),
    '',
    ...columns(peerTable(bundle, gap)),
    '',
    ...rest.flatMap(group => [...rows(group), '']),
    ...verdictGroups(verdict).flatMap(group => [...group.map(words), '']),
  ]
  // Groups without a row of their own leave an empty line behind.
  return `${lines
    .filter((line, i) => line !== '' || lines[i - 1] !== '')
    .join('\n')
    .trimEnd()}\n`
}
