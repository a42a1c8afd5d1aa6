import type { Bundle, NodeFacts, SandboxEvents } from '../../core/evidence/bundle.js'
import { isKnown, valueIn } from '../../core/evidence/bundle.js'
import { readCniMessage } from '../../core/diagnosis/cni-message.js'
import { shownDuration } from '../../core/duration.js'
import { theirs } from '../../core/runbook/cordon-mark.js'
import { many, oneLine, strong, type Text, t } from '../text.js'
import { near } from '../time.js'
import { quoted, type Row, row, rowOf } from './row.js'

/** The plugin's part of an event: what stands before it names a sandbox that never lived. */
export const cniPart = (message: string): string => {
  const line = oneLine(message)
  const at = line.search(
    /plugin type=|networkPlugin |failed to allocate for range|cni plugin not initialized/,
  )
  return at > 0 ? line.slice(at) : line
}

const grouped = (events: readonly SandboxEvents[]): SandboxEvents[][] => {
  const byCode = new Map<string, SandboxEvents[]>()
  for (const event of events) {
    const { code } = readCniMessage(event.message)
    byCode.set(code, [...(byCode.get(code) ?? []), event])
  }
  const total = (group: SandboxEvents[]): number => group.reduce((sum, event) => sum + event.count, 0)
  return [...byCode.values()].toSorted((a, b) => total(b) - total(a))
}

const groupLines = (group: readonly SandboxEvents[]): Text[] => {
  const newest = group.reduce((best, event) => (event.last > best.last ? event : best))
  const count = group.reduce((sum, event) => sum + event.count, 0)
  const spanMs = Math.max(...group.map(event => event.last)) - Math.min(...group.map(event => event.first))
  const read = readCniMessage(newest.message)
  const details =
    read.kind === 'exhausted'
      ? [
          ...(read.plugin ? [`plugin ${read.plugin}`] : []),
          ...(read.rangeIndex === undefined ? [] : [`range ${read.rangeIndex}`]),
          ...(read.ranges.length > 0 ? [`range set ${read.ranges.join(', ')}`] : []),
          ...(read.network ? [`network ${read.network}`] : []),
        ]
      : []
  const pods = group
    .slice(0, 3)
    .map(event => `${event.namespace}/${event.pod}`)
    .join(', ')
  const more = group.length > 3 ? ` and ${group.length - 3} more` : ''
  const folded = group.some(event => event.folded) ? ', the server folds them' : ''
  return [
    t`${strong(`${count}× in ${shownDuration(spanMs)}`)}${folded}: ${quoted(cniPart(newest.message), 400)}`,
    t`${details.length > 0 ? `${details.join(', ')}. ` : ''}${read.says} Pods: ${pods}${more}.`,
  ]
}

/** P-E1, P-R1: the error as the API has it, counted over all its events and read. */
export const errorRow = (bundle: Bundle): Row =>
  rowOf('Error', bundle.events, events =>
    events.length === 0
      ? [
          t`no FailedCreatePodSandBox event of this node at the moment; the server forgets them after about an hour`,
        ]
      : grouped(events).slice(0, 3).flatMap(groupLines),
  )

const cordonText = (facts: NodeFacts): string => {
  if (!facts.unschedulable) return 'not cordoned'
  return facts.cordonedBy
    ? `cordoned by this bot for ${oneLine(facts.cordonedBy)}`
    : `cordoned by ${oneLine(theirs(facts))}`
}

/** P-E2: every condition, and what Ready does not say. */
export const conditionRow = (bundle: Bundle): Row =>
  rowOf('Conditions', bundle.facts, facts => {
    const ready = facts.conditions.find(condition => condition.type === 'Ready')
    const others = facts.conditions.filter(condition => condition.type !== 'Ready')
    const all = others.map(condition => `${condition.type}=${condition.status}`).join(', ')
    const message = ready && ready.status !== 'True' ? t` (${quoted(ready.message, 160)})` : t``
    return [
      t`${strong(`Ready=${ready?.status ?? 'missing'}`)}${message}${all ? `, ${all}` : ''}; ${cordonText(facts)}`,
      t`Ready means that the kubelet and the plugin are up. It says nothing about whether a Pod can get an address.`,
    ]
  })

/** P-E8: why the scheduler keeps sending Pods here. */
export const podRow = (bundle: Bundle): Row =>
  rowOf('Pods', bundle.pods, pods => {
    const running = pods.filter(pod => pod.phase !== 'Succeeded' && pod.phase !== 'Failed').length
    const facts = valueIn(bundle.facts)
    if (!facts) return [t`${strong(running)} on the node; how many it may run is not known`]
    return [t`${strong(`${running} of ${facts.maxPods}`)} on the node. ${schedulerWords(facts, running)}`]
  })

const schedulerWords = (facts: NodeFacts, running: number): string => {
  if (facts.unschedulable)
    return 'It is cordoned: the scheduler leaves it out, DaemonSet Pods still land there.'
  if (running >= facts.maxPods) return 'The node is full by its own limit.'
  return 'The scheduler counts Pods, not addresses: the emptier this node looks, the more it prefers it.'
}

/** C2: rollouts that lack their Pod on this node. */
export const rolloutRow = (bundle: Bundle): Row =>
  rowOf('DaemonSets', bundle.rollouts, rollouts => {
    const here = rollouts.filter(rollout => rollout.missing.some(gap => gap.node === bundle.node))
    if (here.length === 0) return [t`all that should run here do (${rollouts.length})`]
    return here.slice(0, 5).map(rollout => {
      const elsewhere = rollout.missing.length - 1
      const only =
        elsewhere === 0 ? 'missing only here' : `missing here and on ${many(elsewhere, 'other node')}`
      return t`${`${rollout.namespace}/${rollout.name}`} ${strong(`${rollout.ready} of ${rollout.desired}`)}, ${only}`
    })
  })

/** What makes times from the node and from here incomparable. */
export const clockRow = (bundle: Bundle): Row | undefined => {
  if (!isKnown(bundle.host)) return undefined
  const { skewMs } = bundle.host.value
  if (Math.abs(skewMs) < 5_000) return undefined
  const way = skewMs > 0 ? 'ahead' : 'behind'
  return row(
    'Clock',
    t`the node's clock is ${strong(shownDuration(Math.abs(skewMs)))} ${way}; ages are counted by the node's own clock`,
  )
}

/** How the runtime reads its network configuration; a second file is often the surprise. */
export const networkRow = (bundle: Bundle): Row =>
  rowOf('Network', bundle.conflist, conflist => {
    const others = conflist.others.length
    const unread = others === 0 ? '' : ` ${many(others, 'other file')} there, not read by the runtime.`
    return [
      t`${conflist.name}: ${conflist.plugins.join(' + ')}, addresses by ${conflist.ipam.type} under ${conflist.ipam.dataDir} (${quoted(conflist.path, 120)}).${unread}`,
    ]
  })

export const readAt = (bundle: Bundle, timeZone: string): string =>
  near(bundle.collectedAt, bundle.collectedAt, timeZone)
