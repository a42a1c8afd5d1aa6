import type { Method } from '../parts.js'
import type { Workspace } from '../state.js'
import { type Fields, SlackError, type User, type UserGroup } from '../types.js'
import { channelOf } from './channels.js'

const authTest: Method = (_args, { workspace, url }) => ({
  url: `${url()}/`,
  team: workspace.team.name,
  user: workspace.bot.name,
  team_id: workspace.team.id,
  user_id: workspace.bot.id,
  bot_id: workspace.botId,
  is_enterprise_install: false,
})

const usersInfo: Method = (args, { workspace }) => {
  const user = workspace.users.find(each => each.id === args.required('user'))
  if (user === undefined) throw new SlackError('user_not_found')
  return { user: apiUser(workspace, user) }
}

const usersList: Method = (_args, { workspace }) => ({
  members: workspace.users.map(user => apiUser(workspace, user)),
  response_metadata: { next_cursor: '' },
})

const apiUser = (workspace: Workspace, user: User): Fields => ({
  id: user.id,
  team_id: workspace.team.id,
  name: user.name,
  real_name: user.real_name,
  deleted: user.deleted,
  is_bot: user.is_bot,
  is_app_user: false,
  is_restricted: false,
  is_ultra_restricted: false,
  tz: 'Etc/UTC',
  tz_offset: 0,
  profile: { real_name: user.real_name, display_name: user.name },
})

const groupsList: Method = (args, { workspace }) => ({
  usergroups: workspace.groups.map(group => apiGroup(workspace, group, args.flag('include_users') ?? false)),
})

const groupUsers: Method = (args, { workspace }) => {
  const group = workspace.groups.find(each => each.id === args.required('usergroup'))
  if (group === undefined) throw new SlackError('no_such_subteam')
  return { users: group.users }
}

const apiGroup = (workspace: Workspace, group: UserGroup, withUsers: boolean): Fields => ({
  id: group.id,
  team_id: workspace.team.id,
  is_usergroup: true,
  name: group.name,
  handle: group.handle,
  date_delete: 0,
  user_count: group.users.length,
  ...(withUsers ? { users: group.users } : {}),
})

const botsInfo: Method = (args, { workspace }) => {
  const id = args.text('bot') ?? workspace.botId
  if (id !== workspace.botId) throw new SlackError('bot_not_found')
  const { bot, appId } = workspace
  return {
    bot: { id, deleted: false, name: bot.real_name, updated: 0, app_id: appId, user_id: bot.id, icons: {} },
  }
}

const addReaction: Method = (args, { workspace }) => {
  const channel = channelOf(workspace, args)
  const message = workspace.message(channel.id, args.required('timestamp'))
  if (message === undefined) throw new SlackError('message_not_found')
  const name = args.required('name').replaceAll(':', '')
  if (!/^[a-z0-9_+'-]+$/.test(name)) throw new SlackError('invalid_name')
  const reactions = (message.reactions ?? []).map(each => ({ ...each, users: [...each.users] }))
  const same = reactions.find(each => each.name === name)
  if (same?.users.includes(workspace.bot.id)) throw new SlackError('already_reacted')
  if (same === undefined) reactions.push({ name, count: 1, users: [workspace.bot.id] })
  else {
    same.count += 1
    same.users.push(workspace.bot.id)
  }
  workspace.change(message, { reactions }, 'touched')
  return {}
}

export const people: Record<string, Method> = {
  'auth.test': authTest,
  'users.info': usersInfo,
  'users.list': usersList,
  'usergroups.list': groupsList,
  'usergroups.users.list': groupUsers,
  'bots.info': botsInfo,
  'reactions.add': addReaction,
}
