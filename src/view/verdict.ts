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

/** What we think: shown in Slack and at a terminal in the same words. Groups of lines. */
export const verdictGroups = (verdict: Verdict): Text[][] => {
  const title = t`${strong(oneLine(verdict.headline))} · ${sureness[verdict.sure]}`
  const groups: Text[][] = [
    [title, ...verdict.says.map(line => t`${oneLine(line)}`)],
    verdict.hypotheses.slice(0, 3).flatMap(hypothesisLines),
    verdict.outlook === undefined ? [] : [t`${strong('Will it come back?')} ${oneLine(verdict.outlook)}`],
    verdict.doNot.length === 0 ? [] : [t`${strong('Do not')} ${verdict.doNot.map(prohibited).join('; ')}.`],
    [
      ...verdict.next.map((line, i) => t`${i === 0 ? t`${strong('Next:')} ` : t`${indent}`}${oneLine(line)}`),
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
  const blocks: Block[] = verdictGroups(verdict).map(group => section(group, 'shortened', 2_200))
  return message(t`${oneLine(verdict.headline)} · ${sureness[verdict.sure]}`, [
    ...blocks,
    context([findingLine(verdict)]),
  ])
}
