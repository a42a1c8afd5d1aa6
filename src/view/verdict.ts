import type { Hypothesis, Verdict } from '../core/diagnosis/finding.js'
import { type Block, context, type Message, message, section } from './blocks.js'
import { joined, oneLine, strong, type Text, t, indent } from './text.js'

/** How sure, in words: of what was seen, not of the cause behind it. */
export const sureness: Record<Verdict['sure'], string> = { high: 'sure', medium: 'likely', low: 'unsure' }

const listed = (items: readonly string[]): string =>
  items.length === 0 ? 'nothing' : items.map(oneLine).join('; ')

const hypothesisLines = ({ says, for: pro, against, missing }: Hypothesis): Text[] => [
  t`${strong('Possible cause:')} ${oneLine(says)}`,
  t`${indent}for: ${listed(pro)}`,
  t`${indent}against: ${listed(against)}`,
  t`${indent}not known: ${listed(missing)}`,
]

/** `Do not` stands once in front of them all. */
const prohibited = (line: string): string => {
  const what = oneLine(line)
    .replace(/^(do not|don't|never) /i, '')
    .replace(/\.$/, '')
  return `${what.charAt(0).toLowerCase()}${what.slice(1)}`
}

/**
 * What we think: shown in Slack and at a terminal in the same words. The first group is enough for most readers, in three
 * sentences: what, why we think so, what to do first. The others say the rest, group by group.
 */
export const verdictGroups = (verdict: Verdict): Text[][] => {
  const [why, ...more] = verdict.says.filter(line => line !== '')
  const [first, ...then] = verdict.next
  const groups: Text[][] = [
    [
      t`${strong(oneLine(verdict.headline))} · ${sureness[verdict.sure]}`,
      ...(why === undefined ? [] : [t`${strong('Why:')} ${oneLine(why)}`]),
      ...(first === undefined ? [] : [t`${strong('Next:')} ${oneLine(first)}`]),
    ],
    more.map(line => t`${oneLine(line)}`),
    verdict.hypotheses.slice(0, 3).flatMap(hypothesisLines),
    verdict.outlook === undefined ? [] : [t`${strong('Will it come back?')} ${oneLine(verdict.outlook)}`],
    verdict.doNot.length === 0 ? [] : [t`${strong('Do not')} ${verdict.doNot.map(prohibited).join('; ')}.`],
    [
      ...then.map((line, i) => t`${i === 0 ? t`${strong('Then:')} ` : t`${indent}`}${oneLine(line)}`),
      ...(verdict.escalateTo === undefined ? [] : [t`${strong('Call:')} ${oneLine(verdict.escalateTo)}`]),
    ],
  ]
  return groups.filter(group => group.length > 0)
}

const findingLine = (verdict: Verdict): Text =>
  verdict.findings.length === 0
    ? t`No finding.`
    : t`Findings: ${joined(
        verdict.findings.map(finding => t`${finding.name}`),
        ', ',
      )}.`

export const verdictMessage = (verdict: Verdict): Message => {
  // Slack folds long sections by itself; what to do first stays open.
  const blocks: Block[] = verdictGroups(verdict).map((group, n) => ({
    ...section(group, 'shortened', 2_200),
    ...(n === 0 ? { expand: true } : {}),
  }))
  return message(t`${oneLine(verdict.headline)} · ${sureness[verdict.sure]}`, [
    ...blocks,
    context([findingLine(verdict)]),
  ])
}
