import type { IncidentState } from '../core/incident/incident.js'
import type { Comparison, GivesBack, MovesAway, Past } from '../core/runbook/comparison.js'
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

const giveBack = (addresses: GivesBack): string => {
  if (isUnknown(addresses)) return 'not known, see below'
  if ('refused' in addresses) return 'none as it stands'
  return `${addresses.give}${addresses.leave > 0 ? ` (${addresses.leave} left, see below)` : ''}`
}

/** One that was recorded without the second column promises the same in both. */
const afterDrain = ({ addresses, drained }: Comparison): GivesBack => drained ?? addresses

const removalRefused = 'the removal is refused as it stands'

const inTheWayHere = ({ addresses }: Comparison): string => {
  if (isUnknown(addresses)) return 'not known, see below'
  return 'refused' in addresses ? `${removalRefused}, see below` : 'nothing'
}

const moving = (pods: MovesAway): string => {
  const { length } = pods.waits
  const waits = length > 0 ? ` (${length} ${length === 1 ? 'waits' : 'wait'} on budgets)` : ''
  return `${pods.moves.length}${waits}, ${pods.stays} stay`
}

const some = (names: readonly string[]): string =>
  `${names.slice(0, 3).map(oneLine).join(', ')}${names.length > 3 ? ` and ${names.length - 3} more` : ''}`

const inTheWay = (pods: MovesAway, then: GivesBack): string => {
  const { unclear = [], tight = [] } = pods
  const parts = [
    ...(pods.own.length > 0 ? ['cnibot itself stands here: it is refused'] : []),
    ...(pods.blocks.length > 0
      ? [`${many(pods.blocks.length, 'Pod')} that cannot be evicted: nothing moves`]
      : []),
    ...(pods.waits.length > 0 ? [`${many(pods.waits.length, 'Pod')} held back by a budget`] : []),
    ...(tight.length > 0 ? [`budgets that let only some go at a time: ${some(tight)}`] : []),
    ...('refused' in then ? [`${removalRefused}, see below`] : []),
    // Not knowing what is in the way is not knowing that nothing is.
    ...(unclear.length > 0 || isUnknown(then) ? ['not all is known, see below'] : []),
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
  const then = afterDrain(comparison)
  const told = (say: (pods: MovesAway) => string): string =>
    isUnknown(pods) ? 'not known, see below' : say(pods)
  return [
    [node, 'Reconcile in place', 'Drain, then clear'],
    ['Pods that move', 'none', told(moving)],
    ['in the way', inTheWayHere(comparison), told(each => inTheWay(each, then))],
    ['addresses given back', giveBack(comparison.addresses), giveBack(then)],
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

/** `count`: how many there are in all, where only the first are named. */
const listed = (title: string, names: readonly string[], count = names.length): Text[] => {
  if (names.length === 0) return []
  const more = count - Math.min(names.length, shownNames)
  return [
    t`${strong(title)} ${names.slice(0, shownNames).map(oneLine).join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
  ]
}

const addressDetails = (told: GivesBack, when: '' | ' after a drain'): Text[] => {
  if (isUnknown(told)) return [t`${strong(`Addresses${when}`)} not known: ${oneLine(told.unknown)}`]
  if ('refused' in told)
    return [t`${strong(`Removal${when} refused:`)} ${told.refused.map(oneLine).join('; ')}`]
  const left = (told.left ?? []).map(({ ip, why }) => `${ip} (${why})`)
  return listed(`Addresses left${when}:`, left, told.leave)
}

const same = (a: GivesBack, b: GivesBack): boolean => JSON.stringify(a) === JSON.stringify(b)

const details = (comparison: Comparison): Text[] => {
  const { addresses, pods } = comparison
  const then = afterDrain(comparison)
  return [
    ...addressDetails(addresses, ''),
    ...(same(addresses, then) ? [] : addressDetails(then, ' after a drain')),
    ...(isUnknown(pods) ? [t`${strong('Pods')} not known: ${oneLine(pods.unknown)}`] : podDetails(pods)),
  ]
}

const podDetails = (pods: MovesAway): Text[] => [
  ...(pods.unclear ?? []).slice(0, shownNames).map(what => t`${strong('Not known:')} ${oneLine(what)}`),
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
]

/** Why a repair would be refused by its own plan, as it was read. */
const barsOf = (comparison: Comparison): { reconcile: string | undefined; drain: string | undefined } => {
  const { addresses, pods } = comparison
  const own = isUnknown(pods) ? 0 : pods.own.length
  const blocks = isUnknown(pods) ? 0 : pods.blocks.length
  const bars = [
    ...(own > 0 ? ['cnibot itself stands here'] : []),
    ...(blocks > 0 ? [`${many(blocks, 'Pod')} cannot be evicted`] : []),
    ...('refused' in afterDrain(comparison) ? ['no address could be removed afterwards'] : []),
  ]
  return {
    reconcile: 'refused' in addresses ? removalRefused : undefined,
    drain: bars.length > 0 ? bars.join(', ') : undefined,
  }
}

const nextOf = ({ comparison, shut }: CompareInput): Text => {
  if (shut) return t`${shutWords[shut]}`
  const { reconcile, drain } = barsOf(comparison)
  if (reconcile !== undefined && drain !== undefined)
    return t`Neither repair is offered: ${reconcile}; for a drain, ${drain}. ${strong('Next')}: mend what stands in the way and compare again; nothing has changed.`
  const shutOut =
    reconcile === undefined
      ? drain && `Drain is not offered: ${drain}. `
      : `Reconcile in place is not offered: ${reconcile}. `
  return t`${shutOut ?? ''}${strong('Next')}: an approver chooses. Either begins with a plan that is approved step by step; nothing has changed yet.`
}

const choice = ({ cluster, incident, comparison, shut, cordoned }: CompareInput): Block[] => {
  if (shut) return []
  const bars = barsOf(comparison)
  const runbooks = incident.evidence.at(-1)?.verdict.runbooks ?? []
  const button = (action: Action, text: string): Button => ({
    text,
    value: { action, cluster, incident: incident.id },
  })
  return buttons([
    ...(runbooks.includes('leak-reconcile') && bars.reconcile === undefined
      ? [button('reconcile', 'Reconcile in place…')]
      : []),
    ...(runbooks.includes('leak-drain') && bars.drain === undefined ? [button('drain', 'Drain…')] : []),
    ...(incident.status === 'holding' ? [] : [button('hold', cordoned ? 'Hold, cordoned' : 'Hold')]),
  ])
}

/** Both repairs of this node side by side, before either starts (P-A2). An older card keeps its words and loses its buttons. */
export const compareMessage = (input: CompareInput): Message => {
  const { incident, comparison, timeZone } = input
  const first = t`${strong(`Compare repairs · ${incident.node}`)}`
  const next = nextOf(input)
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
