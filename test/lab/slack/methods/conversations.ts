import type { Args } from '../args.js'
import { compareTs } from '../ids.js'
import type { Method } from '../parts.js'
import { apiMessage } from '../posting.js'
import type { Workspace } from '../state.js'
import { type Channel, type Fields, type Message, SlackError } from '../types.js'
import { channelOf, readableChannel } from './channels.js'

/** The root first, then the replies in order of time. The `ts` of a reply gives that reply alone. */
const replies: Method = (args, { workspace }) => {
  const channel = readableChannel(workspace, args)
  const ts = args.required('ts')
  const thread = workspace.thread(channel.id, ts)
  if (thread.length === 0) throw new SlackError('thread_not_found')
  const root = thread[0]
  const later = thread.slice(1).filter(inSpan(args))
  return page(workspace, args, root === undefined ? later : [root, ...later], 1000)
}

/** Newest first, without the replies of threads. */
const history: Method = (args, { workspace }) => {
  const channel = readableChannel(workspace, args)
  const roots = workspace
    .messages(channel.id)
    .filter(each => each.thread_ts === undefined && inSpan(args)(each))
  return page(workspace, args, roots.reverse(), 100)
}

const inSpan = (args: Args): ((message: Message) => boolean) => {
  const oldest = args.text('oldest') ?? '0'
  const latest = args.text('latest')
  const edge = args.flag('inclusive') === true ? 0 : 1
  return message =>
    (oldest === '0' || compareTs(message.ts, oldest) >= edge) &&
    (latest === undefined || compareTs(latest, message.ts) >= edge)
}

function page(workspace: Workspace, args: Args, all: Message[], most: number): Fields {
  const limit = Math.min(args.number('limit', most), most)
  const start = cursorOf(args)
  const metadata = args.flag('include_all_metadata') ?? false
  const messages = all.slice(start, start + limit).map(message => apiMessage(workspace, message, metadata))
  return { messages, ...more(start + limit, all.length) }
}

function cursorOf(args: Args): number {
  const cursor = args.text('cursor')
  if (cursor === undefined) return 0
  const at = Number(/^next:(\d+)$/.exec(Buffer.from(cursor, 'base64').toString())?.[1])
  if (!Number.isInteger(at)) throw new SlackError('invalid_cursor')
  return at
}

const more = (next: number, total: number): Fields =>
  next < total
    ? { has_more: true, response_metadata: { next_cursor: Buffer.from(`next:${next}`).toString('base64') } }
    : { has_more: false, response_metadata: { next_cursor: '' } }

const info: Method = (args, { workspace }) => ({
  channel: apiChannel(workspace, channelOf(workspace, args)),
})

const list: Method = (args, { workspace }) => {
  const types = (args.text('types') ?? 'public_channel').split(',')
  const wanted = (channel: Channel): boolean =>
    types.includes(channel.is_im ? 'im' : channel.is_private ? 'private_channel' : 'public_channel')
  const all = workspace.channels.filter(wanted)
  const start = cursorOf(args)
  const limit = args.number('limit', 100)
  const channels = all.slice(start, start + limit).map(channel => apiChannel(workspace, channel))
  return { channels, ...more(start + limit, all.length) }
}

const open: Method = (args, { workspace }) => {
  const users = args.required('users')
  if (!workspace.users.some(user => user.id === users)) throw new SlackError('user_not_found')
  return { channel: { id: workspace.openIm(users).id } }
}

const join: Method = (args, { workspace }) => {
  const channel = channelOf(workspace, args)
  if (channel.is_im || channel.is_private) throw new SlackError('method_not_supported_for_channel_type')
  if (channel.is_archived) throw new SlackError('is_archived')
  if (!channel.members.includes(workspace.bot.id)) {
    channel.members.push(workspace.bot.id)
    workspace.announce({ kind: 'channel', channel: channel.id })
  }
  return { channel: apiChannel(workspace, channel) }
}

const apiChannel = (workspace: Workspace, channel: Channel): Fields => ({
  id: channel.id,
  name: channel.name,
  is_channel: !channel.is_im,
  is_im: channel.is_im,
  is_private: channel.is_private,
  is_archived: channel.is_archived,
  is_member: channel.members.includes(workspace.bot.id),
  topic: { value: channel.topic, creator: '', last_set: 0 },
  num_members: channel.members.length,
})

export const conversations: Record<string, Method> = {
  'conversations.replies': replies,
  'conversations.history': history,
  'conversations.info': info,
  'conversations.list': list,
  'conversations.open': open,
  'conversations.join': join,
}
