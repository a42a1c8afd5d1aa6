import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { type LocalSlack, startSlack } from '../../lab/slack/index.js'
import { type Envelope, rawSocket } from './raw-socket.js'

let slack: LocalSlack

beforeEach(async () => {
  slack = await startSlack({ timings: { acknowledge: 150, retries: [0, 50] } })
})
afterEach(() => slack.close())

const isEvent = (envelope: Envelope): boolean => envelope.type === 'events_api'
const say = (text: string) => slack.postAs({ user: 'developer', channel: 'incidents', text })
const eventId = (envelope: Envelope): unknown => envelope.payload?.event_id

test('hello counts the connections, and a ticket is good once', async () => {
  const first = await rawSocket(slack)
  const second = await rawSocket(slack)
  expect([first, second].map(socket => socket.seen[0]?.num_connections)).toEqual([1, 2])
  expect(slack.connections()).toBe(2)
  first.close()
  await slack.waitFor(it => it.connections() === 1, 5_000, 'the connection to be gone')
})

test('an event that nobody acknowledges comes again on another connection, with its attempt', async () => {
  const sockets = [await rawSocket(slack), await rawSocket(slack)]
  say('hello')
  const [first, again] = await Promise.all(sockets.map(socket => socket.next(isEvent)))
  expect(new Set([first?.retry_attempt, again?.retry_attempt])).toEqual(new Set([0, 1]))
  expect(eventId(first as Envelope)).toBe(eventId(again as Envelope))
  expect(first?.envelope_id).not.toBe(again?.envelope_id)
})

test('an acknowledgement that is lost looks like none', async () => {
  const socket = await rawSocket(slack)
  slack.faults.dropAcks()
  say('hello')
  const first = await socket.next(isEvent)
  socket.ack(first)
  const again = await socket.next(isEvent)
  expect(again).toMatchObject({ retry_attempt: 1, retry_reason: 'timeout' })
  socket.ack(again)
  await rawSocket(slack)
  expect(slack.unsettled()).toBe(0)
})

test('what was on its way when a connection broke goes to another', async () => {
  const first = await rawSocket(slack)
  say('one')
  await first.next(isEvent)
  const second = await rawSocket(slack)
  first.close()
  expect(await second.next(isEvent)).toMatchObject({ retry_attempt: 1, payload: { event: { text: 'one' } } })
})

test('events wait while nobody is connected', async () => {
  say('while you were away')
  expect(slack.unsettled()).toBe(1)
  const socket = await rawSocket(slack)
  expect((await socket.next(isEvent)).payload?.event?.text).toBe('while you were away')
})

test('a delivery can be doubled: two envelopes, one event', async () => {
  const socket = await rawSocket(slack)
  slack.faults.duplicateDeliveries()
  say('twice')
  const [first, second] = [await socket.next(isEvent), await socket.next(isEvent)]
  expect(eventId(first)).toBe(eventId(second))
  expect(second.retry_attempt).toBe(1)
})

test('rotation tells every connection to go; new envelopes avoid one that leaves', async () => {
  const leaving = await rawSocket(slack)
  slack.faults.rotate('warning')
  expect(await leaving.next(envelope => envelope.type === 'disconnect')).toMatchObject({ reason: 'warning' })
  const fresh = await rawSocket(slack)
  say('after the warning')
  await fresh.next(isEvent)
  expect(leaving.seen.filter(isEvent)).toEqual([])
  slack.faults.rotate('refresh_requested')
  expect(await fresh.next(each => each.type === 'disconnect')).toMatchObject({ reason: 'refresh_requested' })
  await fresh.closed
})

test('app_rate_limited carries no event', async () => {
  const socket = await rawSocket(slack)
  const told = slack.faults.appRateLimited()
  const envelope = await socket.next(isEvent)
  expect(envelope.payload?.type).toBe('app_rate_limited')
  expect(envelope.payload?.event).toBeUndefined()
  socket.ack(envelope)
  expect((await told).acked).toBe(true)
})

test('only channels of the bot send events, and an ephemeral message sends none', async () => {
  const socket = await rawSocket(slack)
  slack.postAs({ user: 'developer', channel: 'general', text: 'not here' })
  slack.postAs({ bot: 'alertmanager', channel: 'alerts', text: 'KubePodNotReady' })
  const event = await socket.next(isEvent)
  expect(event.payload?.event).toMatchObject({
    subtype: 'bot_message',
    text: 'KubePodNotReady',
    channel_type: 'channel',
  })
})

test('a mention of the bot is told twice, as in Slack', async () => {
  const socket = await rawSocket(slack)
  const { ts } = say(`<@${slack.botUserId}> help`)
  const events = [await socket.next(isEvent), await socket.next(isEvent)].map(each => each.payload?.event)
  expect(events.map(event => event?.type)).toEqual(['app_mention', 'message'])
  expect(events).toEqual([expect.objectContaining({ ts }), expect.objectContaining({ ts })])
})

test('a command without a connection, and one without an answer: the person sees why', async () => {
  const line = { user: 'developer', channel: 'incidents', text: '/cni status' }
  expect(await slack.command(line)).toMatchObject({ acked: false, error: 'dispatch_failed' })
  const socket = await rawSocket(slack)
  const [outcome] = await Promise.all([
    slack.command(line),
    socket.next(each => each.type === 'slash_commands'),
  ])
  expect(outcome).toMatchObject({ acked: false, error: 'operation_timeout' })
  expect(slack.ephemerals('developer').map(message => message.text)).toEqual([
    '/cni failed with the error "dispatch_failed"',
    '/cni failed with the error "operation_timeout"',
  ])
  expect(slack.failures()).toHaveLength(2)
})
