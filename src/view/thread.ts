import type { Bundle } from '../core/evidence/bundle.js'
import type { Evidence, IncidentState } from '../core/incident/incident.js'
import { measure } from '../core/ipam/gap.js'
import type { RunState } from '../core/runbook/run.js'
import type { Message } from './blocks.js'
import { evidenceMessage } from './evidence.js'
import { evidenceFile, type File } from './evidence/file.js'
import { headMessage } from './incident.js'
import { planFile, planMessage, supersededMessage } from './plan.js'
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
  now: number
  timeZone: string
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

const inThread = (key: string, message: Message, file?: File): DesiredMessage => ({
  key,
  place: 'thread',
  message,
  ...(file ? { file } : {}),
})

const sameAnswer = (a: Evidence, b: Evidence): boolean =>
  a.verdict.cause === b.verdict.cause &&
  a.reason === b.reason &&
  JSON.stringify(a.counts) === JSON.stringify(b.counts)

/**
 * Readings that say the same stand in one message: it keeps its place, is named for the first of them and shows the
 * newest that is still kept, with its events and ages.
 */
const told = (input: {
  incident: IncidentState
  bundles: Pick<ThreadInput['bundles'], 'has'>
}): { first: Evidence; newest: Evidence }[] => {
  const groups: { first: Evidence; newest: Evidence }[] = []
  for (const each of input.incident.evidence) {
    const last = groups.at(-1)
    if (!last || !sameAnswer(last.newest, each)) groups.push({ first: each, newest: each })
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
): { at: number; desired: DesiredMessage }[] => {
  const bundle = input.bundles.get(newest.bundle)
  const messages: DesiredMessage[] = []
  if (bundle) {
    const gap = measure(bundle)
    const shown = evidenceMessage(bundle, gap, input.timeZone)
    messages.push(inThread(`evidence-${first.bundle}`, shown, evidenceFile(bundle, gap, input.timeZone)))
  }
  messages.push(inThread(`verdict-${first.bundle}`, verdictMessage(newest.verdict)))
  return messages.map(desired => ({ at: first.at, desired }))
}

const runMessages = (input: ThreadInput, run: RunState): { at: number; desired: DesiredMessage }[] => {
  const { runs, approversNamed, timeZone } = input
  const card = { run, runs, approversNamed, timeZone }
  const plans = run.lines.flatMap((line, index) => {
    if (!line.plan || !line.digest || !asks(line)) return []
    const key = `plan-${run.run}-${index}-${line.digest.slice(0, 8)}`
    const desired = inThread(key, planMessage({ ...card, index }, line), planFile(run, line, timeZone))
    return [{ at: line.plannedAt ?? run.openedAt, desired }]
  })
  const outputs = outputMessages({ run, runs, timeZone }).map(({ key, message, file }) => ({
    at: Number(key.split('-').at(-1)),
    desired: inThread(key, message, file),
  }))
  return [
    { at: run.openedAt, desired: inThread(`run-${run.run}`, runMessage({ run, runs, timeZone })) },
    ...plans,
    ...outputs,
  ]
}

const superseded = (input: ThreadInput, wanted: readonly DesiredMessage[]): DesiredMessage[] => {
  const keys = new Set(wanted.map(each => each.key))
  return [...(input.posted ?? [])]
    .filter(key => key.startsWith('plan-') && !keys.has(key))
    .map(key => inThread(key, supersededMessage(key.slice(-8))))
}

/**
 * The whole thread of one incident as it should stand, in posting order; the same state gives the same blocks. Empty
 * until the incident is opened: a single symptom has no thread.
 */
export const renderThread = (input: ThreadInput): DesiredMessage[] => {
  const { incident, runs, bundles, timeZone } = input
  if (!incident.opened) return []
  const newest = incident.evidence.at(-1)
  const head: DesiredMessage = {
    key: 'head',
    place: 'head',
    message: headMessage({ ...input, bundle: newest && bundles.get(newest.bundle) }),
  }
  const tickets = incident.tickets.length > 0 ? [inThread('tickets', ticketsMessage(incident, timeZone))] : []
  const recounts = incident.recounts.flatMap((recount, n) => {
    const shown = recountMessage(incident, n, timeZone)
    return shown ? [{ at: recount.at, desired: inThread(`recount-${n}`, shown) }] : []
  })
  const dated = [
    ...told(input).flatMap(group => evidenceMessages(input, group)),
    ...runs.flatMap(run => runMessages(input, run)),
    ...recounts,
  ]
  const wanted = [head, ...tickets, ...dated.toSorted((a, b) => a.at - b.at).map(each => each.desired)]
  return [...wanted, ...superseded(input, wanted)]
}
