import { shownDuration } from '../core/duration.js'
import type { IncidentState } from '../core/incident/incident.js'
import { movedAway, type Ticket } from '../core/incident/ticket.js'
import { type Message, message, section } from './blocks.js'
import { many, oneLine, strong, type Text, t } from './text.js'
import { near } from './time.js'

const endText = (ticket: Ticket): Text => {
  const { ended, node } = ticket
  if (!ended)
    return ticket.kind === 'stuck-rollout'
      ? t`${strong(`${ticket.ready} of ${ticket.desired}`)}, still stuck: a DaemonSet cannot move`
      : t`${strong('still stuck')}`
  const waited = `waited ${shownDuration(ended.at - ticket.since)}`
  const { replacement } = ended
  const where = replacement
    ? replacement.node === node
      ? `, its replacement started here in ${shownDuration(replacement.afterMs)}`
      : `, its replacement started on ${replacement.node} in ${shownDuration(replacement.afterMs)}`
    : ''
  switch (ended.how) {
    case 'deleted':
      return t`${waited}, deleted${where}`
    case 'started':
      return t`${waited}, then started here`
    case 'finished':
      return t`${waited}, finished${where}`
    case 'rollout-complete':
      return t`${waited}, complete again${ticket.desired === undefined ? '' : ` (${ticket.desired} of ${ticket.desired})`}`
  }
}

const ticketLine = (ticket: Ticket, number: number, reading: number, timeZone: string): Text => {
  const { namespace, name, kind } = ticket.workload
  return t`${number}. ${near(ticket.since, reading, timeZone)} · ${oneLine(`${namespace}/${name}`)} (${kind}) · ${endText(ticket)}`
}

/** P-R2: that moving a Pod helped is evidence against the node. */
const lesson = ({ tickets }: IncidentState): Text => {
  const moved = tickets.filter(movedAway).length
  const open = tickets.filter(ticket => !ticket.ended).length
  const next =
    open > 0 ? `${many(open, 'ticket')} still open.` : 'None is open now; that alone closes nothing.'
  if (moved === 0) return t`${next}`
  const all = tickets.length === 1 ? 'It was on this node.' : `All ${tickets.length} were on this node.`
  return t`Moving a Pod helped ${moved} of these and repaired nothing. ${all} ${next}`
}

/** C3: one list a node, in order of time. */
export const ticketsMessage = (incident: IncidentState, timeZone: string): Message => {
  const { tickets, node } = incident
  const reading = Math.max(...tickets.map(ticket => ticket.lastSeen))
  const title = t`${strong(`Tickets on ${node}`)} (oldest first)`
  // A long list keeps its newest; the oldest says since when.
  const shown = tickets.length > 25 ? tickets.slice(-25) : tickets
  const first = tickets.length - shown.length
  return message(t`${many(tickets.length, 'ticket')} on ${node}`, [
    section(
      [
        title,
        ...(first > 0 ? [t`… ${first} older ones`] : []),
        ...shown.map((ticket, i) => ticketLine(ticket, first + i + 1, reading, timeZone)),
        lesson(incident),
      ],
      'not shown',
    ),
  ])
}
