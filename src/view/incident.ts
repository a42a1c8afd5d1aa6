import { shownDuration } from '../core/duration.js'
import type { Bundle } from '../core/evidence/bundle.js'
import { valueIn } from '../core/evidence/bundle.js'
import type { Counts, Evidence, IncidentState, RunSummary } from '../core/incident/incident.js'
import type { Ticket } from '../core/incident/ticket.js'
import type { RunState } from '../core/runbook/run.js'
import { type Block, type Button, buttons, context, type Message, message, section } from './blocks.js'
import type { Action } from './button.js'
import { cordonOf, progressText } from './progress.js'
import { many, named, oneLine, person, strong, type Text, t } from './text.js'
import { near } from './time.js'

/** Everything the head message is drawn from; all of it comes out of histories. */
export interface HeadInput {
  cluster: string
  incident: IncidentState
  /** Oldest first. */
  runs: RunState[]
  bundle: Bundle | undefined
  /** `@sre-oncall` */
  approversNamed: string
  timeZone: string
}

const latest = (incident: IncidentState): Evidence | undefined => incident.evidence.at(-1)

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

const titleOf = ({ incident, cluster }: HeadInput): Text => {
  const { node, status, closed } = incident
  const where = t` · ${cluster}`
  if (status === 'resolved' && closed) return t`🟢 ${strong(`${node} closed by hand`)}${where}`
  if (status === 'resolved') return t`🟢 ${strong(`${node} resolved`)}${where}`
  if (status === 'watching') return t`🟡 ${strong(`${node} repaired, being watched`)}${where}`
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

const looksEmpty = (bundle: Bundle | undefined): string | undefined => {
  const facts = bundle && valueIn(bundle.facts)
  const pods = bundle && valueIn(bundle.pods)
  if (!facts || !pods) return undefined
  const count = pods.filter(pod => pod.phase !== 'Succeeded' && pod.phase !== 'Failed').length
  const ready = facts.conditions.find(condition => condition.type === 'Ready')?.status === 'True'
  if (!ready || facts.unschedulable || count >= facts.maxPods) return undefined
  return `The node is Ready and looks empty (${count} of ${facts.maxPods} Pods), so the scheduler keeps choosing it.`
}

const ordinal = (n: number): string => {
  const suffix =
    n % 10 === 1 && n !== 11 ? 'st' : n % 10 === 2 && n !== 12 ? 'nd' : n % 10 === 3 && n !== 13 ? 'rd' : 'th'
  return `${n}${suffix}`
}

const againText = ({ incident, timeZone }: HeadInput): Text | undefined => {
  const { reopened, opened, runs } = incident
  const last = reopened.at(-1)
  if (last === undefined || !opened || incident.status === 'resolved') return undefined
  const repaired = runs.findLast(run => run.outcome === 'completed')
  const by = repaired
    ? t`; last repaired ${near(repaired.endedAt ?? repaired.openedAt, last, timeZone)} in a run opened by ${person(repaired.openedBy)}`
    : t``
  return t`Opened for the ${ordinal(reopened.length + 1)} time in ${shownDuration(last - opened.at)}${by}. The cause was not fixed.`
}

const situation = (input: HeadInput): (Text | undefined)[] => {
  const { incident, bundle } = input
  const { status } = incident
  const seen = latest(incident)
  if (status === 'resolved') return [storyText(input)]
  if (status === 'watching') return [repairText(incident)]
  const counts = seen?.counts ? t`${countsText(seen.counts)}` : undefined
  const unknown =
    seen && !seen.counts
      ? t`How many addresses leaked is not known: ${oneLine(seen.reason ?? 'no answer')}`
      : undefined
  const tickets = ticketText(incident.tickets)
  const empty = looksEmpty(bundle)
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

const lastWith = (runs: readonly RunSummary[]): RunSummary | undefined => runs.at(-1)

/** Who must act, or what happens next by itself; the last line of every head. */
const nextText = (input: HeadInput): Text => {
  const { incident, runs, timeZone, approversNamed } = input
  const { status, recountAt, held, escalated, node } = incident
  const at = (time: number): string => near(time, incident.opened?.at ?? time, timeZone)
  const who = named(approversNamed)
  switch (status) {
    case 'noticed':
    case 'open':
      return t`Collecting evidence; it is posted below, then the verdict.`
    case 'diagnosed': {
      const verdict = latest(incident)?.verdict
      if (verdict && verdict.runbooks.length === 0)
        return verdict.escalateTo
          ? t`No repair is offered for this. ${strong('Next')}: ${named(verdict.escalateTo)} must look at it.`
          : t`No repair is offered for this. ${strong('Next')}: ${oneLine(verdict.next[0] ?? 'read the verdict below')}`
      const cordon = cordonOf(runs)
      return cordon
        ? t`Cordoned ${at(cordon.at)}. ${strong('Waiting for an approver')} (${who}): choose a repair, or hold.`
        : t`${strong('Waiting for an approver')} (${who}): cordon it now, then choose a repair.`
    }
    case 'repairing': {
      const run = runs.find(each => each.run === lastWith(incident.runs)?.run)
      return run
        ? progressText(run, timeZone, approversNamed)
        : t`A run has been opened; its card follows below.`
    }
    case 'holding': {
      const state = cordonOf(runs)
        ? t`${node} stays cordoned until somebody repairs or releases it`
        : t`${node} has no cordon of this incident, so Pods still land there`
      return t`Held by ${person(held?.by ?? 'cnibot')}${held ? ` since ${at(held.at)}` : ''}; ${state}.`
    }
    case 'watching':
      return recountAt === undefined
        ? t`No re-count is planned.`
        : t`Counted again ${at(recountAt)}; then this is resolved or opened again.`
    case 'escalated':
      return t`${named(escalated?.to ?? 'platform')} must act. Escalated by ${person(escalated?.by ?? 'cnibot')}${escalated ? ` ${at(escalated.at)}` : ''}: ${oneLine(escalated?.why ?? '')}`
    case 'resolved':
      return recountAt === undefined ? t`Nothing more to do.` : t`Next count ${at(recountAt)}.`
  }
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
  const { incident, runs } = input
  const { node, status } = incident
  const offered = latest(incident)?.verdict.runbooks ?? []
  const cordon = button(input, 'cordon', `Cordon ${node}`, { style: 'primary' })
  const reconcile = button(input, 'reconcile', 'Reconcile…')
  const changes = [
    ...(!cordonOf(runs) && offered.length > 0 ? [cordon] : []),
    ...(offered.includes('leak-reconcile') ? [reconcile] : []),
  ]
  const hold = button(input, 'hold', 'Hold')
  const escalate = button(input, 'escalate', 'Escalate')
  const byStatus: Record<IncidentState['status'], Button[]> = {
    noticed: [],
    open: [hold, escalate],
    diagnosed: [...changes, hold, escalate],
    repairing: [],
    holding: [...changes, button(input, 'release', 'Release'), escalate],
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
