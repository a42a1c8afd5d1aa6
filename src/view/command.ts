import { type Brakes, stormNow } from '../core/brakes.js'
import type { Verdict } from '../core/diagnosis/finding.js'
import { shownDuration } from '../core/duration.js'
import type { Bundle } from '../core/evidence/bundle.js'
import { isKnown } from '../core/evidence/bundle.js'
import type { IncidentState } from '../core/incident/incident.js'
import { type Gap, measure } from '../core/ipam/gap.js'
import type { RunState } from '../core/runbook/run.js'
import { context, type Message, message, section } from './blocks.js'
import { recordedCordon } from './cordon.js'
import { evidenceMessage } from './evidence.js'
import { evidenceFile, type File } from './evidence/file.js'
import { countsText } from './incident.js'
import { nearest } from './nearest.js'
import { lineWords } from './progress.js'
import { code, many, named, oneLine, person, strong, type Text, t, indent } from './text.js'
import { near } from './time.js'
import { verdictMessage } from './verdict.js'

/** One sentence, for an answer that only one person sees. Its own marks (`*…*`, `<@U…>`) are kept where they are ours. */
export const sentence = (text: string): Message => {
  const words = text
    .split(/(\*[^*\n]+\*)/)
    .flatMap(part => (/^\*[^*\n]+\*$/.test(part) ? [strong(part.slice(1, -1))] : named(part)))
  return message(words, [section([words])])
}

const commands: [string, string][] = [
  ['/cni diagnose <node>', 'looks at one node, read only, and says what it finds'],
  [
    '/cni explain <message>',
    "says what a Pod's event or a line of a log means and what to do; reads nothing else",
  ],
  ['/cni status', 'open incidents, held nodes, plans that wait for an approver, and what is paused'],
  ['/cni history <node>', 'what was done about a node, and by whom'],
  ['/cni show <run> [step]', 'the plans of a run as they were seen, with who decided on them'],
  ['/cni pause [why]', 'for approvers: no change begins anywhere until resume; reading and undo go on'],
  ['/cni resume', 'for approvers: ends a pause'],
  ['/cni resume storm', 'for approvers: declares a storm over, so that repairs are offered again'],
  ['/cni help', 'this list'],
]

/** `/cni explain` and nothing behind it. */
export const renderNothingPasted = (): Message => {
  const first = t`Paste behind ${code('/cni explain')} what is to be explained.`
  return message(first, [
    section([
      first,
      t`An event of the Pod that is stuck (the end of ${code('kubectl describe pod')}), lines of the kubelet's or the runtime's journal, or of the network agent's log; several lines are read together.`,
      t`Whole messages say the most: the reason often stands at the end.`,
    ]),
  ])
}

/** Also the answer to anything that is no command; `unknown` is what was typed. */
export const renderHelp = (unknown?: string): Message => {
  const first =
    unknown === undefined || unknown.trim() === ''
      ? t`${strong('/cni')} looks at nodes that are Ready but cannot give a new Pod a network.`
      : t`${code(oneLine(unknown).slice(0, 80))} is no command of /cni.`
  return message(first, [
    section([first, ...commands.map(([command, does]) => t`${code(command)} ${does}`)]),
    context([
      t`Looking changes nothing. Changes are buttons in an incident's thread, and each waits for an approver.`,
    ]),
  ])
}

export const renderUnknownNode = (asked: string, nodes: readonly string[]): Message => {
  const name = oneLine(asked).slice(0, 80)
  const meant = nearest(name, nodes)
  const first = nodes.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  const list =
    first.length <= 20
      ? first.join(', ')
      : `${first.slice(0, 3).join(', ')} … ${first.at(-1)} (${first.length})`
  const which = nodes.length === 0 ? 'The cluster has no nodes that can be seen.' : `Nodes: ${list}.`
  const text = meant
    ? t`No node ${code(name)}. Did you mean ${strong(meant)}? ${which}`
    : t`No node ${code(name)}. ${which}`
  return message(text, [section([text])])
}

/** At once, before the node has answered. */
export const renderLooking = (node: string): Message => {
  const text = t`Looking at ${strong(node)}, read only. The answer comes into this channel in a few seconds.`
  return message(text, [section([text])])
}

/** The last count, or what a repair has given back since: that is not in the last reading. */
const countsNow = ({ evidence, runs }: IncidentState): string | undefined => {
  const seen = evidence.at(-1)
  const repaired = runs.findLast(
    run =>
      run.outcome === 'completed' && run.runbook.startsWith('leak-') && (run.endedAt ?? 0) > (seen?.at ?? 0),
  )
  return repaired ? oneLine(repaired.says ?? 'repaired') : seen?.counts && countsText(seen.counts)
}

const openIncident = (
  incident: IncidentState,
  runs: readonly RunState[],
  timeZone: string,
  now: number,
): Text[] => {
  const { node, status, opened, held, escalated, recountAt } = incident
  const since = near(opened?.at ?? incident.startedAt, now, timeZone)
  const counts = countsNow(incident)
  const mine = runs.filter(run => run.incident === incident.id)
  const cordon = recordedCordon(mine)
  const cordoned =
    cordon?.whose === 'ours' && cordon.since !== undefined
      ? ` · cordoned by its run ${near(cordon.since, now, timeZone)}`
      : ''
  const waiting = mine.flatMap(run =>
    run.status === 'awaiting'
      ? run.lines.filter(line => line.status === 'awaiting').map(line => ({ run, line }))
      : [],
  )
  const who =
    status === 'holding' && held
      ? t` by ${person(held.by)} since ${near(held.at, now, timeZone)}`
      : status === 'escalated' && escalated
        ? t` to ${named(escalated.to)}`
        : status === 'watching' && recountAt !== undefined
          ? t`, counted again ${near(recountAt, now, timeZone)}`
          : t``
  return [
    t`${strong(node)} ${status}${who} · since ${since}${cordoned}`,
    ...(counts ? [t`${indent}${counts}`] : []),
    ...waiting.map(
      ({ run, line }) =>
        t`${indent}waits ${shownDuration(now - (line.plannedAt ?? run.openedAt))} for an approver${line.needs > 1 ? ` (${line.approvals.length} of ${line.needs} approved)` : ''}: ${lineWords(line, run.node)}`,
    ),
  ]
}

/** Beside an answer that could not be given where it was asked for. */
export const renderMoved = (node: string, askedBy: string): Message => {
  const text = t`${person(askedBy)} asked for ${strong(node)} in a channel where this app may not post, so the answer stands here. Invite the app there to have the next one there.`
  return message(text, [section([text])])
}

export interface StatusInput {
  cluster: string
  incidents: readonly IncidentState[]
  brakes?: Pick<Brakes, 'paused' | 'storm'>
  runs: readonly RunState[]
  now: number
  timeZone: string
}

const brakeTexts = (brakes: StatusInput['brakes'], now: number, timeZone: string): Text[] => {
  const paused = brakes?.paused
  const storm = brakes && stormNow(brakes)
  return [
    ...(paused
      ? [
          t`${strong('Changes are paused')} by ${paused.at === undefined ? 'the operator' : t`${person(paused.by)} since ${near(paused.at, now, timeZone)}`}: ${oneLine(paused.why)}.`,
        ]
      : []),
    ...(storm
      ? [
          t`${strong(`${storm.nodes.length} nodes broke at once`)} ${near(storm.since, now, timeZone)}: no repair of a node is offered on ${storm.nodes.join(', ')}.`,
        ]
      : []),
  ]
}

/** Open incidents with whose turn it is; resolved ones are history. */
export const renderStatus = ({ cluster, incidents, brakes, runs, now, timeZone }: StatusInput): Message => {
  const open = incidents.filter(incident => incident.opened && incident.status !== 'resolved')
  const noticed = incidents.filter(incident => incident.status === 'noticed').length
  const first = t`${strong(cluster)}: ${open.length === 0 ? 'no open incident' : many(open.length, 'open incident')}${noticed > 0 ? `, ${many(noticed, 'node')} being looked at` : ''}.`
  return message(first, [
    section(
      [
        first,
        ...brakeTexts(brakes, now, timeZone),
        ...open.flatMap(incident => openIncident(incident, runs, timeZone, now)),
      ],
      'not shown',
    ),
  ])
}

export interface AnswerInput {
  cluster: string
  node: string
  askedBy: string
  /** undefined when the reading is no longer kept. */
  bundle: Bundle | undefined
  verdict: Verdict
  /** Where the node's incident stands, if it has one. */
  link: string | undefined
  timeZone: string
}

export interface Answer {
  message: Message
  /** In the thread of `message`, in this order. */
  replies: Message[]
  file?: File
}

const healthyText = (node: string, gap: Gap): Text => {
  const taken =
    gap.usable === undefined ? `${gap.taken} addresses` : `${gap.taken} of ${gap.usable} addresses`
  return t`${strong(node)} can give new Pods an address: ${taken} taken, ${gap.orphaned === 0 ? 'none without a sandbox' : `${gap.orphaned} without a sandbox`}.`
}

const isNothing = ({ cause }: Verdict): boolean => cause === 'nothing-found'

/** `/cni diagnose`: one line that is enough, the evidence and the verdict folded into its thread. */
export const renderAnswer = (input: AnswerInput): Answer => {
  const { node, bundle, verdict, link, askedBy, cluster, timeZone } = input
  const gap = bundle && measure(bundle)
  const counted = gap && isKnown(gap) ? gap.value : undefined
  const first =
    isNothing(verdict) && counted
      ? healthyText(node, counted)
      : t`${strong(node)}: ${oneLine(verdict.headline)}.${counted ? ` ${countsText(counted)}` : ''}`
  const how = bundle?.shown
    ? `1 read-only connection, ${shownDuration(bundle.durationMs)}`
    : 'the node itself was not reached'
  const next = link
    ? [t`Its incident: ${{ mention: `<${link}|thread of ${node}>` }}`]
    : isNothing(verdict)
      ? []
      : verdict.next.slice(0, 1).map(line => t`${strong('Next')} ${oneLine(line)}`)
  const answer = message(first, [
    section([first, ...next]),
    context([t`${cluster} · asked by ${person(askedBy)} · ${how} · evidence in this message's thread`]),
  ])
  if (!bundle || !gap) return { message: answer, replies: [verdictMessage(verdict)] }
  return {
    message: answer,
    replies: [evidenceMessage(bundle, gap, timeZone), verdictMessage(verdict)],
    file: evidenceFile(bundle, gap, timeZone),
  }
}
