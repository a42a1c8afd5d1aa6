import { type Args, isFields } from '../args.js'
import type { Method } from '../parts.js'
import { acceptBlocks, apiMessage, botAuthor, cut, type Draft, post } from '../posting.js'
import type { Workspace } from '../state.js'
import { type Message, SlackError } from '../types.js'
import { channelOf, writableChannel } from './channels.js'

const postMessage: Method = (args, { workspace }) => {
  const channel = writableChannel(workspace, args)
  const draft = draftOf(workspace, args, channel.id)
  const [first = '', ...more] = draft.blocks === undefined ? cut(draft.text) : [draft.text]
  const author = botAuthor(workspace)
  const message = post(workspace, author, { ...draft, text: first })
  for (const text of more) post(workspace, author, { channel: channel.id, text, thread_ts: draft.thread_ts })
  return { channel: channel.id, ts: message.ts, message: apiMessage(workspace, message, true) }
}

const postEphemeral: Method = (args, { workspace }) => {
  const channel = writableChannel(workspace, args)
  const user = args.required('user')
  if (!channel.members.includes(user)) throw new SlackError('user_not_in_channel')
  const message = post(workspace, botAuthor(workspace), draftOf(workspace, args, channel.id), user)
  return { message_ts: message.ts }
}

/** Blocks and metadata that are not given stay as they were; an empty list or object takes them away. */
const update: Method = (args, { workspace }) => {
  const message = ownMessage(workspace, args, 'cant_update_message')
  const blocks = acceptBlocks(workspace, args.json('blocks', 'invalid_blocks_format'))
  const text = args.text('text')
  if (text === undefined && blocks === undefined && !args.has('attachments')) throw new SlackError('no_text')
  if (text !== undefined && Buffer.byteLength(text) > 4_000) throw new SlackError('msg_too_long')
  const next: Partial<Message> = { text: text ?? message.text }
  if (blocks !== undefined) next.blocks = blocks
  const metadata = metadataOf(args)
  if (metadata !== undefined) next.metadata = metadata
  // Slack marks a message as edited when its words changed; one whose blocks alone changed carries no mark.
  if (text !== undefined && text !== message.text) {
    next.edited = { user: workspace.bot.id, ts: `${Math.floor(workspace.now() / 1000)}.000000` }
  }
  workspace.change(message, next, 'edited')
  return {
    channel: message.channel,
    ts: message.ts,
    text: message.text,
    message: apiMessage(workspace, message, true),
  }
}

const remove: Method = (args, { workspace }) => {
  const message = ownMessage(workspace, args, 'cant_delete_message')
  workspace.remove(message)
  return { channel: message.channel, ts: message.ts }
}

const getPermalink: Method = (args, { workspace, url }) => {
  const channel = channelOf(workspace, args)
  const message = workspace.message(channel.id, args.required('message_ts'))
  if (message === undefined) throw new SlackError('message_not_found')
  const place = [channel.id, message.thread_ts ?? message.ts]
  if (message.thread_ts !== undefined) place.push(message.ts)
  return { channel: channel.id, permalink: `${url()}/#${place.join('/')}` }
}

function ownMessage(workspace: Workspace, args: Args, refusal: string): Message {
  const channel = channelOf(workspace, args)
  const message = workspace.message(channel.id, args.required('ts'))
  if (message === undefined || message.ephemeral_to !== undefined) throw new SlackError('message_not_found')
  if (message.bot_id !== workspace.botId) throw new SlackError(refusal)
  return message
}

function draftOf(workspace: Workspace, args: Args, channel: string): Draft {
  const blocks = acceptBlocks(workspace, args.json('blocks', 'invalid_blocks_format'))
  const attachments = args.json('attachments', 'invalid_attachments')
  const text = args.text('text') ?? ''
  if (text.trim() === '' && (blocks ?? []).length === 0 && attachments === undefined)
    throw new SlackError('no_text')
  if (Array.isArray(attachments) && attachments.length > 100) throw new SlackError('too_many_attachments')
  return {
    channel,
    text,
    blocks,
    attachments: Array.isArray(attachments) ? attachments.filter(isFields) : undefined,
    thread_ts: args.text('thread_ts'),
    metadata: metadataOf(args),
  }
}

function metadataOf(args: Args): Message['metadata'] {
  const value = args.json('metadata', 'invalid_metadata_format')
  if (value === undefined) return undefined
  const payload: unknown = isFields(value) ? (value.event_payload ?? {}) : undefined
  if (!isFields(value) || !isFields(payload)) throw new SlackError('invalid_metadata_schema')
  if (JSON.stringify(payload).length > 16_000) throw new SlackError('metadata_too_large')
  if (typeof value.event_type !== 'string') throw new SlackError('invalid_metadata_schema')
  return { event_type: value.event_type, event_payload: payload }
}

export const chat: Record<string, Method> = {
  'chat.postMessage': postMessage,
  'chat.postEphemeral': postEphemeral,
  'chat.update': update,
  'chat.delete': remove,
  'chat.getPermalink': getPermalink,
}
