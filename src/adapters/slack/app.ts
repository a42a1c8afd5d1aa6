import { App, type BlockAction, type ButtonAction } from '@slack/bolt'
import type { KnownBlock, WebClient } from '@slack/web-api'
import { Failed, type Log, type Message, Refused, Unreachable } from '../../ports.js'
import { quietLogger } from './client.js'
import { asPortError, isCode } from './failure.js'
import { type Handled, type Once, onceEach } from './once.js'
import { reasonOf, reasonView, submittedReason } from './reason.js'
import { SocketReceivers } from './receiver.js'

/** A button somebody pressed. Nothing in it is trusted: `value` is decoded and checked by who handles it. */
export interface SlackClick {
  user: string
  team: string
  channel: string
  messageTs: string
  threadTs: string | undefined
  /** What stands behind `cnibot:` in the action id. */
  action: string
  value: string
  triggerId: string
  /** What was typed in a dialog: `reason`. */
  inputs: Record<string, string>
}

export interface SlackCommand {
  /** Behind `/cni`. */
  text: string
  user: string
  team: string
  channel: string
  triggerId: string
}

/** Shown to the person alone; undefined where the thread itself answers. */
export type ClickAnswer = Message | undefined
export type CommandAnswer = { message: Message; inChannel?: boolean } | undefined

export interface SlackOptions {
  botToken: string
  appToken: string
  apiUrl?: string | undefined
  log: Log
  /** Appends and enqueues, no more: it is awaited before the acknowledgement. */
  onClick: (click: SlackClick) => Promise<ClickAnswer>
  onCommand: (command: SlackCommand) => Promise<CommandAnswer>
  /** What was handled already, by keys that Slack repeats with a repeated envelope. */
  handled: Handled
  /** Actions for which a dialog asks for a reason first. */
  reasons?: Partial<Record<string, { title: string; label: string; submit: string }>>
  /** Two by default. */
  connections?: number
  timeoutMs?: number
}

export interface RunningSlack {
  /** Connections that hear Slack now: ready means more than none. */
  connected(): number
  teamId: string
  stop(): Promise<void>
}

/** Slack gives three seconds; the rest is for the way. */
const acknowledgeMs = 2_000
const actionPrefix = 'cnibot:'

/** A person reads why; what is no error of ours by name is a bug and stays in the log. */
const why = (error: unknown, log: Log): string => {
  if (error instanceof Refused || error instanceof Unreachable || error instanceof Failed)
    return error.message
  log.error(
    { error: error instanceof Error ? (error.stack ?? error.message) : String(error) },
    'a click or command failed',
  )
  return 'of an error in the bot; its log has the details. Nothing was recorded, so it may be tried again'
}

const inWords = (text: string): Message => {
  const safe = text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').slice(0, 2_500)
  return { text: safe, blocks: [{ type: 'section', text: { type: 'mrkdwn', text: safe, verbatim: true } }] }
}

const shownIn = (message: Message) => ({
  text: message.text,
  blocks: message.blocks.filter((block): block is KnownBlock => typeof block === 'object' && block !== null),
})

/** Resolves with the answer, or with `late` when it takes longer than Slack waits. */
const inTime = async <T>(answer: Promise<T>): Promise<{ answer: T } | 'late'> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>(resolve => {
    timer = setTimeout(() => resolve('late'), acknowledgeMs)
  })
  try {
    return await Promise.race([answer.then(value => ({ answer: value })), late])
  } finally {
    clearTimeout(timer)
  }
}

const threadOf = (body: BlockAction): string | undefined => {
  const { container, message } = body
  const thread: unknown = container.thread_ts ?? message?.thread_ts
  return typeof thread === 'string' ? thread : undefined
}

const clickOf = (body: BlockAction, action: ButtonAction): SlackClick => ({
  user: body.user.id,
  team: body.user.team_id ?? body.team?.id ?? '',
  channel: body.channel?.id ?? '',
  messageTs: body.message?.ts ?? '',
  threadTs: threadOf(body),
  action: action.action_id.slice(actionPrefix.length),
  value: action.value ?? '',
  triggerId: body.trigger_id,
  inputs: {},
})

const whisper = async (client: WebClient, log: Log, click: SlackClick, message: Message): Promise<void> => {
  // In the channel the root's thread may be closed: the answer stands where the button was pressed.
  const inThread = click.threadTs !== undefined && click.threadTs !== click.messageTs
  try {
    await client.chat.postEphemeral({
      channel: click.channel,
      user: click.user,
      ...shownIn(message),
      ...(inThread && click.threadTs ? { thread_ts: click.threadTs } : {}),
    })
  } catch (error) {
    log.error({ user: click.user, channel: click.channel }, `an answer could not be shown: ${String(error)}`)
  }
}

/** Answers one click, whatever happens. */
const answerClick = async (
  { log, onClick }: SlackOptions,
  once: Once,
  teamId: string,
  click: SlackClick,
): Promise<ClickAnswer> => {
  if (click.team !== teamId) return inWords('Only members of this workspace may use these buttons.')
  try {
    return await once(`click/${click.triggerId}`, () => onClick(click))
  } catch (error) {
    return inWords(`That did not work, because ${why(error, log)}.`)
  }
}

const listenToClicks = (app: App, options: SlackOptions, once: Once, teamId: () => string): void => {
  const { log, reasons } = options
  const handle = async (client: WebClient, click: SlackClick, ack: () => Promise<void>): Promise<void> => {
    const answering = answerClick(options, once, teamId(), click)
    await inTime(answering)
    await ack()
    const answer = await answering
    if (answer) await whisper(client, log, click, answer)
  }
  app.action<BlockAction<ButtonAction>>(
    { type: 'block_actions', action_id: /^cnibot:/ },
    async ({ ack, action, body, client }) => {
      const click = clickOf(body, action)
      const question = reasons?.[click.action]
      if (!question) return handle(client, click, () => ack())
      // A trigger lives three seconds: the dialog first.
      await client.views.open({ trigger_id: click.triggerId, view: reasonView(question, click) })
      await ack()
    },
  )
  app.view(reasonOf, async ({ ack, body, view, client }) => {
    const click = submittedReason(view)
    if (!click) return ack()
    return handle(
      client,
      { ...click, user: body.user.id, team: body.user.team_id ?? body.team?.id ?? '' },
      () => ack(),
    )
  })
}

const listenToCommands = (app: App, options: SlackOptions, once: Once, teamId: () => string): void => {
  const { log, onCommand } = options
  const answerOf = async (command: SlackCommand): Promise<CommandAnswer> => {
    if (command.team !== teamId())
      return { message: inWords('Only members of this workspace may use this command.') }
    try {
      return await once(`command/${command.triggerId}`, () => onCommand(command))
    } catch (error) {
      return { message: inWords(`That did not work, because ${why(error, log)}.`) }
    }
  }
  app.command(/^\/cni/, async ({ ack, command: body, respond }) => {
    const answering = answerOf({
      text: body.text.trim(),
      user: body.user_id,
      team: body.team_id,
      channel: body.channel_id,
      triggerId: body.trigger_id,
    })
    const shown = (answer: NonNullable<CommandAnswer>) => ({
      ...shownIn(answer.message),
      response_type: answer.inChannel ? ('in_channel' as const) : ('ephemeral' as const),
    })
    const first = await inTime(answering)
    if (first !== 'late') return first.answer ? ack(shown(first.answer)) : ack()
    await ack()
    const answer = await answering
    if (answer) await respond(shown(answer))
  })
}

const tokenCodes = ['invalid_auth', 'not_authed', 'token_revoked', 'token_expired', 'not_allowed_token_type']

/** Two tokens and one error: says which of them it was. */
const notTaken =
  (setting: string) =>
  (error: unknown): never => {
    if (error instanceof Error && isCode(error, ...tokenCodes))
      throw new Refused(`Slack does not take ${setting}: ${error.message}`)
    throw asPortError(error, 'the start of the bot')
  }

/**
 * Bolt in Socket Mode. Hears buttons and `/cni` and hands each to its handler once; messages of people, of other bots
 * and of its own are acknowledged and left alone. Rejects where Slack refuses the tokens or cannot be reached.
 */
export const startSlack = async (options: SlackOptions): Promise<RunningSlack> => {
  const { botToken, appToken, apiUrl, log, connections = 2, timeoutMs = 10_000 } = options
  const receiver = new SocketReceivers({ appToken, apiUrl, log, connections, timeoutMs })
  const app = new App({
    token: botToken,
    receiver,
    // Without it a refused token is a rejection that nobody holds.
    deferInitialization: true,
    logger: quietLogger(log),
    clientOptions: {
      ...(apiUrl === undefined ? {} : { slackApiUrl: apiUrl }),
      retryConfig: { retries: 0 },
      timeout: timeoutMs,
    },
  })
  app.error(async error => log.error({ code: error.code }, `Slack handler: ${error.message}`))
  let teamId = ''
  const once = onceEach(options.handled, log)
  listenToClicks(app, options, once, () => teamId)
  listenToCommands(app, options, once, () => teamId)
  await app.init().catch(notTaken('CNIBOT_SLACK_BOT_TOKEN'))
  teamId = (await app.client.auth.test().catch(notTaken('CNIBOT_SLACK_BOT_TOKEN'))).team_id ?? ''
  await app.start().catch(notTaken('CNIBOT_SLACK_APP_TOKEN'))
  return { connected: () => receiver.connected, teamId, stop: () => receiver.stop() }
}
