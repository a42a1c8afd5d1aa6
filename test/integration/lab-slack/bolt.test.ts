import { EventEmitter, once } from 'node:events'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { App, BlockAction, ButtonAction, SlashCommand } from '@slack/bolt'
import { type LocalSlack, startSlack } from '../../lab/slack/index.js'
import { startApp } from './bolt-app.js'

let slack: LocalSlack
let app: App | undefined

beforeEach(async () => {
  slack = await startSlack()
})
afterEach(async () => {
  await app?.stop()
  app = undefined
  await slack.close()
})

const buttons = [
  {
    type: 'actions',
    block_id: 'plan',
    elements: [
      {
        type: 'button',
        action_id: 'approve',
        text: { type: 'plain_text', text: 'Approve' },
        value: 'run-1:7f3a',
      },
    ],
  },
]
const modal = {
  type: 'modal' as const,
  callback_id: 'reason',
  title: { type: 'plain_text' as const, text: 'Hold node-07' },
  submit: { type: 'plain_text' as const, text: 'Hold' },
  notify_on_close: true,
  blocks: [
    {
      type: 'input' as const,
      block_id: 'why',
      label: { type: 'plain_text' as const, text: 'Why' },
      element: { type: 'plain_text_input' as const, action_id: 'text', min_length: 3 },
    },
  ],
}

test('a message reaches the app, and its answer lands in the thread', async () => {
  app = await startApp(slack, it => {
    it.message('ping', async ({ message, say }) => {
      await say({ text: 'pong', thread_ts: message.ts })
    })
  })
  const asked = slack.postAs({ user: 'developer', channel: 'incidents', text: 'ping' })
  const thread = await slack.waitFor(it => it.messages('incidents', asked.ts)[1], 5_000, 'the answer')
  expect(thread).toMatchObject({ text: 'pong', thread_ts: asked.ts, bot_id: 'BCNIBOT' })
})

test("the app's own edits come back to it as message_changed", async () => {
  const changed: string[] = []
  app = await startApp(slack, it => {
    it.event('message', async ({ event }) => {
      if (event.subtype === 'message_changed' && 'text' in event.message)
        changed.push(event.message.text ?? '')
    })
  })
  const channel = slack.channelId('incidents')
  const { ts = '' } = await app.client.chat.postMessage({ channel, text: 'before' })
  await app.client.chat.update({ channel, ts, text: 'after' })
  await slack.waitFor(it => it.messages('incidents')[0]?.text === 'after' || undefined, 5_000)
  // The command behind it goes over the same connection, so the change has been handled once it is acknowledged.
  app.command('/cni', async ({ ack }) => ack())
  await slack.command({ user: 'developer', channel: 'incidents', text: '/cni help' })
  expect(changed).toEqual(['after'])
})

test('a click carries the value, the message, the thread and who clicked; its answer can replace the message', async () => {
  const clicks: BlockAction<ButtonAction>[] = []
  app = await startApp(slack, it => {
    it.action<BlockAction<ButtonAction>>('approve', async ({ ack, body, respond }) => {
      await ack()
      clicks.push(body)
      if (clicks.length === 1) await respond({ replace_original: true, text: 'approved' })
    })
  })
  const channel = slack.channelId('incidents')
  const head = await app.client.chat.postMessage({ channel, text: 'head' })
  const plan = await app.client.chat.postMessage({
    channel,
    text: 'plan',
    thread_ts: head.ts ?? '',
    blocks: buttons,
  })
  const press = { user: 'approver', channel, ts: plan.ts ?? '', actionId: 'approve' }
  expect(await slack.press(press)).toMatchObject({ acked: true })
  await slack.waitFor(it => it.messages('incidents')[1]?.text === 'approved' || undefined, 5_000)
  expect(clicks[0]).toMatchObject({
    user: { id: slack.userId('approver'), name: 'approver', team_id: 'TLOCAL' },
    container: { message_ts: plan.ts, thread_ts: head.ts, is_ephemeral: false },
    message: { text: 'plan' },
    actions: [{ action_id: 'approve', block_id: 'plan', value: 'run-1:7f3a', type: 'button' }],
  })
  await expect(slack.press(press)).rejects.toThrow('has no element with action id "approve"')
  expect(await slack.press({ ...press, value: 'run-1:7f3a' })).toMatchObject({ acked: true })
  expect(clicks[1]?.actions[0]?.value).toBe('run-1:7f3a')
})

test('a command is acknowledged with words for one person; a response URL ends after five uses', async () => {
  const commands: SlashCommand[] = []
  app = await startApp(slack, it => {
    it.command('/cni', async ({ ack, command }) => {
      commands.push(command)
      await ack('No node `node-7`.')
    })
  })
  const line = { user: 'developer', channel: 'incidents', text: '/cni diagnose node-7' }
  expect(await slack.command(line)).toMatchObject({ acked: true })
  expect(commands[0]).toMatchObject({ command: '/cni', text: 'diagnose node-7', user_name: 'developer' })
  expect(slack.ephemerals('developer').map(message => message.text)).toEqual(['No node `node-7`.'])
  const url = commands[0]?.response_url ?? ''
  const use = async () =>
    (
      await fetch(url, {
        method: 'POST',
        body: JSON.stringify({ text: 'more', response_type: 'in_channel' }),
      })
    ).status
  const statuses: number[] = []
  for (let n = 0; n < 6; n += 1) statuses.push(await use())
  expect(statuses).toEqual([200, 200, 200, 200, 200, 404])
})

test('a modal opens on a fresh trigger, once; errors keep it open; a good answer closes it', async () => {
  const codes: unknown[] = []
  const entered: unknown[] = []
  app = await startApp(slack, it => {
    it.command('/cni', async ({ ack, body, client }) => {
      await ack()
      const open = () => client.views.open({ trigger_id: body.trigger_id, view: modal })
      for (const attempt of [open, open]) {
        codes.push(
          await attempt().then(
            () => 'ok',
            (error: { data?: { error?: string } }) => error.data?.error,
          ),
        )
      }
    })
    it.view('reason', async ({ ack, view }) => {
      const text = view.state.values.why?.text?.value ?? ''
      entered.push(text)
      if (text === 'because') return ack({ response_action: 'errors', errors: { why: 'Say more' } })
      return ack()
    })
  })
  await slack.command({ user: 'approver', channel: 'incidents', text: '/cni hold node-07' })
  const view = await slack.waitFor(it => it.view('approver'), 5_000, 'the modal')
  const submit = (text: string) =>
    slack.submitView({ user: 'approver', viewId: view.id, values: { why: { text } } })
  expect((await submit('')).errors).toEqual({ why: 'Please complete this required field.' })
  expect((await submit('no')).errors).toEqual({ why: 'Must be at least 3 characters.' })
  expect((await submit('because')).errors).toEqual({ why: 'Say more' })
  expect(slack.view('approver')?.id).toBe(view.id)
  expect(await submit('a window is at noon')).toMatchObject({ acked: true })
  expect(slack.view('approver')).toBeUndefined()
  expect(entered).toEqual(['because', 'a window is at noon'])
  expect(codes).toEqual(['ok', 'exchanged_trigger_id'])
})

test('an old trigger is expired; modals stack three deep; an outdated hash is refused; App Home is published', async () => {
  const told = new EventEmitter()
  const codeOf = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => 'ok',
      (error: { data?: { error?: string } }) => error.data?.error,
    )
  app = await startApp(slack, it => {
    it.command('/cni', async ({ ack, body, client, command }) => {
      await ack()
      const { trigger_id } = body
      const opens = command.text === 'push' ? client.views.push : client.views.open
      told.emit('code', await codeOf(opens({ trigger_id, view: modal })))
    })
  })
  const run = async (text: string): Promise<unknown> => {
    const code = once(told, 'code')
    await slack.command({ user: 'approver', channel: 'incidents', text: `/cni ${text}` })
    return (await code)[0]
  }
  slack.faults.expireTriggers()
  const codes: unknown[] = []
  for (const text of ['old', 'open', 'push', 'push', 'push']) codes.push(await run(text))
  const home = { type: 'home' as const, blocks: [] }
  await app.client.views.publish({ user_id: slack.userId('approver'), view: home })
  expect(codes).toEqual(['expired_trigger_id', 'ok', 'ok', 'ok', 'push_limit_reached'])
  const top = slack.view('approver')
  const update = (hash: string) => app?.client.views.update({ view_id: top?.id ?? '', hash, view: modal })
  expect(await codeOf(update('0.0') ?? Promise.resolve())).toBe('hash_conflict')
  expect(await codeOf(update(top?.hash ?? '') ?? Promise.resolve())).toBe('ok')
  expect(slack.home('approver')?.type).toBe('home')
})
