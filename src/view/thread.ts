import type { Brakes } from '../core/brakes.js'
import type { Bundle } from '../core/evidence/bundle.js'
import type { Evidence, IncidentState } from '../core/incident/incident.js'
import { standingComparison } from '../core/incident/standing-comparison.js'
import { measure } from '../core/ipam/gap.js'
import type { Risk } from '../core/runbook/approval.js'
import type { Line, RunState } from '../core/runbook/run.js'
import type { Message } from './blocks.js'
import { type Cordon, cordonNow } from './cordon.js'
import { compareMessage, type Shut } from './compare.js'
import { evidenceMessage } from './evidence.js'
import { evidenceFile, type File } from './evidence/file.js'
import { headMessage } from './incident.js'
import { attemptMessage, planFile, planMessage, supersededMessage } from './plan.js'
import { inStorm } from './next.js'
import { wasDecided } from './decided.js'
import { asks } from './progress.js'
import { recountMessage } from './recount.js'
import { outputMessages, runMessage } from './run.js'
import { ticketsMessage } from './tickets.js'
import { verdictMessage } from './verdict.js'

export interface ThreadInput {
  cluster: string
  incident: IncidentState
  /** Oldest first. */
  runs: RunState[]
  /** By id; an evidence message whose reading is no longer kept is left as it stands. */
  bundles: Map<string, Bundle>
  /** `@sre-oncall`, or a mention of a user group. */
  approversNamed: string
  /** Where a risk has a list of its own. */
  approversFor?: Record<Risk, string>
  now: number
  timeZone: string
  /** What keeps every node, or this one among many, from being changed now. */
  brakes?: Pick<Brakes, 'paused' | 'storm'>
  /** Keys that stand in the thread: plans among them that are no longer wanted lose their buttons. */
  posted?: Iterable<string>
}

export interface DesiredMessage {
  /** Stable name of the message within its incident: what `publish` posts once and edits from then on. */
  key: string
  place: 'head' | 'thread'
  message: Message
  file?: File
}

/** With the time it belongs to in the thread. */
type Dated = { at: number; desired: DesiredMessage }

const inThread = (key: string, message: Message, file?: File): DesiredMessage => ({
  key,
  place: 'thread',
  message,
  ...(file ? { file } : {}),
})

const isFull = ({ verdict }: Evidence): boolean =>
  verdict.findings.some(finding => finding.name === 'range-exhausted')

/** A Pod more or less is no news: the cause, what leaked, whether any address is left, or why that is not known, is. */
const sameAnswer = (a: Evidence, b: Evidence): boolean =>
  a.verdict.cause === b.verdict.cause &&
  a.reason === b.reason &&
  a.counts?.orphaned === b.counts?.orphaned &&
  isFull(a) === isFull(b)

/** A repair that was completed, and every opening again: what is read after it is told anew, whatever it says. */
const turnsOf = ({ runs, reopened }: IncidentState): number[] => [
  ...runs.flatMap(({ outcome, endedAt }) => (outcome === 'completed' && endedAt ? [endedAt] : [])),
  ...reopened,
]

/**
 * Readings that say the same stand in one message: it keeps its place, is named for the first of them and shows the
 * newest that is still kept, with its events and ages.
 */
const told = (input: {
  incident: IncidentState
  bundles: Pick<ThreadInput['bundles'], 'has'>
}): { first: Evidence; newest: Evidence }[] => {
  const groups: { first: Evidence; newest: Evidence }[] = []
  const turns = turnsOf(input.incident)
  for (const each of input.incident.evidence) {
    const last = groups.at(-1)
    const turned = turns.some(at => last && at > last.newest.at && at <= each.at)
    if (!last || turned || !sameAnswer(last.newest, each)) groups.push({ first: each, newest: each })
    else if (input.bundles.has(each.bundle)) last.newest = each
  }
  return groups
}

/** Ids of the bundles that the thread is drawn from, as long as they are kept; no other has to be read. */
export const bundlesShown = (incident: IncidentState): string[] => {
  const groups = told({ incident, bundles: { has: () => true } })
  return [...new Set(groups.flatMap(({ first, newest }) => [first.bundle, newest.bundle]))]
}

const evidenceMessages = (
  input: ThreadInput,
  { first, newest }: { first: Evidence; newest: Evidence },
): Dated[] => {
  const bundle = input.bundles.get(newest.bundle)
  const messages: DesiredMessage[] = []
  if (bundle) {
    const gap = measure(bundle)
    const shown = evidenceMessage(bundle, gap, input.timeZone, first === newest ? undefined : first.at)
    messages.push(inThread(`evidence-${first.bundle}`, shown, evidenceFile(bundle, gap, input.timeZone)))
  }
  messages.push(inThread(`verdict-${first.bundle}`, verdictMessage(newest.verdict)))
  return messages.map(desired => ({ at: first.at, desired }))
}

/**
 * Every plan of a step that people were asked about: those that were decided on and given up, then the newest. The same
 * reality gives the same digest again, so a plan that was made anew after a try gets a message of its own.
 */
const planMessages = (input: ThreadInput, run: RunState, line: Line, index: number): Dated[] => {
  const { runs, timeZone } = input
  const approversNamed = input.approversFor?.[run.runbook.risk] ?? input.approversNamed
  const card = { run, runs, approversNamed, timeZone, index }
  const decided = line.attempts.filter(wasDecided)
  const keyOf = (digest: string, before: number): string => {
    const same = decided.slice(0, before).filter(each => each.digest === digest).length
    return `plan-${run.run}-${index}-${digest.slice(0, 8)}${same === 0 ? '' : `-${same + 1}`}`
  }
  const tried = decided.map((attempt, n) => {
    const file = planFile(run, { ...line, ...attempt }, timeZone)
    const desired = inThread(keyOf(attempt.digest, n), attemptMessage(card, line, attempt), file)
    return { at: attempt.plannedAt ?? run.openedAt, desired }
  })
  if (!line.plan || !line.digest || !asks(line)) return tried
  const key = keyOf(line.digest, decided.length)
  const newest = inThread(key, planMessage(card, line), planFile(run, line, timeZone))
  return [...tried, { at: line.plannedAt ?? run.openedAt, desired: newest }]
}

const runMessages = (input: ThreadInput, run: RunState, cordon: Cordon): Dated[] => {
  const { runs, timeZone, incident } = input
  const summary = incident.runs.find(each => each.run === run.run)
  const outputs = outputMessages({ run, timeZone }).map(({ key, message, file }) => ({
    at: Number(key.split('-').at(-1)),
    desired: inThread(key, message, file),
  }))
  return [
    {
      at: run.openedAt,
      desired: inThread(`run-${run.run}`, runMessage({ run, runs, cordon, timeZone, summary })),
    },
    ...run.lines.flatMap((line, index) => planMessages(input, run, line, index)),
    ...outputs,
  ]
}

const shutNow = (input: ThreadInput, newest: boolean): Shut | undefined => {
  const { incident, brakes } = input
  if (!newest) return 'newer'
  if (standingComparison(incident) === undefined) return 'chosen'
  if (inStorm(input)) return 'storm'
  if (brakes?.paused) return 'paused'
  return ['diagnosed', 'holding'].includes(incident.status) ? undefined : 'not-now'
}

const compareMessages = (input: ThreadInput, cordon: Cordon): Dated[] => {
  const { cluster, incident, timeZone } = input
  const { comparisons } = incident
  return comparisons.map((comparison, n) => {
    const shut = shutNow(input, n === comparisons.length - 1)
    const cordoned = cordon.whose !== 'nobody'
    const card = compareMessage({ cluster, incident, comparison, shut, cordoned, timeZone })
    return { at: comparison.readAt, desired: inThread(`compare-${comparison.readAt}`, card) }
  })
}

const superseded = (input: ThreadInput, wanted: readonly DesiredMessage[]): DesiredMessage[] => {
  const keys = new Set(wanted.map(each => each.key))
  return [...(input.posted ?? [])]
    .filter(key => key.startsWith('plan-') && !keys.has(key))
    .map(key => inThread(key, supersededMessage(/-([0-9a-f]{8})(-\d+)?$/.exec(key)?.[1] ?? '')))
}

/**
 * The whole thread of one incident as it should stand, in posting order; the same state gives the same blocks. Empty
 * until the incident is opened: a single symptom has no thread.
 */
export const renderThread = (input: ThreadInput): DesiredMessage[] => {
  const { incident, runs, bundles, timeZone } = input
  if (!incident.opened) return []
  const newest = incident.evidence.at(-1)
  const cordon = cordonNow(input)
  const head: DesiredMessage = {
    key: 'head',
    place: 'head',
    message: headMessage({ ...input, cordon, bundle: newest && bundles.get(newest.bundle) }),
  }
  const tickets = incident.tickets.length > 0 ? [inThread('tickets', ticketsMessage(incident, timeZone))] : []
  const recounts = incident.recounts.flatMap((recount, n) => {
    const shown = recountMessage(incident, n, timeZone)
    return shown ? [{ at: recount.at, desired: inThread(`recount-${n}`, shown) }] : []
  })
  const dated = [
    ...compareMessages(input, cordon),
    ...told(input).flatMap(group => evidenceMessages(input, group)),
    ...runs.flatMap(run => runMessages(input, run, cordon)),
    ...recounts,
  ]
  const wanted = [head, ...tickets, ...dated.toSorted((a, b) => a.at - b.at).map(each => each.desired)]
  return [...wanted, ...superseded(input, wanted)]
}
