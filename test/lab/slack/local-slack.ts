import type { Call, Tokens } from './http.js'
import type { Interactions, Press, Submission, SubmitOutcome } from './interactions.js'
import type { Parts } from './parts.js'
import { acceptBlocks, post } from './posting.js'
import type { Outcome } from './socket.js'
import type { Block, Failure, Message, SlackFile, View } from './types.js'

/** Who by name: a person, or another tool's bot such as an alert manager. */
export type PostAs = ({ user: string } | { bot: string }) & {
  channel: string
  text: string
  blocks?: Block[]
  thread_ts?: string
}

/** Faults by name, and the two that happen at once. */
export type FaultSwitches = Parts['faults'] & {
  /** Every connection is told to go. */
  rotate(reason: 'warning' | 'refresh_requested'): void
  /** The newest click or command once more, the same envelope to the letter. */
  replay(): Promise<Outcome>
  appRateLimited(): Promise<Outcome>
}

/** A running local Slack, as tests and the demo hold it. Users and channels are named by name or by id. */
export class LocalSlack {
  readonly url: string
  readonly apiUrl: string
  readonly pageUrl: string
  readonly botToken: string
  readonly appToken: string
  readonly botUserId: string
  readonly faults: FaultSwitches
  private readonly parts: Parts
  private readonly people: Interactions
  private readonly log: Call[]
  private readonly stop: () => Promise<void>

  constructor(parts: Parts, people: Interactions, tokens: Tokens, log: Call[], stop: () => Promise<void>) {
    this.parts = parts
    this.people = people
    this.log = log
    this.stop = stop
    this.url = parts.url()
    this.apiUrl = `${this.url}/api/`
    this.pageUrl = `${this.url}/`
    this.botToken = tokens.bot
    this.appToken = tokens.app
    this.botUserId = parts.workspace.bot.id
    this.faults = Object.assign(parts.faults, {
      rotate: (reason: 'warning' | 'refresh_requested') => parts.socket.rotate(reason),
      replay: () => parts.socket.replay(),
      appRateLimited: () => parts.socket.rateLimited(),
    })
  }

  close(): Promise<void> {
    return this.stop()
  }

  channelId(name: string): string {
    return this.parts.workspace.channelNamed(name).id
  }

  userId(name: string): string {
    return this.parts.workspace.userNamed(name).id
  }

  groupId(handle: string): string {
    const found = this.parts.workspace.groups.find(group => group.handle === handle.replace(/^@/, ''))
    if (found === undefined) throw new Error(`local Slack has no user group "${handle}"`)
    return found.id
  }

  /** Replaces who is in a user group, by name. */
  setGroup(handle: string, users: string[]): void {
    const id = this.groupId(handle)
    const group = this.parts.workspace.groups.find(each => each.id === id)
    group?.users.splice(0, group.users.length, ...users.map(user => this.userId(user)))
  }

  /** Copies, oldest first, ephemeral ones too (see `ephemeral_to`). With `thread_ts`: the root and its replies. */
  messages(channel: string, thread_ts?: string): Message[] {
    const all = this.parts.workspace.messages(this.channelId(channel), true).map(message => ({ ...message }))
    return thread_ts === undefined
      ? all
      : all.filter(message => message.ts === thread_ts || message.thread_ts === thread_ts)
  }

  ephemerals(user?: string): Message[] {
    const to = user === undefined ? undefined : this.userId(user)
    return this.parts.workspace
      .messages(undefined, true)
      .filter(
        message => message.ephemeral_to !== undefined && (to === undefined || message.ephemeral_to === to),
      )
  }

  files(): { file: SlackFile; content: string }[] {
    return [...this.parts.workspace.files.values()].map(({ file, content }) => ({
      file,
      content: content.toString(),
    }))
  }

  /** The modal on top of this person's screen. */
  view(user: string): View | undefined {
    return this.parts.views.top(this.userId(user))
  }

  home(user: string): View | undefined {
    return this.parts.views.home(this.userId(user))
  }

  failures(): Failure[] {
    return [...this.parts.workspace.failures]
  }

  calls(method?: string): Call[] {
    return this.log.filter(call => method === undefined || call.method === method)
  }

  connections(): number {
    return this.parts.socket.size
  }

  /** Envelopes that are not acknowledged yet, and events waiting for a connection. */
  unsettled(): number {
    return this.parts.socket.unsettled
  }

  press(press: Press): Promise<Outcome> {
    return this.people.press(press)
  }

  pressInView(press: Omit<Press, 'channel' | 'ts'> & { viewId: string }): Promise<Outcome> {
    return this.people.pressInView(press)
  }

  command(line: { user: string; channel: string; text: string }): Promise<Outcome> {
    return this.people.command(line)
  }

  submitView(submission: Submission): Promise<SubmitOutcome> {
    return this.people.submitView(submission)
  }

  closeView(user: string, viewId: string): Promise<void> {
    return this.people.closeView(user, viewId)
  }

  openHome(user: string): void {
    this.people.openHome(user)
  }

  postAs(message: PostAs): Message {
    const { workspace } = this.parts
    const { channel, text, blocks, thread_ts } = message
    const from =
      'user' in message
        ? { user: this.userId(message.user) }
        : { subtype: 'bot_message', bot_id: `B${message.bot.toUpperCase()}`, username: message.bot }
    const accepted = acceptBlocks(workspace, blocks)
    return post(workspace, from, { channel: this.channelId(channel), text, blocks: accepted, thread_ts })
  }

  /** Asks again after every change. Rejects after `deadlineMs` of real time, saying what was waited for. */
  waitFor<T>(
    predicate: (slack: LocalSlack) => T | undefined | false,
    deadlineMs: number,
    what = 'a condition',
  ): Promise<T> {
    const now = predicate(this)
    if (now !== undefined && now !== false) return Promise.resolve(now)
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer)
        stop()
      }
      const timer = setTimeout(() => {
        end()
        const last = this.parts.workspace.messages(undefined, true).at(-1)?.text.slice(0, 200) ?? 'none'
        reject(new Error(`waited ${deadlineMs} ms for ${what}; last message: ${last}`))
      }, deadlineMs)
      const stop = this.parts.workspace.onChange(() => {
        try {
          const found = predicate(this)
          if (found === undefined || found === false) return
          end()
          resolve(found)
        } catch (error) {
          end()
          reject(error as Error)
        }
      })
    })
  }
}
