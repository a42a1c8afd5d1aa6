import type { Line, RunState } from '../core/runbook/run.js'
import { type Block, type Message, message, section } from './blocks.js'
import type { File } from './evidence/file.js'
import { lineWords } from './progress.js'
import { firstRows } from './rows.js'
import { clean, many, strong, type Text, t } from './text.js'
import { clockSeconds } from './time.js'
import { movedPods } from './undo.js'

/** Rows on the card; it is read on a phone, and the rest is attached. */
const shownRows = 5

const withLeft = (run: RunState): { line: Line; index: number }[] =>
  run.lines.map((line, index) => ({ line, index })).filter(({ line }) => line.leftBehind.length > 0)

/** What an undo could not reverse is part of its name: nobody must think that all is as it was. */
export const undoneWords = (run: RunState): string => {
  const behind = withLeft(run).map(({ line }) => line)
  const left = behind
    .filter(({ spec }) => spec.kind === 'remove-orphans')
    .reduce((sum, line) => sum + line.leftBehind.length, 0)
  const cordoned = behind.some(({ spec }) => spec.kind === 'cordon')
  const drained = run.lines.some(movedPods)
  const but = [
    ...(left > 0 ? [`${many(left, 'address', 'addresses')} that could not be put back`] : []),
    ...(cordoned ? ["the node's cordon, which is somebody else's now"] : []),
    ...(drained ? ['the Pods that were drained, which stay where they run now'] : []),
  ]
  return but.length === 0 ? 'undone: what it changed was put back' : `undone, but for ${but.join(' and ')}`
}

const rows = ({ leftBehind }: Line): Text[] => firstRows(leftBehind, shownRows)

/** What could not be put back, and who has it now. */
export const leftBlocks = (run: RunState): Block[] =>
  withLeft(run).map(({ line }) =>
    section(
      [
        t`${strong('Not put back')} (${line.leftBehind.length}), ${lineWords(line, run.node)}:`,
        ...rows(line),
      ],
      'attached',
      2_000,
    ),
  )

/** All of it, where the card shows only the beginning. */
export const leftMessages = (
  run: RunState,
  timeZone: string,
): { key: string; message: Message; file: File }[] =>
  withLeft(run).flatMap(({ line, index }) => {
    if (line.leftBehind.length <= shownRows || line.endedAt === undefined) return []
    const words = lineWords(line, run.node)
    const at = clockSeconds(line.endedAt, timeZone)
    return [
      {
        key: `left-${run.run}-${index}-${line.endedAt}`,
        message: message(t`Not put back: ${words}`, [
          section([
            t`${strong('Not put back')}: ${line.leftBehind.length} of ${words}, ${at}. Attached in full.`,
          ]),
        ]),
        file: {
          name: `${run.node}-step-${index + 1}-not-put-back.txt`,
          title: `${words}: what could not be put back ${at}`,
          text: `${clean(line.leftBehind.join('\n'))}\n`,
        },
      },
    ]
  })
