import { shownDuration } from '../core/duration.js'
import type { Answer, Bundle } from '../core/evidence/bundle.js'
import { isKnown, reasonOf } from '../core/evidence/bundle.js'
import type { Gap } from '../core/ipam/gap.js'
import { type Block, context, type Message, message, section, table } from './blocks.js'
import { peerTable } from './evidence/addresses.js'
import { withReasons } from './evidence/row.js'
import { evidenceRows } from './evidence/rows.js'
import { many, oneLine, strong, type Text, t, indent } from './text.js'
import { clockSeconds, weekday } from './time.js'

const titleOf = (bundle: Bundle, timeZone: string): Text => {
  const at = `${weekday(bundle.collectedAt, timeZone)}:${clockSeconds(bundle.collectedAt, timeZone).slice(-2)}`
  const how =
    bundle.shown === undefined
      ? 'the node was not reached, this is what the API server knows'
      : `one read-only connection, ${shownDuration(bundle.durationMs)}`
  return t`${strong(`Evidence, ${at}`)} · ${how}`
}

const headline = (bundle: Bundle, gap: Answer<Gap>): Text =>
  isKnown(gap)
    ? t`Evidence of ${bundle.node}: ${many(gap.value.taken, 'address', 'addresses')} taken, ${gap.value.orphaned} without a sandbox`
    : t`Evidence of ${bundle.node}: how many addresses leaked is not known: ${oneLine(reasonOf(gap) ?? '')}`

/**
 * One reading at a glance: the gap first, then peers, the error, the ages beside restarts and DEL failures. `attachedAt`
 * is when the attached file was read, where a later reading took its place in the message.
 */
export const evidenceMessage = (
  bundle: Bundle,
  gap: Answer<Gap>,
  timeZone: string,
  attachedAt?: number,
): Message => {
  const groups = withReasons(evidenceRows(bundle, gap, timeZone))
  const blocks = groups.flatMap((group, i): Block[] => {
    const lines = group.flatMap(({ label, lines: texts }) =>
      texts.map((text, at) => (at === 0 ? t`${strong(`${label}:`)} ${text}` : t`${indent}${text}`)),
    )
    const block = lines.length > 0 ? [section(lines, 'attached', 2_400)] : []
    return i === 0 ? [...block, ...peerBlocks(bundle, gap)] : block
  })
  const of = attachedAt === undefined ? '' : `, as first read ${weekday(attachedAt, timeZone)}`
  return message(headline(bundle, gap), [
    section([titleOf(bundle, timeZone)]),
    ...blocks,
    context([
      t`Attached${of}: every address with its verdict, the command as it ran, and the answers. Next: the verdict, below.`,
    ]),
  ])
}

const shownPeers = 8

const peerBlocks = (bundle: Bundle, gap: Answer<Gap>): Block[] => {
  const rows = peerTable(bundle, gap)
  const left = rows.length - 1 - shownPeers
  const notes = [
    ...(bundle.peers.length === 0 ? [t`${strong('Other nodes:')} none was measured beside this one`] : []),
    ...(left > 0 ? [t`${many(left, 'more node')}, attached`] : []),
  ]
  return [
    table(rows.slice(0, shownPeers + 1), ['left', 'right', 'right', 'right']),
    ...(notes.length > 0 ? [context(notes)] : []),
  ]
}
