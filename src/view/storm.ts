import type { Storm } from '../core/brakes.js'
import { shownDuration } from '../core/duration.js'
import { context, type Message, message, section } from './blocks.js'
import { code, many, named, person, strong, type Text, t } from './text.js'
import { near } from './time.js'

export interface StormInput {
  cluster: string
  storm: Storm
  /** Who must look, as Slack writes it. */
  escalateTo: string
  timeZone: string
}

const shownNodes = 20

const nodesText = (nodes: readonly string[]): Text => {
  const more = nodes.length - shownNodes
  return t`${nodes.slice(0, shownNodes).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** One message for all nodes of a storm, edited in place; no repair of a node is offered meanwhile. */
export const stormMessage = ({ cluster, storm, escalateTo, timeZone }: StormInput): Message => {
  const { nodes, since, ended } = storm
  const count = many(nodes.length, 'node')
  if (ended) {
    const how = ended.by === 'cnibot' ? t`It ended by itself` : t`${person(ended.by)} declared it over`
    const over = t`🟢 ${strong(`Storm over after ${shownDuration(ended.at - since)}`)} · ${cluster}`
    return message(over, [
      section([
        over,
        t`${count} broke at once ${near(since, since, timeZone)}: ${nodesText(nodes)}. ${how}; what is still open on a node has a thread of its own.`,
      ]),
    ])
  }
  const first = t`🔴 ${strong(`Pods get stuck on ${count} at once`)} · ${cluster}`
  return message(first, [
    section([
      first,
      t`${nodesText(nodes)}; since ${near(since, since, timeZone)}.`,
      t`So many at once are not the fault of one node: look at what they share, such as a rollout of the network agent, the API server, the network between them. No repair of a node is offered until this is over, and nodes that break meanwhile get no thread.`,
      t`${named(escalateTo)} ${strong('must act')}. It ends by itself when they have recovered, or when an approver says so with ${code('/cni resume storm')}.`,
    ]),
    context([t`${code('/cni status')} lists the open incidents`]),
  ])
}
