import { openThread } from '../../src/adapters/slack/thread.js'
import { Lost, type Message, type Thread } from '../../src/ports.js'
import { fakeLog } from '../fakes/log.js'
import { FakeThread } from '../fakes/thread.js'
import { type LocalSlack, startSlack } from '../lab/slack/index.js'

const said = (text: string): Message => ({
  text,
  blocks: [{ type: 'section', text: { type: 'mrkdwn', text } }],
})

interface Place {
  thread: Thread
  channel: string
  /** One that the app may not write to. */
  closed: string
  /** What stands in the channel and its threads, oldest first, without files. */
  texts(): string[]
  fileTexts(): string[]
  deleted(ts: string): Promise<void>
  close(): Promise<void>
}

const fake = async (): Promise<Place> => {
  const thread = new FakeThread()
  thread.closed.add('C2')
  return {
    thread,
    channel: 'C1',
    closed: 'C2',
    texts: () => thread.posts.map(post => post.message.text),
    fileTexts: () => thread.files.map(file => file.text),
    deleted: async ts => thread.remove(ts),
    close: async () => {},
  }
}

const remove = async (slack: LocalSlack, channel: string, ts: string): Promise<void> => {
  const answer = await fetch(`${slack.apiUrl}chat.delete`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${slack.botToken}` },
    body: JSON.stringify({ channel, ts }),
  })
  expect(await answer.json()).toMatchObject({ ok: true })
}

const real = async (): Promise<Place> => {
  const slack = await startSlack({
    channels: [{ name: 'incidents' }, { name: 'elsewhere', botIsMember: false }],
    users: [{ name: 'ada' }],
    userGroups: [],
  })
  const channel = slack.channelId('incidents')
  return {
    thread: openThread({ botToken: slack.botToken, apiUrl: slack.apiUrl, log: fakeLog() }),
    channel,
    closed: slack.channelId('elsewhere'),
    texts: () =>
      slack
        .messages('incidents')
        .filter(message => message.ephemeral_to === undefined && message.files === undefined)
        .map(message => message.text),
    fileTexts: () => slack.files().map(each => each.content),
    deleted: ts => remove(slack, channel, ts),
    close: () => slack.close(),
  }
}

describe.each([
  ['the fake', fake],
  ['the adapter on a local Slack', real],
])('Thread: %s', (_name, open) => {
  let place: Place
  beforeEach(async () => {
    place = await open()
  })
  afterEach(() => place.close())

  test('posts, replies and edits in place', async () => {
    const { thread, channel } = place
    const head = await thread.post(channel, said('head'), { op: 'head' })
    expect(head.channel).toBe(channel)
    const reply = await thread.post(channel, said('reply'), { threadTs: head.ts, op: 'reply' })
    expect(reply.ts).not.toBe(head.ts)
    await thread.update(channel, head.ts, said('head, edited'))
    expect(place.texts()).toEqual(['head, edited', 'reply'])
  })

  test('the same operation twice is one message', async () => {
    const { thread, channel } = place
    const head = await thread.post(channel, said('head'), { op: 'head' })
    expect(await thread.post(channel, said('head'), { op: 'head' })).toEqual(head)
    const reply = await thread.post(channel, said('reply'), { threadTs: head.ts, op: 'reply' })
    expect(await thread.post(channel, said('reply'), { threadTs: head.ts, op: 'reply' })).toEqual(reply)
    await thread.post(channel, said('reply'), { threadTs: head.ts, op: 'another' })
    expect(place.texts()).toEqual(['head', 'reply', 'reply'])
  })

  test('the same file twice is one file', async () => {
    const { thread, channel } = place
    const head = await thread.post(channel, said('head'), { op: 'head' })
    const file = { name: 'evidence.txt', title: 'Evidence', text: 'all of it\n', op: 'head/file' }
    await thread.attach(channel, head.ts, file)
    await thread.attach(channel, head.ts, file)
    await thread.attach(channel, head.ts, { ...file, text: 'another\n', op: 'other/file' })
    expect(place.fileTexts()).toEqual(['all of it\n', 'another\n'])
  })

  test('an edit of a deleted message fails and says so', async () => {
    const { thread, channel } = place
    const { ts } = await thread.post(channel, said('head'), { op: 'head' })
    await place.deleted(ts)
    const edit = thread.update(channel, ts, said('head, edited'))
    await expect(edit).rejects.toThrow(Lost)
    await expect(edit).rejects.toMatchObject({ what: 'message' })
    await expect(edit).rejects.toThrow('the message was deleted')
  })

  test('a reply to a thread that is gone fails and leaves nothing in the channel', async () => {
    const { thread, channel } = place
    const { ts } = await thread.post(channel, said('head'), { op: 'head' })
    await place.deleted(ts)
    const reply = thread.post(channel, said('reply'), { threadTs: ts, op: 'reply' })
    await expect(reply).rejects.toThrow(Lost)
    await expect(reply).rejects.toMatchObject({ what: 'message' })
    expect(place.texts()).toEqual([])
  })

  test('a channel that is archived or closed to the app is lost', async () => {
    const { thread, closed } = place
    const file = { name: 'evidence.txt', title: 'Evidence', text: 'all of it\n', op: 'head/file' }
    const lost = { name: 'Lost', what: 'channel' }
    await expect(thread.post(closed, said('head'), { op: 'head' })).rejects.toMatchObject(lost)
    await expect(thread.attach(closed, '1.000001', file)).rejects.toMatchObject(lost)
  })

  test('a link leads to a message that is there', async () => {
    const { thread, channel } = place
    const { ts } = await thread.post(channel, said('head'), { op: 'head' })
    expect(await thread.permalink(channel, ts)).toContain(channel)
    expect(await thread.permalink(channel, '1.000001')).toBeUndefined()
  })
})
