import { EventEmitter } from 'node:events'
import { Counter, compareTs, MessageTimes, readableId } from './ids.js'
import type {
  Change,
  Channel,
  Failure,
  LocalSlackOptions,
  Message,
  SlackFile,
  User,
  UserGroup,
} from './types.js'

const defaultChannels = [
  { name: 'incidents', topic: 'One thread per node' },
  { name: 'alerts', topic: 'What alerting posts' },
  { name: 'general', topic: '', botIsMember: false },
]
const defaultUsers = [
  { name: 'approver', realName: 'On-call approver' },
  { name: 'second-approver', realName: 'Second approver' },
  { name: 'developer', realName: 'Developer' },
]
const defaultGroups = [{ handle: 'sre-oncall', name: 'SRE on call', users: ['approver', 'second-approver'] }]

/** Everything the workspace holds, in memory. Every change is announced once, after it happened. */
export class Workspace {
  readonly team: { id: string; name: string; domain: string }
  readonly appId = 'ACNIBOT'
  readonly botId = 'BCNIBOT'
  readonly bot: User
  readonly users: User[]
  readonly groups: UserGroup[]
  readonly channels: Channel[]
  readonly files = new Map<string, { file: SlackFile; content: Buffer }>()
  readonly failures: Failure[] = []
  readonly ids = new Counter()
  private readonly clock: { now(): number }
  private readonly times = new Map<string, MessageTimes>()
  private readonly kept: Message[] = []
  private readonly emitter = new EventEmitter().setMaxListeners(0)

  constructor(options: LocalSlackOptions) {
    this.clock = options.clock ?? { now: () => Date.now() }
    const { id = 'TLOCAL', name = 'Local Slack', domain = 'local' } = options.team ?? {}
    this.team = { id, name, domain }
    const botName = options.bot?.name ?? 'cnibot'
    this.bot = userOf({ name: botName, realName: options.bot?.realName ?? botName, isBot: true })
    this.users = [this.bot, ...(options.users ?? defaultUsers).map(userOf)]
    this.groups = (options.userGroups ?? defaultGroups).map(group => ({
      id: readableId('S', group.handle),
      handle: group.handle,
      name: group.name ?? group.handle,
      users: group.users.map(member => this.userNamed(member).id),
    }))
    this.channels = (options.channels ?? defaultChannels).map(channel => this.channelOf(channel))
    for (const list of [this.users, this.channels, this.groups]) refuseDoubles(list.map(each => each.id))
  }

  now(): number {
    return this.clock.now()
  }

  nextTs(channel: string): string {
    let times = this.times.get(channel)
    if (times === undefined) {
      times = new MessageTimes()
      this.times.set(channel, times)
    }
    return times.next(this.now())
  }

  userNamed(nameOrId: string): User {
    const bare = nameOrId.replace(/^@/, '')
    const found = this.users.find(user => user.id === bare || user.name === bare)
    if (found === undefined) throw new Error(`local Slack has no user "${nameOrId}"`)
    return found
  }

  channelNamed(nameOrId: string): Channel {
    const bare = nameOrId.replace(/^#/, '')
    const found = this.channels.find(channel => channel.id === bare || channel.name === bare)
    if (found === undefined) throw new Error(`local Slack has no channel "${nameOrId}"`)
    return found
  }

  openIm(userId: string): Channel {
    const id = `D${userId.slice(1)}`
    const found = this.channels.find(channel => channel.id === id)
    if (found !== undefined) return found
    const members = [userId, this.bot.id]
    const im = { id, name: id, is_im: true, is_private: true, is_archived: false, members, topic: '' }
    this.channels.push(im)
    this.announce({ kind: 'channel', channel: id })
    return im
  }

  /** Oldest first. Ephemeral messages are left out unless asked for. */
  messages(channel?: string, ephemeral = false): Message[] {
    return this.kept.filter(
      message =>
        (channel === undefined || message.channel === channel) &&
        (ephemeral || message.ephemeral_to === undefined),
    )
  }

  message(channel: string, ts: string): Message | undefined {
    return this.kept.find(message => message.channel === channel && message.ts === ts)
  }

  thread(channel: string, ts: string): Message[] {
    return this.messages(channel)
      .filter(message => message.ts === ts || message.thread_ts === ts)
      .sort((a, b) => compareTs(a.ts, b.ts))
  }

  add(message: Message): Message {
    this.kept.push(message)
    this.announce({ kind: 'message', message, how: 'posted' })
    return message
  }

  change(message: Message, next: Partial<Message>, how: 'edited' | 'touched'): void {
    const previous = { ...message }
    Object.assign(message, next)
    this.announce({ kind: 'message', message, how, previous })
  }

  remove(message: Message): void {
    this.kept.splice(this.kept.indexOf(message), 1)
    const to = message.ephemeral_to === undefined ? {} : { user: message.ephemeral_to }
    this.announce({ kind: 'removed', channel: message.channel, ts: message.ts, message, ...to })
  }

  fail(failure: Failure): void {
    this.failures.push(failure)
    this.announce({ kind: 'failure', failure })
  }

  announce(change: Change): void {
    this.emitter.emit('change', change)
  }

  /** Returns the function that ends the subscription. */
  onChange(listener: (change: Change) => void): () => void {
    this.emitter.on('change', listener)
    return () => this.emitter.off('change', listener)
  }

  private channelOf(from: NonNullable<LocalSlackOptions['channels']>[number]): Channel {
    const people = this.users.filter(user => !user.is_bot).map(user => user.id)
    return {
      id: from.id ?? readableId('C', from.name),
      name: from.name,
      is_im: false,
      is_private: from.isPrivate ?? false,
      is_archived: false,
      members: from.botIsMember === false ? people : [...people, this.bot.id],
      topic: from.topic ?? '',
    }
  }
}

const userOf = (from: NonNullable<LocalSlackOptions['users']>[number]): User => ({
  id: from.id ?? readableId('U', from.name),
  name: from.name,
  real_name: from.realName ?? from.name,
  is_bot: from.isBot ?? false,
  deleted: from.deleted ?? false,
})

const refuseDoubles = (ids: string[]): void => {
  const double = ids.find((id, at) => ids.indexOf(id) !== at)
  if (double !== undefined) throw new Error(`local Slack: two names give the same id ${double}`)
}
