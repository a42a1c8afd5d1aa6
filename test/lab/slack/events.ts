import { apiMessage } from './posting.js'
import type { SocketMode } from './socket.js'
import type { Workspace } from './state.js'
import type { Change, Fields, Message } from './types.js'

/**
 * Turns what happens in the workspace into Events API envelopes, for the channels the bot is a member of. The bot's own
 * messages and edits come back to it too, as they do in Slack.
 */
export function sendEvents(workspace: Workspace, socket: SocketMode): () => void {
  return workspace.onChange(change => {
    for (const event of eventsOf(workspace, change)) sendEvent(workspace, socket, event)
  })
}

export function sendEvent(workspace: Workspace, socket: SocketMode, event: Fields): void {
  const payload = {
    token: 'local',
    team_id: workspace.team.id,
    api_app_id: workspace.appId,
    event,
    type: 'event_callback',
    event_id: workspace.ids.next('Ev'),
    event_time: Math.floor(workspace.now() / 1000),
    authorizations: [
      {
        enterprise_id: null,
        team_id: workspace.team.id,
        user_id: workspace.bot.id,
        is_bot: true,
        is_enterprise_install: false,
      },
    ],
    is_ext_shared_channel: false,
    event_context: 'local',
  }
  void socket.deliver('events_api', payload)
}

function eventsOf(workspace: Workspace, change: Change): Fields[] {
  if (change.kind !== 'message' && change.kind !== 'removed') return []
  const { message } = change
  const channel = workspace.channelNamed(message.channel)
  if (message.ephemeral_to !== undefined || !channel.members.includes(workspace.bot.id)) return []
  const where = {
    channel: channel.id,
    channel_type: channel.is_im ? 'im' : channel.is_private ? 'group' : 'channel',
  }
  if (change.kind === 'removed') return [changed(workspace, where, 'message_deleted', message)]
  if (change.how === 'touched') return []
  if (change.how === 'edited') return [changed(workspace, where, 'message_changed', change.previous, message)]
  const event = { ...bare(workspace, message), ...where, event_ts: message.ts }
  const mentioned = message.text.includes(`<@${workspace.bot.id}>`) && message.bot_id === undefined
  return mentioned ? [{ ...event, type: 'app_mention' }, event] : [event]
}

function changed(
  workspace: Workspace,
  where: Fields,
  subtype: string,
  before: Message,
  after?: Message,
): Fields {
  const ts = workspace.nextTs(before.channel)
  return {
    type: 'message',
    subtype,
    hidden: true,
    ...where,
    ts,
    event_ts: ts,
    previous_message: bare(workspace, before),
    ...(after === undefined ? { deleted_ts: before.ts } : { message: bare(workspace, after) }),
  }
}

const bare = (workspace: Workspace, message: Message): Fields => apiMessage(workspace, message)
