import type { Counts, IncidentState, Recount } from '../core/incident/incident.js'
import { type Message, message, section } from './blocks.js'
import { oneLine, strong, type Text, t } from './text.js'
import { near } from './time.js'

const countsText = (counts: Counts, before: Counts | undefined): Text => {
  const earlier = before ? ` (before: ${before.orphaned})` : ''
  return t`${counts.taken} addresses taken, ${counts.live} with a sandbox, ${strong(`${counts.orphaned} without${earlier}`)}`
}

const outcomeText = ({ matched, counts }: Recount, incident: IncidentState, timeZone: string): Text => {
  const { node, recountAt, opened } = incident
  const next =
    recountAt === undefined ? '' : ` Next count ${near(recountAt, opened?.at ?? recountAt, timeZone)}.`
  if (matched === undefined) return t`It could not be counted, so nothing is proven.${next}`
  if (matched) return t`Every address has its sandbox: ${node} is resolved.${next}`
  const again = 'Opened again: an approver must choose, at the top of this thread.'
  return counts && counts.orphaned > 0
    ? t`The leak is still active: it was tidied, not repaired. ${again}`
    : t`What was checked does not hold. ${again}`
}

/** The day after: the same numbers again. `n` counts from 0. */
export const recountMessage = (incident: IncidentState, n: number, timeZone: string): Message | undefined => {
  const recount = incident.recounts[n]
  if (!recount) return undefined
  const before = incident.recounts[n - 1]?.counts
  const at = near(recount.at, incident.opened?.at ?? recount.at, timeZone)
  const last = n === incident.recounts.length - 1
  const outcome = outcomeText(recount, last ? incident : { ...incident, recountAt: undefined }, timeZone)
  const title = t`${strong(`Counted again, ${at}`)}`
  const counts = recount.counts ? [countsText(recount.counts, before)] : []
  const says = recount.says === '' ? [] : [t`${oneLine(recount.says)}`]
  return message(t`Counted ${incident.node} again. ${outcome}`, [
    section([title, ...counts, ...says, outcome]),
  ])
}
