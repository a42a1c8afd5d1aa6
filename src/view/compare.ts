import type { IncidentState } from '../core/incident/incident.js'
import type { Comparison, MovesAway, Past } from '../core/runbook/comparison.js'
import { shownDuration } from '../core/duration.js'
import { type Block, type Button, buttons, context, type Message, message, section, table } from './blocks.js'
import type { Action } from './button.js'
import { many, oneLine, strong, type Text, t } from './text.js'
import { clockSeconds } from './time.js'

/** A pause or a storm ends by itself or by a word; the others stay. */
export type Shut = 'paused' | 'storm' | 'newer' | 'chosen' | 'not-now'

const shutWords: Record<Shut, string> = {
  paused:
    'Changes are paused, so no repair can be chosen now; the buttons come back with the end of the pause.',
  storm: 'Many nodes broke at once, this one among them: no repair can be chosen until that is over.',
  newer: 'A newer comparison stands below; choose there.',
  chosen: 'A choice was made: a run was opened after this comparison.',
  'not-now': 'No repair can be chosen now; the first message of this thread says what is waited for.',
}

export interface CompareInput {
  cluster: string
  incident: IncidentState
  comparison: Comparison
  /** Why nothing can be chosen on this card; undefined while it can. */
  shut: Shut | undefined
  cordoned: boolean
  timeZone: string
}

const isUnknown = <T extends object>(value: T | { unknown: string }): value is { unknown: string } =>
  'unknown' in value

const takes = (past: Past | undefined): string => {
  if (!past) return 'no past run here'
  const span =
    past.runs === 1
      ? '1 run here'
      : `median of ${past.runs} runs here, ${shownDuration(past.shortestMs)} to ${shownDuration(past.longestMs)}`
  return `${shownDuration(past.medianMs)} at work (${span}), and what the approvals take`
}

const giveBack = ({ addresses }: Comparison): string => {
  if (isUnknown(addresses)) return 'not known, see below'
  const left = addresses.leave > 0 ? ` (${addresses.leave} left: too young, foreign or not readable)` : ''
  return `${addresses.give}${left}`
}

const moving = (pods: MovesAway): string => {
  const { length } = pods.waits
  const waits = length > 0 ? ` (${length} ${length === 1 ? 'waits' : 'wait'} on budgets)` : ''
  return `${pods.moves.length}${waits}, ${pods.stays} stay`
}

const inTheWay = (pods: MovesAway): string => {
  const parts = [
    ...(pods.own.length > 0 ? ['cnibot itself stands here: it is refused'] : []),
    ...(pods.blocks.length > 0
      ? [`${many(pods.blocks.length, 'Pod')} that cannot be evicted: nothing moves`]
      : []),
    ...(pods.waits.length > 0 ? [`${many(pods.waits.length, 'Pod')} held back by a budget`] : []),
  ]
  return parts.length === 0 ? 'nothing' : parts.join('; ')
}

const canGoWrong = (pods: MovesAway): string => {
  const lost =
    pods.emptyDirs.length > 0 ? `; data in emptyDir of ${many(pods.emptyDirs.length, 'Pod')} is lost` : ''
  const alone =
    pods.unmanaged.length > 0 ? `; ${many(pods.unmanaged.length, 'Pod')} nothing starts again` : ''
  return `Pods that cannot start elsewhere${lost}${alone}; then as on the left`
}

const rows = (node: string, comparison: Comparison): string[][] => {
  const { pods, past } = comparison
  const told = (say: (pods: MovesAway) => string): string =>
    isUnknown(pods) ? 'not known, see below' : say(pods)
  return [
    [node, 'Reconcile in place', 'Drain, then clear'],
    ['Pods that move', 'none', told(moving)],
    ['in the way', 'nothing', told(inTheWay)],
    ['addresses given back', giveBack(comparison), giveBack(comparison)],
    ['takes about', takes(past['leak-reconcile']), takes(past['leak-drain'])],
    [
      'can go wrong',
      "a living address freed; guarded by two readings, the plugin's own lock and a look at each file under it",
      told(canGoWrong),
    ],
    [
      'undo',
      'yes, one click: what is still free is put back',
      'no: Pods have moved; only the addresses can be put back',
    ],
  ]
}

const shownNames = 8

const listed = (title: string, names: readonly string[]): Text[] => {
  if (names.length === 0) return []
  const more = names.length - shownNames
  return [
    t`${strong(title)} ${names.slice(0, shownNames).map(oneLine).join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
  ]
}

const details = ({ addresses, pods }: Comparison): Text[] => [
  ...(isUnknown(addresses) ? [t`${strong('Addresses')} not known: ${oneLine(addresses.unknown)}`] : []),
  ...(isUnknown(pods)
    ? [t`${strong('Pods')} not known: ${oneLine(pods.unknown)}`]
    : [
        ...listed('Would move:', pods.moves),
        ...listed(
          'Wait:',
          pods.waits.map(({ pod, why }) => `${pod} (${why})`),
        ),
        ...listed(
          'Cannot be evicted:',
          pods.blocks.map(({ pod, why }) => `${pod} (${why})`),
        ),
        ...listed('emptyDir data:', pods.emptyDirs),
        ...listed('Nothing starts again:', pods.unmanaged),
        ...listed('Refused because of', pods.own),
      ]),
]

const choice = ({ cluster, incident, shut, cordoned }: CompareInput): Block[] => {
  if (shut) return []
  const offered = incident.evidence.at(-1)?.verdict.runbooks ?? []
  const button = (action: Action, text: string): Button => ({
    text,
    value: { action, cluster, incident: incident.id },
  })
  return buttons([
    ...(offered.includes('leak-reconcile') ? [button('reconcile', 'Reconcile in place…')] : []),
    ...(offered.includes('leak-drain') ? [button('drain', 'Drain…')] : []),
    ...(incident.status === 'holding' ? [] : [button('hold', cordoned ? 'Hold, cordoned' : 'Hold')]),
  ])
}

/** Both repairs of this node side by side, before either starts (P-A2). An older card keeps its words and loses its buttons. */
export const compareMessage = (input: CompareInput): Message => {
  const { incident, comparison, shut, timeZone } = input
  const first = t`${strong(`Compare repairs · ${incident.node}`)}`
  const next = shut
    ? t`${shutWords[shut]}`
    : t`${strong('Next')}: an approver chooses. Either begins with a plan that is approved step by step; nothing has changed yet.`
  const more = details(comparison)
  return message(t`${first} ${next}`, [
    section([first]),
    table(rows(incident.node, comparison), ['left', 'left', 'left']),
    ...(more.length > 0 ? [section(more, 'not shown', 2_500)] : []),
    section([next]),
    ...choice(input),
    context([t`read ${clockSeconds(comparison.readAt, timeZone)}, one look, nothing changed`]),
  ])
}
