import { isFields } from './args.js'
import { blockCharacters, blockProblems, MOST_BLOCK_CHARACTERS } from './limits/blocks.js'
import type { Workspace } from './state.js'
import { type Block, type Fields, type Message, type SlackFile, SlackError } from './types.js'

/** Longer text arrives as several messages; the number is a measurement by others, not Slack's word. */
export const LONGEST_MESSAGE = 4_040
export const LONGEST_TEXT = 40_000

/** Checks blocks as Slack does and gives the ids that Slack would invent; `undefined` stays that. */
export function acceptBlocks(workspace: Workspace, blocks: unknown): Block[] | undefined {
  if (blocks === undefined) return undefined
  if (!Array.isArray(blocks)) throw new SlackError('invalid_blocks_format')
  const problems = blockProblems(blocks, 'message')
  if (problems.length > 0)
    throw new SlackError('invalid_blocks', { response_metadata: { messages: problems } })
  if (blockCharacters(blocks) > MOST_BLOCK_CHARACTERS) throw new SlackError('msg_blocks_too_long')
  return withIds(workspace, blocks as Block[])
}

/** Slack invents the ids that were not given; a click names both. */
export function withIds(workspace: Workspace, blocks: Block[]): Block[] {
  const named = (element: unknown): unknown =>
    isFields(element) && interactive(element) && element.action_id === undefined
      ? { ...element, action_id: workspace.ids.next('a') }
      : element
  return blocks.map(block => {
    const next: Block = { ...block, block_id: block.block_id ?? workspace.ids.next('b') }
    if (block.type === 'actions' && Array.isArray(block.elements)) next.elements = block.elements.map(named)
    if (block.type === 'section' && block.accessory !== undefined) next.accessory = named(block.accessory)
    if (block.type === 'input') next.element = named(block.element)
    return next
  })
}

const interactive = (element: Fields): boolean => element.type !== 'image'

export interface Draft {
  channel: string
  text: string
  blocks?: Block[] | undefined
  attachments?: Fields[] | undefined
  thread_ts?: string | undefined
  metadata?: Message['metadata'] | undefined
  files?: SlackFile[] | undefined
}

export type Author = Pick<Message, 'user' | 'bot_id' | 'app_id' | 'username' | 'subtype'>

export const botAuthor = (workspace: Workspace): Author => ({
  user: workspace.bot.id,
  bot_id: workspace.botId,
  app_id: workspace.appId,
})

/**
 * Stores a message. A `thread_ts` that names no message is dropped without a word, and the message lands in the
 * channel: the answer without `message.thread_ts` is the only sign (slack-go/slack#1571).
 */
export function post(workspace: Workspace, author: Author, draft: Draft, ephemeralTo?: string): Message {
  const parent = draft.thread_ts === undefined ? undefined : workspace.message(draft.channel, draft.thread_ts)
  const message: Message = {
    type: 'message',
    ...author,
    ts: workspace.nextTs(draft.channel),
    channel: draft.channel,
    team: workspace.team.id,
    text: draft.text.slice(0, LONGEST_TEXT),
  }
  if (draft.blocks !== undefined && draft.blocks.length > 0) message.blocks = draft.blocks
  if (draft.attachments !== undefined) message.attachments = draft.attachments
  if (draft.files !== undefined) message.files = draft.files
  if (draft.metadata !== undefined) message.metadata = draft.metadata
  if (parent !== undefined) message.thread_ts = parent.thread_ts ?? parent.ts
  if (ephemeralTo !== undefined) message.ephemeral_to = ephemeralTo
  return workspace.add(message)
}

/** Text that is too long for one message, cut where Slack cuts it. */
export function cut(text: string): string[] {
  const whole = text.slice(0, LONGEST_TEXT)
  const parts: string[] = []
  for (let at = 0; at < whole.length; at += LONGEST_MESSAGE) parts.push(whole.slice(at, at + LONGEST_MESSAGE))
  return parts.length === 0 ? [''] : parts
}

/** A message as the Web API returns it; metadata only where it was asked for. */
export function apiMessage(workspace: Workspace, message: Message, metadata = false): Fields {
  const { channel, ephemeral_to, metadata: kept, ...rest } = message
  const answer: Fields = { ...rest }
  if (metadata && kept !== undefined) answer.metadata = kept
  if (ephemeral_to !== undefined || message.thread_ts !== undefined) return answer
  const replies = workspace.thread(channel, message.ts).slice(1)
  if (replies.length === 0) return answer
  const people = [...new Set(replies.map(reply => reply.user ?? reply.bot_id ?? ''))]
  return {
    ...answer,
    thread_ts: message.ts,
    reply_count: replies.length,
    reply_users: people,
    reply_users_count: people.length,
    latest_reply: replies.at(-1)?.ts,
  }
}
