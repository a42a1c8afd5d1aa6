import { shownDuration } from '../core/duration.js'
import { valueIn } from '../core/evidence/bundle.js'
import type { Counts, IncidentState } from '../core/incident/incident.js'
import type { Ticket } from '../core/incident/ticket.js'
import { type Block, type Button, buttons, context, type Message, message, section } from './blocks.js'
import type { Action } from './button.js'
import { type HeadInput, latest } from './head-input.js'
import { inStorm, nextText } from './next.js'
import { many, oneLine, person, strong, type Text, t } from './text.js'
import { near } from './time.js'

const trouble = (incident: IncidentState): string => {
  const findings = latest(incident)?.verdict.findings.map(finding => finding.name) ?? []
  const has = (name: (typeof findings)[number]): boolean => findings.includes(name)
  if (has('range-exhausted')) return 'cannot give new Pods an address'
  if (has('plugin-not-running') || has('config-invalid'))
    return 'cannot give new Pods a network: the plugin does not run'
  if (has('node-unreachable')) return 'could not be looked at'
  if (has('runtime-silent')) return 'has a container runtime that does not answer'
  if (has('allocations-leaked')) return 'is losing addresses'
  if (incident.tickets.some(ticket => ticket.exhausted)) return 'cannot give new Pods an address'
  return 'has Pods that do not start'
}

const titleOf = ({ incident, cluster, cordon }: HeadInput): Text => {
  const { node, status, closed } = incident
  const where = t` · ${cluster}`
  // The first line alone must be enough: a node that takes no Pods is no closed matter.
  const still = cordon.whose === 'ours' ? ', still cordoned' : ''
  if (status === 'resolved')
    return t`${still ? '🟠' : '🟢'} ${strong(`${node} ${closed ? 'closed by hand' : 'resolved'}${still}`)}${where}`
  if (status === 'watching') return t`🟡 ${strong(`${node} repaired, being watched${still}`)}${where}`
  if (status === 'holding') return t`🟠 ${strong(`${node} ${trouble(incident)}, held on purpose`)}${where}`
  if (status === 'escalated') return t`🔴 ${strong(`${node} ${trouble(incident)}`)}, escalated${where}`
  return t`🔴 ${strong(`${node} ${trouble(incident)}`)}${where}`
}

export const countsText = (counts: Counts): string => {
  const taken = counts.usable === undefined ? `${counts.taken}` : `${counts.taken} of ${counts.usable}`
  const young = counts.young > 0 ? `, ${counts.young} too young to tell` : ''
  return `${taken} addresses taken: ${counts.orphaned} by sandboxes that no longer exist, ${counts.live} by living ones${young}.`
}

const ticketText = (tickets: readonly Ticket[]): string | undefined => {
  const first = tickets[0]
  if (!first) return undefined
  const open = tickets.filter(ticket => ticket.ended === undefined).length
  const span = Math.max(...tickets.map(ticket => ticket.firstSeen)) - first.since
  const within = tickets.length > 1 ? ` in ${shownDuration(span)}` : ''
  return `${many(tickets.length, 'ticket')}${within}, ${open === 0 ? 'none' : open} still stuck.`
}

const looksEmpty = ({ bundle, cordon }: HeadInput): string | undefined => {
  const facts = bundle && valueIn(bundle.facts)
  const pods = bundle && valueIn(bundle.pods)
  if (!facts || !pods) return undefined
  const count = pods.filter(pod => pod.phase !== 'Succeeded' && pod.phase !== 'Failed').length
  const ready = facts.conditions.find(condition => condition.type === 'Ready')?.status === 'True'
  if (!ready || cordon.whose !== 'nobody' || facts.unschedulable || count >= facts.maxPods) return undefined
  return `The node is Ready and looks empty (${count} of ${facts.maxPods} Pods), so the scheduler keeps choosing it.`
}

const ordinal = (n: number): string => {
  const suffix =
    n % 10 === 1 && n !== 11 ? 'st' : n % 10 === 2 && n !== 12 ? 'nd' : n % 10 === 3 && n !== 13 ? 'rd' : 'th'
  return `${n}${suffix}`
}

/** The trouble that was repaired is there again: a repair was completed, and what is seen since has the same cause. */
const causeNotFixed = ({ evidence, runs, reopened }: IncidentState): boolean => {
  const repaired = runs.findLast(run => run.outcome === 'completed')
  const before = evidence.findLast(({ at }) => repaired !== undefined && at <= repaired.openedAt)
  const since = evidence.findLast(({ at }) => at >= (reopened.at(-1) ?? Infinity))
  return before !== undefined && before.verdict.cause === since?.verdict.cause
}

const againText = ({ incident, timeZone }: HeadInput): Text | undefined => {
  const { reopened, opened, runs } = incident
  const last = reopened.at(-1)
  if (last === undefined || !opened || incident.status === 'resolved') return undefined
  const repaired = runs.findLast(run => run.outcome === 'completed')
  const by = repaired
    ? t`; last repaired ${near(repaired.endedAt ?? repaired.openedAt, last, timeZone)} in a run opened by ${person(repaired.openedBy)}`
    : t``
  const cause = causeNotFixed(incident) ? ' The cause was not fixed.' : ''
  return t`Opened for the ${ordinal(reopened.length + 1)} time in ${shownDuration(last - opened.at)}${by}.${cause}`
}

const situation = (input: HeadInput): (Text | undefined)[] => {
  const { incident } = input
  const { status } = incident
  const seen = latest(incident)
  // Its one line of progress says it all; the numbers stand in the thread.
  if (status === 'repairing') return []
  if (status === 'resolved') return [storyText(input)]
  if (status === 'watching') return [repairText(incident)]
  const counts = seen?.counts ? t`${countsText(seen.counts)}` : undefined
  const unknown =
    seen && !seen.counts
      ? t`How many addresses leaked is not known: ${oneLine(seen.reason ?? 'no answer')}`
      : undefined
  const tickets = ticketText(incident.tickets)
  const empty = looksEmpty(input)
  return [
    againText(input),
    counts ?? unknown,
    empty ? t`${empty}` : undefined,
    tickets ? t`${tickets}` : undefined,
  ]
}

const repairText = (incident: IncidentState): Text | undefined => {
  const run = incident.runs.findLast(each => each.outcome === 'completed')
  return run ? t`${oneLine(run.says ?? 'All checks passed.')}` : undefined
}

const took = (from: number | undefined, to: number | undefined): string | undefined =>
  from === undefined || to === undefined || to < from ? undefined : shownDuration(to - from)

/** The whole story in two lines, with how long each part took. */
const storyText = (input: HeadInput): Text => {
  const { opened, evidence, runs, resolvedAt, closed, recounts } = input.incident
  if (closed) return t`Closed by ${person(closed.by)}: ${oneLine(closed.reason)}`
  const run = runs.findLast(
    each => each.outcome === 'completed' && (each.endedAt ?? 0) <= (resolvedAt ?? Infinity),
  )
  const verdict = took(opened?.at, evidence[0]?.at)
  const begun = took(opened?.at, run?.openedAt)
  const repaired = took(run?.openedAt, run?.endedAt)
  const parts = [
    ...(verdict ? [`verdict after ${verdict}`] : []),
    ...(begun ? [`repair begun after ${begun}`] : []),
    ...(repaired ? [`repaired and proven in ${repaired}`] : []),
    ...(recounts.length > 0 ? [`counted again ${many(recounts.length, 'time')}`] : []),
  ]
  const says = run?.says ? t`${oneLine(run.says)}\n` : t``
  return t`${says}Open for ${took(opened?.at, resolvedAt) ?? 'an unknown time'}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}.`
}

const button = (
  { cluster, incident }: HeadInput,
  action: Action,
  text: string,
  more: Partial<Button> = {},
): Button => ({
  text,
  value: { action, cluster, incident: incident.id },
  ...more,
})

const headButtons = (input: HeadInput): Block[] => {
  const { incident, cordon: known } = input
  const { node, status } = incident
  const offered = latest(incident)?.verdict.runbooks ?? []
  const cordon = button(input, 'cordon', `Cordon ${node}`, { style: 'primary' })
  const barred = input.brakes?.paused !== undefined || inStorm(input)
  const cordonable = !barred && (known.whose === 'nobody' || known.unsure) && offered.length > 0
  const changes = cordonable ? [cordon] : []
  // A repair is chosen on the card that shows both: the head has no button that begins one.
  const repairs = offered.filter(name => name.startsWith('leak-'))
  const compare = !inStorm(input) && repairs.length > 0 ? [button(input, 'compare', 'Compare repairs')] : []
  const hold = button(input, 'hold', 'Hold')
  const escalate = button(input, 'escalate', 'Escalate')
  const byStatus: Record<IncidentState['status'], Button[]> = {
    noticed: [],
    open: [hold, escalate],
    diagnosed: [...changes, ...compare, hold, escalate],
    repairing: [],
    holding: [...changes, ...compare, button(input, 'release', 'Release'), escalate],
    watching: [escalate],
    escalated: [button(input, 'take-back', 'Take back'), button(input, 'close', 'Close…')],
    resolved: [],
  }
  return buttons(byStatus[status])
}

/** The one message of an incident that is edited in place: its first line alone must be enough. */
export const headMessage = (input: HeadInput): Message => {
  const title = titleOf(input)
  const lines = situation(input).filter(line => line !== undefined)
  const next = nextText(input)
  return message(t`${title}\n${next}`, [
    section([title, ...lines, next], 'in the thread'),
    ...headButtons(input),
    context([t`incident ${incidentName(input.incident)}`]),
  ])
}

export const incidentName = (incident: IncidentState): string => incident.id
