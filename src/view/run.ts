import { shownDuration } from '../core/duration.js'
import type { RunSummary } from '../core/incident/incident.js'
import { shownDigest } from '../core/runbook/plan.js'
import { changes, type Line, type Outcome, type RunState } from '../core/runbook/run.js'
import { standing } from '../core/runbook/standing.js'
import { type Block, type Button, buttons, type Message, message, preformatted, section } from './blocks.js'
import type { Action } from './button.js'
import { type Cordon, cordonAtEnd, cordonWords } from './cordon.js'
import { farText } from './drain.js'
import type { File } from './evidence/file.js'
import { approversText, partlyText } from './decided.js'
import { leftBlocks, leftMessages, undoneWords } from './left-behind.js'
import { noRestart } from './no-restart.js'
import { actFrom, asks, lineWords, progressText } from './progress.js'
import { clean, code, indent, many, oneLine, person, strong, type Text, t } from './text.js'
import { clock, clockSeconds } from './time.js'
import { mayHaveActed, undoPreview } from './undo.js'

export interface RunInput {
  run: RunState
  /** All runs of the incident, oldest first. */
  runs: RunState[]
  /** As it is now, for a run that goes on. */
  cordon: Cordon
  timeZone: string
  /** What the incident knows of it. */
  summary?: RunSummary | undefined
}

const doneText = (line: Line, timeZone: string): Text => {
  const at = line.endedAt === undefined ? '' : `   ${clockSeconds(line.endedAt, timeZone)}`
  const took =
    line.startedAt !== undefined && line.endedAt !== undefined && line.endedAt > line.startedAt
      ? ` in ${shownDuration(line.endedAt - line.startedAt)}`
      : ''
  return t`${at}${took} · ${oneLine(line.done?.says ?? '')}`
}

const againText = ({ attempts, outdated }: Line): Text => {
  const last = attempts.at(-1)
  const ended = last?.refused
    ? t`refused by ${person(last.refused.by)}`
    : t`${oneLine(last?.error?.message ?? last?.why ?? '')}`
  const tried = last ? t` (tried ${many(attempts.length, 'time')} before, last: ${ended})` : t``
  return outdated.length > 0 ? t`${tried} (planned again: ${oneLine(outdated.at(-1) ?? '')})` : tried
}

/** One line a step. The marks are letters, not emoji: the head message has the one that tells the state. */
const lineText = ({ run, timeZone }: RunInput, line: Line, index: number): Text => {
  const words = lineWords(line, run.node)
  const again = againText(line)
  switch (line.status) {
    case 'done':
      return t`✓ ${words}${doneText(line, timeZone)}`
    case 'failed':
      return line.refused
        ? t`✗ ${strong(words)} — refused by ${person(line.refused.by)} ${clockSeconds(line.refused.at, timeZone)}`
        : t`✗ ${strong(words)} — ${oneLine(line.error?.message ?? 'did not work')}`
    case 'awaiting': {
      const plan = line.digest ? t`, plan ${code(shownDigest(line.digest))}` : t``
      const partly = partlyText(line, timeZone)
      return t`▸ ${strong(words)} — waiting for approval${plan}${partly ? t`. ${partly}` : t``}${again}`
    }
    case 'approved':
    case 'acting': {
      const by = line.approved ? t`, approved by ${approversText(line)}` : t``
      const since = line.startedAt === undefined ? '' : ` since ${clockSeconds(line.startedAt, timeZone)}`
      const from = actFrom(line.plan)
      const waits = from === undefined ? '' : `, removes nothing before ${clock(from, timeZone)}`
      const far = farText(line, timeZone)
      return t`▸ ${strong(words)} — running${since}${by}${waits}${far ? t`\n${indent}${far}` : t``}`
    }
    case 'undoing':
      return t`▸ ${strong(words)} — being undone`
    case 'undone':
      return t`○ ${words} — undone: ${oneLine(line.undone ?? '')}`
    case 'undo-failed':
      return t`✗ ${strong(words)} — undoing it failed: ${oneLine(line.error?.message ?? '')}`
    case 'pending':
      return run.status === 'planning' && run.position === index
        ? t`▸ ${strong(words)} — being planned${again}`
        : t`· ${words}`
  }
}

const outcomeWords: Record<Outcome, string> = {
  completed: 'completed: every step and every check',
  held: 'held on purpose',
  undone: 'undone',
  abandoned: 'given up',
  stuck: 'stuck: an undo failed, a person must look',
}

const outcomeText = (run: RunState, outcome: Outcome): string =>
  outcome === 'undone' ? undoneWords(run) : outcomeWords[outcome]

const titleOf = ({ run, timeZone }: RunInput): Text => {
  const by = t`opened by ${person(run.openedBy)} ${clock(run.openedAt, timeZone)}`
  const end = run.outcome ? ` · ${outcomeText(run, run.outcome)}` : ''
  return t`${strong(`${run.runbook.title} · ${run.node}`)} · ${by}${end}`
}

/** What state the node is in; a run that has ended goes on saying how it left the node. */
const stateText = ({ run, runs, cordon, timeZone, summary }: RunInput): Text => {
  const ended = run.status === 'ended'
  const until = runs.slice(0, runs.findIndex(each => each.run === run.run) + 1)
  const removed = run.lines.find(line => line.spec.kind === 'remove-orphans' && line.status === 'done')
  const at = (time: number): string => clock(time, timeZone)
  const words = ended ? cordonAtEnd(summary, until, at) : cordonWords(cordon, at)
  return t`${strong(ended ? 'At its end' : 'Now')}: ${run.node} ${ended ? 'was' : 'is'} ${words}${removed?.done ? `; ${oneLine(removed.done.says)}` : ''}.`
}

const excerptLines = 3

const failureBlocks = (input: RunInput): Block[] => {
  const { run } = input
  const line = run.lines.find(each => each.status === 'failed' || each.status === 'undo-failed')
  if (!line?.error) return []
  const earlier = changes[line.spec.kind] && mayHaveActed(line)
  if (line.refused)
    return [
      section([
        t`${strong('Refused:')} ${lineWords(line, run.node)}. Nothing of this plan was done.${earlier ? ' An earlier try may have done something.' : ''}`,
      ]),
    ]
  const output = clean(line.error.output).trimEnd().split('\n')
  const left = output.length - excerptLines
  const nothing =
    line.error.class !== 'refused'
      ? ''
      : earlier
        ? ' This try did nothing; an earlier one may have.'
        : ' Nothing was done.'
  // A refused drain has sent none of them, or had its first one refused: 44 requests would say otherwise.
  const unsent = line.spec.kind === 'drain' && line.error.class === 'refused' && !earlier
  const commands = unsent ? [] : (line.plan?.commands ?? [])
  return [
    section([t`${strong('Tried:')} ${lineWords(line, run.node)}.${nothing}`]),
    ...(commands.length > 0 ? [preformatted(commands.join('\n'), 1_200)] : []),
    ...(line.error.output.trim() === ''
      ? []
      : [
          section([
            t`${strong('Came back')}${left > 0 ? ` (first ${excerptLines} of ${output.length} lines, all of it below)` : ''}:`,
          ]),
          preformatted(output.slice(0, excerptLines).join('\n'), 900),
        ]),
  ]
}

const runButtons = ({ run }: RunInput): Block[] => {
  const index = Math.min(run.position, run.lines.length - 1)
  const bound = (action: Action) => (action === 'undo' || action === 'retry' ? { digest: standing(run) } : {})
  const button = (action: Action, text: string, more: Partial<Button> = {}): Button => ({
    text,
    value: { action, cluster: run.cluster, incident: run.incident, run: run.run, index, ...bound(action) },
    ...more,
  })
  const preview = undoPreview(run)
  const undo = button('undo', 'Undo', {
    style: 'danger',
    confirm: {
      title: 'Undo what this run changed?',
      text: t`${preview ?? 'Nothing to reverse.'}`,
      confirm: 'Undo',
      deny: 'Back',
      danger: true,
    },
  })
  const hold = button('hold', 'Hold')
  if (run.status === 'paused')
    return buttons([
      button('retry', 'Retry', { style: 'primary' }),
      ...(preview ? [undo] : []),
      hold,
      button('escalate', 'Escalate'),
    ])
  return run.status === 'awaiting' ? buttons([...(preview ? [undo] : []), hold]) : []
}

const nextText = (input: RunInput): Text => {
  const { run, timeZone } = input
  if (run.status === 'paused') {
    const preview = undoPreview(run) ?? 'There is nothing to undo.'
    return t`${strong('Next')}: an approver chooses. ${preview}${noRestart(run)}`
  }
  if (run.status !== 'ended') return progressText(run, timeZone)
  const end = run.endedAt === undefined ? '' : ` ${clockSeconds(run.endedAt, timeZone)}`
  return t`${strong(`Ended${end}`)}, ${run.outcome ? outcomeText(run, run.outcome) : 'outcome unknown'}; by ${person(run.endedBy ?? 'cnibot')}.`
}

/** The card of one run, edited in place. */
export const runMessage = (input: RunInput): Message => {
  const { run } = input
  const lines = run.lines.map((line, i) => lineText(input, line, i))
  const asking = run.lines.filter(asks).length
  const next = nextText(input)
  const failed = run.lines.some(line => line.status === 'failed' || line.status === 'undo-failed')
  const showsState = failed || run.status === 'ended' || run.status === 'undoing'
  return message(t`${run.runbook.title} on ${run.node}. ${next}`, [
    section(
      [
        titleOf(input),
        ...lines,
        ...(asking === 0 && run.status === 'planning' ? [t`Nothing changes without an approval.`] : []),
      ],
      'not shown',
      2_900,
    ),
    ...failureBlocks(input),
    ...leftBlocks(run),
    section([...(showsState ? [stateText(input)] : []), next]),
    ...runButtons(input),
  ])
}

/** What is too long for the card: the whole output of each failed step, and what an undo could not put back. */
export const outputMessages = ({
  run,
  timeZone,
}: Pick<RunInput, 'run' | 'timeZone'>): { key: string; message: Message; file: File }[] => [
  ...leftMessages(run, timeZone),
  ...run.lines.flatMap((line, index) => {
    const output = line.error?.output.trimEnd() ?? ''
    if (output.split('\n').length <= excerptLines || line.endedAt === undefined) return []
    const words = lineWords(line, run.node)
    const at = clockSeconds(line.endedAt, timeZone)
    return [
      {
        key: `output-${run.run}-${index}-${line.endedAt}`,
        message: message(t`Output of: ${words}`, [
          section([
            t`${strong('Came back in full')}: ${words}, ${at}. Attached; the card above says what to do.`,
          ]),
        ]),
        file: {
          name: `${run.node}-step-${index + 1}-output.txt`,
          title: `${words}: what came back ${at}`,
          text: `${clean(output)}\n`,
        },
      },
    ]
  }),
]
