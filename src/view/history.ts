import type { IncidentEvent } from '../core/incident/incident.js'
import { shownDigest } from '../core/runbook/plan.js'
import type { Decision, Line, RunState } from '../core/runbook/run.js'
import type { SeenPlan } from '../core/runbook/seen.js'
import { type Message, message, preformatted, section } from './blocks.js'
import { planMessage } from './plan.js'
import { stepWords } from './progress.js'
import { clean, code, indent, joined, many, named, oneLine, person, strong, type Text, t } from './text.js'
import { clockSeconds, date } from './time.js'

const by = (verb: string, decisions: readonly Decision[], timeZone: string): Text[] =>
  decisions.length === 0
    ? []
    : [
        t`${verb} by ${joined(
          decisions.map(each => t`${person(each.by)} ${clockSeconds(each.at, timeZone)}`),
          ' and ',
        )}`,
      ]

const endWords: Record<NonNullable<SeenPlan['end'] | SeenPlan['undo']>['how'], string> = {
  done: 'done',
  failed: 'did not work',
  'given up': 'given up',
  'not decided': 'not decided',
  undone: 'undone',
  'undo failed': 'undoing it failed',
}

/** Who decided on a plan, and what became of it: `Approved by @a 11:33:02. Begun 11:33:03; done 11:33:05: 212 moved`. */
const fateText = (seen: SeenPlan, timeZone: string): Text => {
  const { approvals, ticked, refused, startedAt, end, undo, needs } = seen
  const decided = [
    ...by(
      approvals.length < needs ? `${approvals.length} of ${needs} approved,` : 'Approved',
      approvals,
      timeZone,
    ),
    ...by('Confirmed', ticked ? [ticked] : [], timeZone),
    ...by('Refused', refused ? [refused] : [], timeZone),
  ]
  const fate = [
    ...(startedAt === undefined ? [] : [t`begun ${clockSeconds(startedAt, timeZone)}`]),
    ...[end, undo].flatMap(each =>
      each ? [t`${endWords[each.how]} ${clockSeconds(each.at, timeZone)}: ${oneLine(each.says)}`] : [],
    ),
  ]
  return joined([...(decided.length > 0 ? decided : [t`Nobody decided on it`]), ...fate], '; ')
}

export interface ShownRun {
  state: RunState
  /** In the order they were seen. */
  plans: readonly SeenPlan[]
  timeZone: string
}

/** `/cni show <run>`: every plan that people saw, with who decided and what became of it. */
export const renderRun = ({ state, plans, timeZone }: ShownRun): Message => {
  const { run, runbook, node, openedBy, openedAt, outcome, endedBy, endedAt } = state
  const first = t`${strong(run)}: ${runbook.title} on ${node}, opened by ${person(openedBy)} ${date(openedAt, timeZone)}`
  const end =
    endedAt === undefined
      ? t`It is ${state.status}.`
      : t`Ended ${date(endedAt, timeZone)}: ${outcome ?? 'unknown'}, by ${person(endedBy ?? 'cnibot')}.`
  return message(first, [
    section(
      [
        first,
        end,
        ...plans.map(
          seen =>
            t`${seen.index + 1}. ${strong(oneLine(seen.plan.title))} · plan ${code(shownDigest(seen.digest))} · seen ${clockSeconds(seen.plannedAt, timeZone)}\n${indent}${fateText(seen, timeZone)}`,
        ),
        t`${code(`/cni show ${run} <step>`)} shows a plan again as it was seen; a part of its digest behind that picks an older one; ${code(`/cni show ${run} choice`)} shows both repairs as they were compared before it.`,
      ],
      'not shown',
    ),
  ])
}

const mostRows = 60

/** `/cni show <run> <step>`: the plan as its approvers saw it. No buttons: it is a record. */
export const renderSeen = ({ state, timeZone }: ShownRun, seen: SeenPlan, runs: RunState[]): Message => {
  const { index, plan, digest, plannedAt, expiresAt } = seen
  const line = state.lines[index]
  if (!line) throw new Error(`run ${state.run} has no step ${index}`)
  const asItWas: Line = {
    ...line,
    status: 'failed',
    approved: undefined,
    refused: undefined,
    done: undefined,
    error: undefined,
    outdated: [],
    plan,
    digest,
    plannedAt,
    expiresAt,
    needs: seen.needs,
    approvals: seen.approvals,
  }
  const card = { run: state, index, runs, approversNamed: '', timeZone }
  const says = t`${strong('As it was seen')} ${date(plannedAt, timeZone)}, from the history of ${state.run}. ${fateText(seen, timeZone)}.`
  const shown = planMessage(card, asItWas, says)
  const rows = plan.lists.flatMap(({ title, rows: each }) => [`== ${title} (${each.length})`, ...each])
  if (rows.length === 0) return shown
  const more = rows.length - mostRows
  const rest = more > 0 ? `\n… ${more} more lines, attached to this plan in the incident's thread` : ''
  const list = preformatted(`${clean(rows.slice(0, mostRows).join('\n'))}${rest}`, 2_500)
  return { ...shown, blocks: [...shown.blocks, list] }
}

const eventText = (event: IncidentEvent): Text | undefined => {
  const who = person(event.by)
  switch (event.type) {
    case 'Opened':
      return t`opened: ${oneLine(event.why)}`
    case 'RunOpened':
      return t`run ${code(event.run)} (${event.runbook}) opened by ${who}`
    case 'RunEnded':
      return t`run ${code(event.run)} ended ${event.outcome}: ${oneLine(event.says)}`
    case 'Held':
      return t`held by ${who}`
    case 'Released':
      return t`released by ${who}`
    case 'Escalated':
      return t`escalated to ${named(event.to)} by ${who}: ${oneLine(event.why)}`
    case 'TakenBack':
      return t`taken back by ${who}`
    case 'ClosedByHand':
      return t`closed by ${who}: ${oneLine(event.reason)}`
    case 'Recounted':
      return t`counted again: ${oneLine(event.says)}`
    case 'SymptomSeen':
    case 'SymptomGone':
    case 'EvidenceWanted':
    case 'EvidenceCollected':
    case 'MeasuredClean':
    case 'ComparisonWanted':
    case 'RepairsCompared':
      return undefined
  }
}

const mostEvents = 30

/** `/cni history <node>`: what was done about a node, newest last. */
export const renderHistory = (node: string, events: readonly IncidentEvent[], timeZone: string): Message => {
  const lines = events.flatMap(event => {
    const text = eventText(event)
    return text ? [t`${date(event.at, timeZone)} ${text}`] : []
  })
  const older = lines.length - mostEvents
  const first =
    lines.length === 0
      ? t`Nothing has been opened about ${strong(node)}.`
      : t`${strong(node)}: ${many(lines.length, 'entry', 'entries')}${older > 0 ? `, the last ${mostEvents}` : ''}, newest last.`
  const hint = events.some(event => event.type === 'RunOpened')
    ? [t`${code('/cni show <run>')} lists the plans of a run, who decided on them and when.`]
    : []
  return message(first, [section([first, ...lines.slice(-mostEvents), ...hint], 'not shown')])
}

/** Of a step that a run does not have, or did not come to. */
export const noPlanText = (state: RunState, step: string): string => {
  const steps = state.lines.map((line, i) => `${i + 1} ${stepWords(line.spec, state.node)}`)
  return `Step ${step} of ${state.run} has no plan on record. Its steps: ${steps.join(', ')}.`
}
