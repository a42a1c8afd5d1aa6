import type { Args } from '../args.js'
import type { Workspace } from '../state.js'
import { type Channel, SlackError } from '../types.js'

/** The channel of a call: by id, by `#name`, or a user id for a direct message. */
export function channelOf(workspace: Workspace, args: Args, name = 'channel'): Channel {
  const wanted = args.required(name)
  const bare = wanted.replace(/^#/, '')
  if (workspace.users.some(user => user.id === bare)) return workspace.openIm(bare)
  const found = workspace.channels.find(
    channel => channel.id === bare || (wanted !== bare && channel.name === bare),
  )
  if (found === undefined) throw new SlackError('channel_not_found')
  return found
}

/** The same, where the bot must be a member to write. */
export function writableChannel(workspace: Workspace, args: Args, name = 'channel'): Channel {
  const channel = channelOf(workspace, args, name)
  if (channel.is_archived) throw new SlackError('is_archived')
  if (!channel.members.includes(workspace.bot.id)) throw new SlackError('not_in_channel')
  return channel
}

export const readableChannel = (workspace: Workspace, args: Args): Channel => {
  const channel = channelOf(workspace, args)
  if (!channel.members.includes(workspace.bot.id)) throw new SlackError('not_in_channel')
  return channel
}
