import { sendEvent } from './events.js'
import { type EnteredValues, findElement, inputErrors, stateOf, stateValues } from './input.js'
import type { Parts } from './parts.js'
import { apiMessage, post } from './posting.js'
import type { Outcome } from './socket.js'
import type { Block, Fields, Message, User, View } from './types.js'

export interface Press {
  /** Name or id. */
  user: string
  channel: string
  ts: string
  actionId: string
  /** Replaces the button's own value: a client that still shows an older message. For menus and boxes: what was chosen. */
  value?: string | string[]
  blockId?: string
  /** What is entered in the message's own inputs, by block id and action id. */
  state?: EnteredValues
}

export interface Submission {
  user: string
  viewId: string
  values?: EnteredValues
}

/** `errors` are by block id: from the app, or from Slack's own check, when nothing was sent at all. */
export type SubmitOutcome = Outcome & { errors?: Record<string, string> }

/** People at work: each call sends what Slack would send, and shows the person what Slack would show. */
export class Interactions {
  private readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
  }

  async press(press: Press): Promise<Outcome> {
    const { workspace, responses, url } = this.parts
    const user = workspace.userNamed(press.user)
    const channel = workspace.channelNamed(press.channel)
    const message = workspace.message(channel.id, press.ts)
    if (message === undefined) throw new Error(`no message ${press.ts} in ${channel.name}`)
    const action = this.action(message.blocks ?? [], press, `message ${press.ts}`)
    const ephemeral = message.ephemeral_to !== undefined
    const thread = message.thread_ts === undefined ? {} : { thread_ts: message.thread_ts }
    const payload = {
      ...this.blockActions(user, action, url() + responses.issue(user.id, channel.id, message)),
      container: {
        type: 'message',
        message_ts: message.ts,
        channel_id: channel.id,
        is_ephemeral: ephemeral,
        ...thread,
      },
      channel: { id: channel.id, name: channel.name },
      state: { values: stateValues(message.blocks ?? [], press.state ?? {}) },
      ...(ephemeral ? {} : { message: apiMessage(workspace, message) }),
    }
    const outcome = await this.parts.socket.deliver('interactive', payload)
    this.show(outcome, user, channel.id, press.actionId, message)
    return outcome
  }

  async pressInView(press: Omit<Press, 'channel' | 'ts'> & { viewId: string }): Promise<Outcome> {
    const user = this.parts.workspace.userNamed(press.user)
    const view = this.parts.views.of(user.id, press.viewId)
    if (press.state !== undefined) this.parts.views.setState(view, stateValues(view.blocks, press.state))
    const payload = {
      ...this.blockActions(user, this.action(view.blocks, press, `view ${view.id}`)),
      container: { type: 'view', view_id: view.id },
      view,
    }
    const outcome = await this.parts.socket.deliver('interactive', payload)
    this.show(outcome, user, '', press.actionId)
    return outcome
  }

  /** `text` is the whole line, with the slash. */
  async command(line: { user: string; channel: string; text: string }): Promise<Outcome> {
    const { workspace, responses, triggers, socket, url } = this.parts
    const user = workspace.userNamed(line.user)
    const channel = workspace.channelNamed(line.channel)
    const [command = '', ...words] = line.text.trim().split(' ')
    const payload = {
      token: 'local',
      team_id: workspace.team.id,
      team_domain: workspace.team.domain,
      channel_id: channel.id,
      channel_name: channel.name,
      user_id: user.id,
      user_name: user.name,
      command,
      text: words.join(' ').trim(),
      api_app_id: workspace.appId,
      is_enterprise_install: 'false',
      response_url: url() + responses.issue(user.id, channel.id),
      trigger_id: triggers.issue(user.id),
    }
    const outcome = await socket.deliver('slash_commands', payload)
    this.show(outcome, user, channel.id, command)
    const says = outcome.acked && (outcome.payload.text !== undefined || outcome.payload.blocks !== undefined)
    if (says) responses.answer({ user: user.id, channel: channel.id }, outcome.payload)
    return outcome
  }

  async submitView({ user: name, viewId, values = {} }: Submission): Promise<SubmitOutcome> {
    const user = this.parts.workspace.userNamed(name)
    const view = this.parts.views.of(user.id, viewId)
    this.parts.views.setState(view, stateValues(view.blocks, values))
    const errors = inputErrors(view.blocks, view.state.values)
    if (Object.keys(errors).length > 0) return { acked: false, ms: 0, error: 'dispatch_failed', errors }
    const outcome = await this.parts.socket.deliver(
      'interactive',
      this.viewPayload('view_submission', user, view),
    )
    if (!outcome.acked) {
      this.show(outcome, user, '', view.callback_id)
      return outcome
    }
    return this.respond(user, view, outcome)
  }

  /** The person closes the modal; the app hears of it only where it asked to. */
  async closeView(name: string, viewId: string): Promise<void> {
    const user = this.parts.workspace.userNamed(name)
    const view = this.parts.views.of(user.id, viewId)
    this.parts.views.close(user.id, false)
    if (!view.notify_on_close) return
    const payload = { ...this.viewPayload('view_closed', user, view), is_cleared: false }
    await this.parts.socket.deliver('interactive', payload)
  }

  openHome(name: string): void {
    const { workspace, socket, views } = this.parts
    const user = workspace.userNamed(name).id
    const view = views.home(user)
    const channel = workspace.openIm(user).id
    const event_ts = workspace.nextTs(channel)
    const event = { type: 'app_home_opened', user, channel, tab: 'home', event_ts }
    sendEvent(workspace, socket, view === undefined ? event : { ...event, view })
  }

  private respond(user: User, view: View, outcome: Outcome & { acked: true }): SubmitOutcome {
    const { views } = this.parts
    const answer = outcome.payload
    switch (answer.response_action) {
      case 'errors':
        return { ...outcome, errors: answer.errors as Record<string, string> }
      case 'update':
        views.update({ id: view.id }, answer.view)
        return outcome
      case 'push':
        views.push(user.id, answer.view)
        return outcome
      default:
        views.close(user.id, answer.response_action === 'clear' || view.clear_on_close)
        return outcome
    }
  }

  private action(blocks: Block[], press: Omit<Press, 'channel' | 'ts'>, where: string): Fields {
    const found = findElement(blocks, press.actionId)
    if (found === undefined && press.value === undefined) {
      throw new Error(`${where} has no element with action id "${press.actionId}"`)
    }
    const element: Fields = found?.element ?? { type: 'button', text: { type: 'plain_text', text: '' } }
    const block_id = press.blockId ?? found?.block.block_id ?? 'gone'
    const action_ts = (this.parts.workspace.now() / 1000).toFixed(6)
    const base = { action_id: press.actionId, block_id, action_ts, type: element.type }
    if (element.type !== 'button') return { ...base, ...stateOf(element, press.value) }
    const { text, style, value, url } = element
    return { ...base, text, style, url, value: press.value === undefined ? value : [press.value].flat()[0] }
  }

  private from(user: User): Fields {
    const { workspace, triggers } = this.parts
    return {
      user: { id: user.id, username: user.name, name: user.name, team_id: workspace.team.id },
      api_app_id: workspace.appId,
      token: 'local',
      trigger_id: triggers.issue(user.id),
      team: { id: workspace.team.id, domain: workspace.team.domain },
      enterprise: null,
      is_enterprise_install: false,
    }
  }

  private blockActions(user: User, action: Fields, response_url?: string): Fields {
    const url = response_url === undefined ? {} : { response_url }
    return { type: 'block_actions', ...this.from(user), ...url, actions: [action] }
  }

  private viewPayload(type: string, user: User, view: View): Fields {
    return { type, ...this.from(user), view, response_urls: [] }
  }

  /** What Slack shows when nobody acknowledged: a mark at the button, or a line of its own under a command. */
  private show(outcome: Outcome, user: User, channel: string, what: string, message?: Message): void {
    if (outcome.acked) return
    const { workspace } = this.parts
    const at = message === undefined ? {} : { ts: message.ts, actionId: what }
    workspace.fail({ user: user.id, channel, error: outcome.error, what, ...at })
    if (!what.startsWith('/')) return
    const text = `${what} failed with the error "${outcome.error}"`
    post(workspace, { user: 'USLACKBOT', username: 'Slackbot' }, { channel, text }, user.id)
  }
}
