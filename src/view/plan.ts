import { cordonMark } from '../core/runbook/cordon-mark.js'
import { type Plan, shownDigest } from '../core/runbook/plan.js'
import type { Attempt, Line, RunState } from '../core/runbook/run.js'
import {
  type Block,
  type Button,
  buttons,
  context,
  type Message,
  message,
  preformatted,
  section,
} from './blocks.js'
import type { Action } from './button.js'
import { type Cordon, cordonWords, recordedCordon } from './cordon.js'
import { noWayBack } from './drain.js'
import type { File } from './evidence/file.js'
import { approvedText, partlyText, refusedText, wasDecided } from './decided.js'
import { actFrom, lineWords } from './progress.js'
import { firstRows } from './rows.js'
import { clean, code, named, oneLine, strong, type Text, t } from './text.js'
import { clock, clockSeconds, weekday } from './time.js'
import { begun } from './undo.js'

interface Card {
  run: RunState
  index: number
  /** All runs of the incident, oldest first: whose cordon stands. */
  runs: RunState[]
  approversNamed: string
  timeZone: string
}

const shownRows = 3

const listLines = (lists: readonly { title: string; rows: string[] }[]): Text[] =>
  lists.flatMap(({ title, rows }) => [
    t`${strong(oneLine(title))} (${rows.length})`,
    ...firstRows(rows, shownRows),
  ])

/** As it stood when this step was planned: a decided card goes on saying what its approver saw. */
const cordonText = ({ run, index, runs, timeZone }: Card, plan: Plan | undefined): string => {
  const at = (time: number): string => clock(time, timeZone)
  const until = runs.flatMap(one =>
    one.run === run.run
      ? [{ ...one, lines: one.lines.slice(0, index) }]
      : one.openedAt < run.openedAt
        ? [one]
        : [],
  )
  const record = recordedCordon(until)
  if (plan && 'wasUnschedulable' in plan.data) {
    const { wasUnschedulable, wasCordonedBy } = plan.data
    if (!wasUnschedulable) return 'node not cordoned'
    if (wasCordonedBy !== cordonMark(run)) return cordonWords({ whose: 'theirs', by: wasCordonedBy }, at)
    return cordonWords(record?.whose === 'ours' ? record : { whose: 'ours' }, at)
  }
  const known: Cordon = record ?? { whose: 'nobody' }
  return known.whose === 'nobody' && known.since !== undefined ? 'node not cordoned' : cordonWords(known, at)
}

const decision = (card: Card, line: Line): Text => {
  const { timeZone, approversNamed, run } = card
  const until =
    line.expiresAt === undefined
      ? ''
      : `, until ${clock(line.expiresAt, timeZone)}; a later click makes a new plan`
  if (line.approved) {
    const verb = line.spec.kind === 'confirm' ? 'Confirmed' : 'Approved'
    const by = t`${approvedText(line, timeZone, verb) ?? t``}`
    if (line.status === 'done')
      return t`${by} Done ${clockSeconds(line.endedAt ?? line.approved.at, timeZone)}: ${oneLine(line.done?.says ?? 'done')}`
    if (line.status === 'failed')
      return t`${by} ${strong('It did not work')}: ${oneLine(line.error?.message ?? '')}`
    if (line.status === 'undone') return t`${by} Undone since: ${oneLine(line.undone ?? '')}`
    if (line.status === 'undo-failed')
      return t`${by} ${strong('Undoing it failed')}: ${oneLine(line.error?.message ?? '')}`
    if (line.status === 'undoing') return t`${by} It is being undone.`
    const from = actFrom(line.plan)
    const how =
      from === undefined
        ? 'It runs now'
        : `Nothing is removed before ${clock(from, timeZone)}: a second reading must agree`
    return t`${by} ${how}; the card above shows how far it is.`
  }
  const refused = refusedText(line, timeZone)
  if (refused) return t`${refused} Nothing of it was done.`
  if (line.status === 'failed') return t`${oneLine(line.error?.message ?? 'Not approved.')}`
  if (run.status === 'ended')
    return t`The run ended before anybody approved this plan. Nothing of it was done.`
  if (line.spec.kind === 'confirm') return t`${strong('Waiting')} for ${named(approversNamed)} to confirm.`
  const partly = partlyText(line, timeZone)
  const more = line.needs - line.approvals.length
  const people = line.needs < 2 ? '' : `${more === 1 ? 'one more' : `${more} different people`} of `
  return t`${partly ? t`${partly} ` : t``}${strong('Waiting')} for ${people}${named(approversNamed)} to approve or refuse${until}.`
}

const runsWhen = (plan: Plan, timeZone: string): string => {
  const from = actFrom(plan)
  return from === undefined
    ? 'It runs at once, exactly as shown.'
    : `It removes nothing before ${clock(from, timeZone)}, when a second reading must agree; then it runs exactly as shown.`
}

const planButtons = ({ run, index, timeZone }: Card, line: Line): Block[] => {
  if (line.status !== 'awaiting' || run.status !== 'awaiting' || !line.digest || !line.plan) return []
  const value = (action: Action) => ({
    action,
    cluster: run.cluster,
    incident: run.incident,
    run: run.run,
    index,
    digest: line.digest ?? '',
  })
  if (line.spec.kind === 'confirm')
    return buttons([
      { text: 'All of this is so', value: value('tick'), style: 'primary' },
      { text: 'Refuse', value: value('refuse') },
    ])
  const approve: Button = {
    text: 'Approve',
    value: value('approve'),
    style: 'primary',
    confirm: {
      title: 'Approve this plan?',
      text: t`${oneLine(line.plan.title)} (plan ${shownDigest(line.digest)}). ${runsWhen(line.plan, timeZone)}${noWayBack(line)}`,
      confirm: 'Approve',
      deny: 'Back',
    },
  }
  return buttons([approve, { text: 'Refuse', value: value('refuse'), style: 'danger' }])
}

const commandBlocks = (run: RunState, line: Line): Block[] => {
  const planned = line.plan?.commands ?? []
  const ran = line.done?.commands ?? []
  const differs = ran.length > 0 && ran.join('\n') !== planned.join('\n')
  return [
    ...(planned.length > 0
      ? [section([t`Runs for ${run.node}, exactly so:`]), preformatted(planned.join('\n'))]
      : []),
    ...(differs ? [section([t`Ran:`]), preformatted(ran.join('\n'))] : []),
  ]
}

/** What an approver reads before the click, and after it who decided. One message a plan; a new plan is a new message. */
export const planMessage = (card: Card, line: Line, says = decision(card, line)): Message => {
  const { run, timeZone } = card
  const { plan } = line
  const words = lineWords(line, run.node)
  const verb = line.spec.kind === 'confirm' ? 'Confirm' : 'Approve'
  const title = t`${strong(`${verb}: ${words}`)}`
  const digest = line.digest ?? ''
  const facts =
    line.spec.kind === 'confirm'
      ? []
      : [t`${run.node} · ${run.runbook.risk} risk · ${cordonText(card, plan)}`]
  const dated = plan
    ? t`plan ${code(shownDigest(digest))} · read ${clockSeconds(plan.readAt, timeZone)}${line.expiresAt === undefined ? '' : ` · expires ${clock(line.expiresAt, timeZone)}`}`
    : t`plan ${code(shownDigest(digest))}`
  const outdated = line.outdated.slice(-1).map(why => t`Planned again: ${oneLine(why)}`)
  return message(t`${verb}: ${words}. ${says}`, [
    section(
      [title, ...facts, ...(plan?.facts ?? []).map(fact => t`${oneLine(fact)}`), ...outdated],
      'attached',
      2_000,
    ),
    ...(plan && plan.lists.length > 0 ? [section(listLines(plan.lists), 'attached', 2_500)] : []),
    ...commandBlocks(run, line),
    section([says]),
    ...planButtons(card, line),
    context([dated]),
  ])
}

/** Every row of every list and every command: what the digest stands for. undefined where the card shows it all. */
export const planFile = (run: RunState, line: Line, timeZone: string): File | undefined => {
  const { plan, digest } = line
  if (!plan || !digest || plan.lists.every(list => list.rows.length <= shownRows)) return undefined
  const lines = [
    `${plan.title}`,
    `node ${run.node}, cluster ${run.cluster}, incident ${run.incident}, run ${run.run}`,
    `plan ${digest}`,
    `read ${weekday(plan.readAt, timeZone)} (${new Date(plan.readAt).toISOString()})`,
    '',
    ...plan.facts,
    '',
    '== Commands',
    ...plan.commands,
    ...plan.lists.flatMap(({ title, rows }) => ['', `== ${title} (${rows.length})`, ...rows]),
  ]
  return {
    name: `${run.node}-plan-${digest.slice(0, 8)}.txt`,
    title: `${plan.title}: plan ${shownDigest(digest)} in full`,
    text: `${clean(lines.join('\n'))}\n`,
  }
}

/** A plan that was decided on and then given up: who decided and what came of it stay to be read. */
export const attemptMessage = (card: Card, line: Line, attempt: Attempt): Message => {
  const { approved, error } = attempt
  const by =
    approvedText(attempt, card.timeZone) ??
    refusedText(attempt, card.timeZone) ??
    partlyText(attempt, card.timeZone) ??
    t`Begun without anybody being asked.`
  const what =
    wasDecided(attempt) && !approved
      ? t` Nothing of it was done.`
      : error
        ? t` ${strong('It did not work')}: ${oneLine(error.message)}.`
        : begun(attempt)
          ? t` It was begun, and how far it came is not on record.`
          : t` It was not begun.`
  const says = t`${by}${what} Given up: ${oneLine(attempt.why)}. The newest plan is below.`
  const asItWas: Line = {
    ...line,
    ...attempt,
    status: 'failed',
    done: undefined,
    expiresAt: undefined,
    outdated: [],
  }
  return planMessage(card, asItWas, says)
}

/** For a plan that was never approved and is no longer wanted: the message stays, its buttons go. */
export const supersededMessage = (digest8: string): Message =>
  message(t`A plan was given up`, [
    section([
      t`${strong('This plan was given up')} (${code(shownDigest(digest8))}): it expired, or the node changed. Nobody decided on it and nothing of it ran. The newest plan is below.`,
    ]),
  ])
