import { causeWords } from '../core/explain/cause-words.js'
import type { Answer } from '../core/explain/explain.js'
import type { BundleAnswer, LeakClass } from '../core/explain/explain-bundle.js'
import { context, type Message, message, section } from './blocks.js'
import { asTerminal, indent, oneLine, strong, type Text, t } from './text.js'
import { sureness } from './verdict.js'

const isGuess = ({ cause, confidence }: Answer): boolean => confidence === 'low' && cause !== 'other'

/** What, why we think so, what to do first: enough for most readers. */
export const threeSentences = (answer: Answer): Text[] => {
  const [why] = answer.hypotheses.find(({ cause }) => cause === answer.cause)?.for ?? []
  const [first] = answer.actions
  return [
    t`${strong(`${isGuess(answer) ? 'Perhaps: ' : ''}${causeWords[answer.cause]}`)} · ${sureness[answer.confidence]}`,
    ...(why === undefined ? [] : [t`${strong('Why:')} ${oneLine(why)}`]),
    ...(first === undefined ? [] : [t`${strong('First:')} ${oneLine(first.why)}`]),
  ]
}

const list = (title: string, lines: readonly string[]): Text[] =>
  lines.map((line, n) => (n === 0 ? t`${strong(title)} ${oneLine(line)}` : t`${indent}${oneLine(line)}`))

const hypothesisLines = ({ cause, for: pro, against, missing }: Answer['hypotheses'][number]): Text[] => [
  t`${strong(cause)}`,
  ...pro.map(line => t`${indent}for: ${oneLine(line)}`),
  ...against.map(line => t`${indent}against: ${oneLine(line)}`),
  ...missing.map(line => t`${indent}not known: ${oneLine(line)}`),
]

const classLines = ({ says, for: pro, against, missing }: LeakClass, n: number): Text[] => [
  t`${strong(n === 0 ? 'Why they leaked, most likely:' : 'Or:')} ${oneLine(says)}`,
  ...pro.map(line => t`${indent}for: ${oneLine(line)}`),
  ...against.map(line => t`${indent}against: ${oneLine(line)}`),
  ...missing.map(line => t`${indent}not known: ${oneLine(line)}`),
]

/** The rest, group by group. */
const rest = (answer: BundleAnswer): Text[][] =>
  [
    list(
      'Then:',
      answer.actions.slice(1).map(({ why }) => why),
    ),
    list('Careful:', answer.warnings),
    list('To be sure, ask for:', answer.ask_for),
    answer.also.length === 0
      ? []
      : list(
          'Also:',
          answer.also.map(cause => `${cause}: ${causeWords[cause]}`),
        ),
    answer.escalate_to === null ? [] : [t`${strong('Call:')} ${oneLine(answer.escalate_to)}`],
    (answer.leak_classes ?? []).filter(each => each.for.length > 0).flatMap(classLines),
    answer.outlook === undefined ? [] : [t`${strong('Will it come back?')} ${oneLine(answer.outlook)}`],
    answer.hypotheses.slice(0, 5).flatMap(hypothesisLines),
  ].filter(group => group.length > 0)

/** At a terminal; ends with a newline. */
export const explainedText = (answer: BundleAnswer, colour: boolean): string =>
  `${[threeSentences(answer), ...rest(answer)]
    .map(group => group.map(line => asTerminal(line, colour)).join('\n'))
    .join('\n\n')}\n`

export const explainedMessage = (answer: Answer): Message => {
  const sentences = threeSentences(answer)
  return message(sentences[0] ?? t``, [
    { ...section(sentences), expand: true },
    ...rest(answer).map(group => section(group, 'shortened', 2_200)),
    context([t`From what was pasted alone: nothing was asked of the cluster, nothing changed.`]),
  ])
}
