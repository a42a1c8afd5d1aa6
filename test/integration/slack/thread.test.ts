import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openApproverLists, openApprovers } from '../../../src/adapters/slack/approvers.js'
import { openThread } from '../../../src/adapters/slack/thread.js'
import { Failed, type Message, type Thread, Unreachable } from '../../../src/ports.js'
import { type FakeLog, fakeLog } from '../../fakes/log.js'
import { type LocalSlack, startSlack } from '../../lab/slack/index.js'

const said = (text: string): Message => ({
  text,
  blocks: [{ type: 'section', text: { type: 'mrkdwn', text } }],
})

let slack: LocalSlack
let log: FakeLog
let thread: Thread
let channel: string

const open = (more: { timeoutMs?: number; patienceMs?: number } = {}): Thread =>
  openThread({ botToken: slack.botToken, apiUrl: slack.apiUrl, log, ...more })

beforeEach(async () => {
  slack = await startSlack()
  log = fakeLog()
  thread = open()
  channel = slack.channelId('incidents')
})
afterEach(() => slack.close())

const texts = (): string[] => slack.messages('incidents').map(message => message.text)

test('a post that Slack stored and answered with a 500 is not posted again', async () => {
  slack.faults.failAfterStoring('chat.postMessage')
  const posted = await thread.post(channel, said('head'), { op: 'head' })
  expect(texts()).toEqual(['head'])
  expect(slack.messages('incidents')[0]?.ts).toBe(posted.ts)
})

test('a reply whose answer came too late is found in its thread', async () => {
  const head = await thread.post(channel, said('head'), { op: 'head' })
  slack.faults.delay('chat.postMessage', 800)
  const reply = await open({ timeoutMs: 500 }).post(channel, said('reply'), {
    threadTs: head.ts,
    op: 'reply',
  })
  expect(texts()).toEqual(['head', 'reply'])
  expect(slack.messages('incidents').at(-1)?.ts).toBe(reply.ts)
})

test('a post that never arrived is posted', async () => {
  slack.faults.failBefore('chat.postMessage', { status: 503 })
  await thread.post(channel, said('head'), { op: 'head' })
  expect(texts()).toEqual(['head'])
})

test('Slack that stays down is Unreachable, and the next process posts once', async () => {
  slack.faults.failAfterStoring('chat.postMessage', 1)
  slack.faults.failBefore('conversations.history', { status: 500 }, 12)
  await expect(thread.post(channel, said('head'), { op: 'head' })).rejects.toThrow(Unreachable)
  slack.faults.clear()
  await open().post(channel, said('head'), { op: 'head' })
  expect(texts()).toEqual(['head'])
})

test('an outage takes no longer than the patience, so that no job is held up for minutes', async () => {
  const asked: (string | undefined)[] = []
  const silent = createServer(request => asked.push(request.url)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const access = { botToken: slack.botToken, apiUrl: `http://127.0.0.1:${port}/api/`, log }
  const post = openThread({ ...access, timeoutMs: 100, patienceMs: 150 })
  await expect(post.post(channel, said('head'), { op: 'head' })).rejects.toThrow(Unreachable)
  expect(asked).toEqual(['/api/conversations.history'])
  silent.closeAllConnections()
  silent.close()
})

test('an upload that Slack stored and answered with a 500 is not uploaded again', async () => {
  const { ts } = await thread.post(channel, said('head'), { op: 'head' })
  slack.faults.failAfterStoring('files.completeUploadExternal')
  slack.faults.shareDelay = 100
  await thread.attach(channel, ts, { name: 'evidence.txt', title: 'Evidence', text: 'all', op: 'head/file' })
  expect(slack.files().map(each => each.file.name)).toEqual([
    expect.stringMatching(/^evidence-[0-9a-f]{8}\.txt$/),
  ])
})

test('a file stands in its thread before the next message is posted', async () => {
  const { ts } = await thread.post(channel, said('head'), { op: 'head' })
  slack.faults.shareDelay = 200
  await thread.attach(channel, ts, { name: 'evidence.txt', title: 'Evidence', text: 'all', op: 'head/file' })
  await thread.post(channel, said('verdict'), { threadTs: ts, op: 'verdict' })
  const order = slack.messages('incidents', ts).map(message => message.files?.[0]?.title ?? message.text)
  expect(order).toEqual(['head', 'Evidence', 'verdict'])
})

test('a rate limit holds back its channel, for as long as Slack says, and no other', async () => {
  const other = slack.channelId('alerts')
  slack.faults.rateLimit(channel, 1)
  const held = thread.post(channel, said('held'), { op: 'held' })
  await thread.post(other, said('free'), { op: 'free' })
  expect(texts()).toEqual([])
  await held
  expect(texts()).toEqual(['held'])
})

test('a rate limit longer than the patience is Unreachable', async () => {
  slack.faults.rateLimit(channel, 120)
  const post = open({ patienceMs: 1_000 }).post(channel, said('x'), { op: 'x' })
  await expect(post).rejects.toThrow(Unreachable)
  await expect(post).rejects.toThrow('may be tried again in 120 s')
})

test('a refusal says what to do, with what Slack found wrong', async () => {
  await expect(thread.post('C0NOWHERE', said('x'), { op: 'x' })).rejects.toThrow(
    'invite the bot to the channel',
  )
  const wrong = thread.post(channel, { text: 'x', blocks: [{ type: 'section' }] }, { op: 'wrong' })
  await expect(wrong).rejects.toThrow(Failed)
  const error: unknown = await wrong.catch((reason: unknown) => reason)
  expect(error instanceof Failed ? error.output : '').toContain('missing required field')
})

describe('approvers', () => {
  const approvers = (users: string[] = []) =>
    openApprovers(
      { botToken: slack.botToken, apiUrl: slack.apiUrl, log },
      { users, groups: [slack.groupId('sre-oncall')] },
    )

  test('are the named people and the members of the groups, each once', async () => {
    const ids = [slack.userId('approver'), slack.userId('second-approver')]
    expect(await approvers([slack.userId('approver')]).people()).toEqual(ids)
    expect(approvers().named).toBe(`<!subteam^${slack.groupId('sre-oncall')}>`)
  })

  test('are asked once for many clicks', async () => {
    const list = approvers()
    await list.people()
    await list.people('onClick')
    await list.people()
    expect(slack.calls('usergroups.users.list')).toHaveLength(1)
  })

  test('nobody may approve while Slack cannot be asked, and the log says why', async () => {
    slack.faults.failBefore('usergroups.users.list', { code: 'missing_scope' })
    const list = approvers([slack.userId('approver')])
    expect(await list.people()).toBeUndefined()
    expect(log.lines.at(-1)?.message).toContain('install the app again with the shipped manifest')
    expect(await list.people()).toHaveLength(2)
  })

  test('without groups Slack is not asked; without anybody the list is empty', async () => {
    const access = { botToken: slack.botToken, apiUrl: slack.apiUrl, log }
    expect(await openApprovers(access, { users: ['U1'], groups: [] }).people()).toEqual(['U1'])
    expect(await openApprovers(access, { users: [], groups: [] }).people()).toEqual([])
    expect(slack.calls('usergroups.users.list')).toEqual([])
  })

  test('B2: a risk with a list of its own is approved by that list, the others by the general one', async () => {
    const access = { botToken: slack.botToken, apiUrl: slack.apiUrl, log }
    const [one, two] = [slack.userId('approver'), slack.userId('second-approver')]
    const lists = openApproverLists(
      access,
      { users: ['U0GENERAL'], groups: [] },
      { low: [], medium: ['U0MEDIUM'], high: [slack.groupId('sre-oncall'), 'U0HIGH'] },
    )
    expect(await lists.people('low')).toEqual(['U0GENERAL'])
    expect(await lists.people('medium')).toEqual(['U0MEDIUM'])
    expect(await lists.people('high')).toEqual(['U0HIGH', one, two])
    expect(await lists.people()).toEqual(['U0GENERAL', 'U0MEDIUM', 'U0HIGH', one, two])
    expect(lists.named('high')).toBe(`<!subteam^${slack.groupId('sre-oncall')}>, <@U0HIGH>`)
    expect(lists.named('low')).toBe('<@U0GENERAL>')
  })

  test('B2: while one list cannot be read nobody is known to be on any', async () => {
    slack.faults.failBefore('usergroups.users.list', { code: 'missing_scope' }, 2)
    const access = { botToken: slack.botToken, apiUrl: slack.apiUrl, log }
    const none = { low: [], medium: [], high: [slack.groupId('sre-oncall')] }
    const lists = openApproverLists(access, { users: ['U0GENERAL'], groups: [] }, none)
    expect(await lists.people()).toBeUndefined()
    expect(await lists.people('high')).toBeUndefined()
    expect(await lists.people('low')).toEqual(['U0GENERAL'])
  })
})
