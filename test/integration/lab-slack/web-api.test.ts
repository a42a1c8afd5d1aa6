import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { WebClient } from '@slack/web-api'
import { type LocalSlack, startSlack } from '../../lab/slack/index.js'
import { webClient } from './bolt-app.js'

let slack: LocalSlack
let web: WebClient
let channel: string

beforeEach(async () => {
  slack = await startSlack({ clock: { now: () => 1_700_000_000_123 } })
  web = webClient(slack)
  channel = slack.channelId('incidents')
})
afterEach(() => slack.close())

const codeOf = async (call: Promise<unknown>): Promise<unknown> => {
  try {
    await call
    return 'ok'
  } catch (error) {
    return (error as { data?: { error?: string } }).data?.error ?? String(error)
  }
}

test('tokens are checked by kind, and methods by name', async () => {
  expect(await web.auth.test()).toMatchObject({ ok: true, user: 'cnibot', user_id: slack.botUserId })
  expect(await codeOf(webClient(slack, 'xoxb-other').auth.test())).toBe('invalid_auth')
  expect(await codeOf(webClient(slack, '').auth.test())).toBe('not_authed')
  expect(await codeOf(web.apps.connections.open({}))).toBe('not_allowed_token_type')
  expect(await codeOf(webClient(slack, slack.appToken).chat.postMessage({ channel, text: 'a' }))).toBe(
    'not_allowed_token_type',
  )
  expect(await codeOf(web.apiCall('chat.meMessage'))).toBe('unknown_method')
  const opened = await webClient(slack, slack.appToken).apps.connections.open({})
  expect(opened.url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/link\/\?ticket=/)
})

test('JSON bodies and forms mean the same', async () => {
  const headers = {
    authorization: `Bearer ${slack.botToken}`,
    'content-type': 'application/json; charset=utf-8',
  }
  const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: 'in JSON' } }]
  const body = JSON.stringify({ channel, text: 'json', blocks })
  const answer = await (
    await fetch(`${slack.apiUrl}chat.postMessage`, { method: 'POST', headers, body })
  ).json()
  expect(answer).toMatchObject({ ok: true, message: { blocks: [{ text: { text: 'in JSON' } }] } })
  await web.chat.postMessage({ channel, text: 'form', blocks })
  expect(slack.messages('incidents').map(message => message.blocks?.[0]?.text)).toEqual([
    { type: 'mrkdwn', text: 'in JSON' },
    { type: 'mrkdwn', text: 'in JSON' },
  ])
})

test('message times are seconds of the clock and count up', async () => {
  for (const text of ['1', '2', '3']) await web.chat.postMessage({ channel, text })
  expect(slack.messages('incidents').map(message => message.ts)).toEqual([
    '1700000000.000001',
    '1700000000.000002',
    '1700000000.000003',
  ])
})

test('a thread is read root first, its root counts the replies, and metadata shows only on request', async () => {
  const metadata = { event_type: 'op', event_payload: { op: 'inc-1:3' } }
  const { ts } = await web.chat.postMessage({ channel, text: 'head', metadata })
  await web.chat.postMessage({ channel, text: 'one', thread_ts: ts ?? '' })
  await web.chat.postMessage({ channel, text: 'two', thread_ts: ts ?? '' })
  const plain = await web.conversations.replies({ channel, ts: ts ?? '' })
  expect(plain.messages?.map(message => message.text)).toEqual(['head', 'one', 'two'])
  expect(plain.messages?.[0]).toMatchObject({ reply_count: 2, thread_ts: ts })
  expect(plain.messages?.[0]?.metadata).toBeUndefined()
  const whole = await web.conversations.replies({ channel, ts: ts ?? '', include_all_metadata: true })
  expect(whole.messages?.[0]?.metadata).toEqual(metadata)
  const pages: (string | undefined)[][] = []
  for await (const page of web.paginate('conversations.replies', { channel, ts, limit: 2 })) {
    pages.push((page as typeof plain).messages?.map(message => message.text) ?? [])
  }
  expect(pages).toEqual([['head', 'one'], ['two']])
  const history = await web.conversations.history({ channel })
  expect(history.messages?.map(message => message.text)).toEqual(['head'])
  expect(await codeOf(web.conversations.replies({ channel, ts: '1.000001' }))).toBe('thread_not_found')
})

test('a thread_ts that names nothing lands in the channel, and only the answer shows it', async () => {
  const answer = await web.chat.postMessage({ channel, text: 'lost', thread_ts: '1600000000.000001' })
  expect(answer.ok).toBe(true)
  expect(answer.message?.thread_ts).toBeUndefined()
  expect(slack.messages('incidents')).toHaveLength(1)
})

test('an update keeps the blocks it does not name, marks changed words, and is refused for what is not ours', async () => {
  const blocks = [{ type: 'divider' }]
  const { ts = '' } = await web.chat.postMessage({ channel, text: 'a', blocks })
  await web.chat.update({ channel, ts, text: 'b' })
  expect(slack.messages('incidents')[0]).toMatchObject({ text: 'b', blocks: [{ type: 'divider' }] })
  expect(slack.messages('incidents')[0]?.edited?.user).toBe(slack.botUserId)
  const other = slack.postAs({ user: 'developer', channel, text: 'mine' })
  expect(await codeOf(web.chat.update({ channel, ts: other.ts, text: 'x' }))).toBe('cant_update_message')
  expect(await codeOf(web.chat.update({ channel, ts: '1.000001', text: 'x' }))).toBe('message_not_found')
  expect(await codeOf(web.chat.update({ channel, ts, text: '&'.repeat(4_001) }))).toBe('msg_too_long')
  await web.chat.delete({ channel, ts })
  expect(slack.messages('incidents').map(message => message.text)).toEqual(['mine'])
})

test('channels: unknown, without the bot, archived and joined', async () => {
  expect(await codeOf(web.chat.postMessage({ channel: 'CNONE', text: 'x' }))).toBe('channel_not_found')
  const general = slack.channelId('general')
  expect(await codeOf(web.chat.postMessage({ channel: general, text: 'x' }))).toBe('not_in_channel')
  await web.conversations.join({ channel: general })
  expect(await codeOf(web.chat.postMessage({ channel: general, text: 'x' }))).toBe('ok')
  const list = await web.conversations.list({})
  expect(list.channels?.map(each => each.name)).toEqual(['incidents', 'alerts', 'general'])
  const opened = await web.conversations.open({ users: slack.userId('developer') })
  expect(await codeOf(web.chat.postMessage({ channel: opened.channel?.id ?? '', text: 'hello' }))).toBe('ok')
})

test('an ephemeral message is seen by one person and is in no history', async () => {
  const user = slack.userId('developer')
  await web.chat.postEphemeral({ channel, user, text: 'not for you' })
  expect(slack.ephemerals('developer').map(message => message.text)).toEqual(['not for you'])
  expect(slack.ephemerals('approver')).toEqual([])
  expect((await web.conversations.history({ channel })).messages).toEqual([])
})

test('people, groups and bots are answered as Slack answers', async () => {
  expect((await web.users.info({ user: slack.userId('approver') })).user).toMatchObject({ name: 'approver' })
  expect(await codeOf(web.users.info({ user: 'UNONE' }))).toBe('user_not_found')
  const usergroup = slack.groupId('sre-oncall')
  const members = [slack.userId('approver'), slack.userId('second-approver')]
  expect((await web.usergroups.users.list({ usergroup })).users).toEqual(members)
  expect((await web.usergroups.list({ include_users: true })).usergroups?.[0]?.users).toEqual(members)
  expect(await codeOf(web.usergroups.users.list({ usergroup: 'SNONE' }))).toBe('no_such_subteam')
  expect((await web.bots.info({})).bot).toMatchObject({ user_id: slack.botUserId })
})

test('reactions are added once; a permalink opens the thread on the page', async () => {
  const { ts = '' } = await web.chat.postMessage({ channel, text: 'head' })
  const reply = await web.chat.postMessage({ channel, text: 'reply', thread_ts: ts })
  await web.reactions.add({ channel, timestamp: ts, name: 'eyes' })
  expect(await codeOf(web.reactions.add({ channel, timestamp: ts, name: 'eyes' }))).toBe('already_reacted')
  expect(await web.chat.getPermalink({ channel, message_ts: reply.ts ?? '' })).toMatchObject({
    permalink: `${slack.url}/#${channel}/${ts}/${reply.ts}`,
  })
})

test('a file is uploaded in three moves and its message comes after the answer', async () => {
  const { ts = '' } = await web.chat.postMessage({ channel, text: 'head' })
  const content = 'node-07\n10.244.7.2 → 4d9f2a\n'
  const answer = await web.filesUploadV2({
    channel_id: channel,
    thread_ts: ts,
    filename: 'node-07-evidence.txt',
    content,
    initial_comment: 'All addresses',
  })
  expect(answer.ok).toBe(true)
  const shared = await slack.waitFor(it => it.messages('incidents', ts)[1], 5_000, 'the message of the file')
  expect(shared).toMatchObject({ text: 'All addresses', subtype: 'file_share', thread_ts: ts })
  expect(slack.files().map(each => each.content)).toEqual([content])
  const file = slack.files()[0]?.file
  expect((await web.files.info({ file: file?.id ?? '' })).file?.shares?.public?.[channel]?.[0]).toMatchObject(
    {
      thread_ts: ts,
    },
  )
  expect(await (await fetch(file?.url_private_download ?? '')).text()).toBe(content)
})

test('an upload of another length than announced is refused', async () => {
  const place = await web.files.getUploadURLExternal({ filename: 'a.txt', length: 3 })
  expect((await fetch(place.upload_url ?? '', { method: 'POST', body: 'four' })).status).toBe(400)
  const files: [{ id: string }] = [{ id: place.file_id ?? '' }]
  expect(await codeOf(web.files.completeUploadExternal({ files }))).toBe('file_not_found')
})
