import type { Attempt, Decision, Line } from '../core/runbook/run.js'
import { joined, person, type Text, t } from './text.js'
import { clockSeconds } from './time.js'

type Decided = Pick<Line, 'needs' | 'approvals' | 'approved' | 'refused'>

/** Whether somebody said yes or no to it. */
export const wasDecided = ({ approvals, approved, refused }: Attempt): boolean =>
  approvals.length > 0 || approved !== undefined || refused !== undefined

const byWhom = (decisions: readonly Decision[], timeZone: string): Text =>
  joined(
    decisions.map(({ by, at }) => t`${person(by)} ${clockSeconds(at, timeZone)}`),
    ' and ',
  )

/** `Approved by @a 11:33:02 and @b 11:34:10.`; undefined as long as it is not. A tick is no approval of a change. */
export const approvedText = (line: Decided, timeZone: string, verb = 'Approved'): Text | undefined =>
  line.approved &&
  t`${verb} by ${byWhom(line.approvals.length > 0 ? line.approvals : [line.approved], timeZone)}.`

/** `Refused by @a 11:33:02.` */
export const refusedText = ({ refused }: Decided, timeZone: string): Text | undefined =>
  refused && t`Refused by ${byWhom([refused], timeZone)}.`

/** `1 of 2 approved, by @a 11:33:02.` undefined where one person is enough, or nobody came yet. */
export const partlyText = (line: Decided, timeZone: string): Text | undefined => {
  const { needs, approvals, approved } = line
  if (needs < 2 || approved || approvals.length === 0) return undefined
  return t`${approvals.length} of ${needs} approved, by ${byWhom(approvals, timeZone)}.`
}

/** `@a and @b`. */
export const approversText = ({ approvals, approved }: Decided): Text =>
  joined(
    (approvals.length > 0 ? approvals : approved ? [approved] : []).map(({ by }) => t`${person(by)}`),
    ' and ',
  )
