import type { CauseCode } from '../../../diagnosis/cause.js'
import { linesWith, quoted } from '../../../report/ask.js'
import type { Line, LineSource, Report } from '../../../report/report.js'
import { type Clue, clue, type Suspicion, type Weight } from '../../rule.js'

/** Nothing where nothing speaks for it. */
export const suspect = (
  cause: CauseCode,
  way: string | undefined,
  pro: Clue[],
  more: { against?: Clue[]; missing?: string[] } = {},
): Suspicion[] =>
  pro.length === 0 ? [] : [{ cause, ...(way === undefined ? {} : { way }), for: pro, ...more }]

/** One clue out of the first line that matches: the same line repeated says nothing more. */
export const clueOf = (
  report: Report,
  pattern: RegExp,
  says: string,
  weight: Weight,
  ...from: LineSource[]
): Clue[] =>
  linesWith(report, pattern, ...from)
    .slice(0, 1)
    .map(line => clueAt(line, says, weight))

export const clueAt = ({ text }: Pick<Line, 'text'>, says: string, weight: Weight): Clue =>
  clue(`${says}: ${quoted(text, 180)}`, weight)

export const first = <T>(list: readonly T[]): T[] => list.slice(0, 1)

export const symptomSays = (report: Report, pattern: RegExp): boolean =>
  pattern.test(report.symptom?.slice(0, 4_096) ?? '')
