import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type LocalSlack, startSlack } from '../../lab/slack/index.js'

let slack: LocalSlack
let channel: string

beforeAll(async () => {
  slack = await startSlack()
  channel = slack.channelId('incidents')
})
afterAll(() => slack.close())

interface Answer {
  ok: boolean
  error?: string
  response_metadata?: { messages?: string[] }
}

const send = async (args: Record<string, unknown>, method = 'chat.postMessage'): Promise<Answer> => {
  const headers = { authorization: `Bearer ${slack.botToken}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ channel, ...args })
  return (await (await fetch(`${slack.apiUrl}${method}`, { method: 'POST', headers, body })).json()) as Answer
}

const many = (count: number): string => 'x'.repeat(count)
const plain = (length: number) => ({ type: 'plain_text', text: many(length) })
const mrkdwn = (length: number) => ({ type: 'mrkdwn', text: many(length) })
const section = (length: number) => ({ type: 'section', text: mrkdwn(length) })
const button = (more: object = {}) => ({ type: 'button', action_id: 'go', text: plain(5), ...more })
const actions = (...elements: object[]) => ({ type: 'actions', elements })
const confirm = (more: object = {}) => ({
  confirm: { title: plain(9), text: plain(9), confirm: plain(3), deny: plain(2), ...more },
})
const options = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ text: plain(3), value: `${n}` }))
const boxes = (count: number) => ({ type: 'checkboxes', action_id: 'c', options: options(count) })
const select = (count: number) => ({ type: 'static_select', action_id: 's', options: options(count) })
const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n))
const rows = (height: number, width: number) => ({
  type: 'table',
  rows: times(height, () => times(width, () => ({ type: 'raw_text', text: 'x' }))),
})

// name, the most that is taken, the least that is not, and the place Slack points at
const cases: [string, object[], object[], string][] = [
  ['section text 3,000', [section(3000)], [section(3001)], '/blocks/0/text/text'],
  [
    'fields 10',
    [{ type: 'section', fields: times(10, () => mrkdwn(1)) }],
    [{ type: 'section', fields: times(11, () => mrkdwn(1)) }],
    '/blocks/0/fields',
  ],
  [
    'field text 2,000',
    [{ type: 'section', fields: [mrkdwn(2000)] }],
    [{ type: 'section', fields: [mrkdwn(2001)] }],
    '/blocks/0/fields/0/text',
  ],
  ['blocks 50', times(50, () => ({ type: 'divider' })), times(51, () => ({ type: 'divider' })), '/blocks'],
  [
    'header 150',
    [{ type: 'header', text: plain(150) }],
    [{ type: 'header', text: plain(151) }],
    '/blocks/0/text/text',
  ],
  [
    'header is plain text',
    [{ type: 'header', text: plain(1) }],
    [{ type: 'header', text: mrkdwn(1) }],
    '/blocks/0/text/type',
  ],
  [
    'context elements 10',
    [{ type: 'context', elements: times(10, () => mrkdwn(1)) }],
    [{ type: 'context', elements: times(11, () => mrkdwn(1)) }],
    '/blocks/0/elements',
  ],
  [
    'actions 25',
    [actions(...times(25, n => button({ action_id: `${n}` })))],
    [actions(...times(26, n => button({ action_id: `${n}` })))],
    '/blocks/0/elements',
  ],
  [
    'button text 75',
    [actions(button({ text: plain(75) }))],
    [actions(button({ text: plain(76) }))],
    '/blocks/0/elements/0/text/text',
  ],
  [
    'button value 2,000',
    [actions(button({ value: many(2000) }))],
    [actions(button({ value: many(2001) }))],
    '/blocks/0/elements/0/value',
  ],
  [
    'action_id 255',
    [actions(button({ action_id: many(255) }))],
    [actions(button({ action_id: many(256) }))],
    '/blocks/0/elements/0/action_id',
  ],
  [
    'block_id 255',
    [{ type: 'divider', block_id: many(255) }],
    [{ type: 'divider', block_id: many(256) }],
    '/blocks/0/block_id',
  ],
  [
    'block_id unique',
    [
      { type: 'divider', block_id: 'a' },
      { type: 'divider', block_id: 'b' },
    ],
    [
      { type: 'divider', block_id: 'a' },
      { type: 'divider', block_id: 'a' },
    ],
    '/blocks/1/block_id',
  ],
  [
    'action_id unique in a block',
    [actions(button(), button({ action_id: 'b' }))],
    [actions(button(), button())],
    '/blocks/0/elements/1/action_id',
  ],
  [
    'confirm title 100',
    [actions(button(confirm({ title: plain(100) })))],
    [actions(button(confirm({ title: plain(101) })))],
    '/blocks/0/elements/0/confirm/title/text',
  ],
  [
    'confirm text 300',
    [actions(button(confirm({ text: plain(300) })))],
    [actions(button(confirm({ text: plain(301) })))],
    '/blocks/0/elements/0/confirm/text/text',
  ],
  [
    'confirm button 30',
    [actions(button(confirm({ confirm: plain(30) })))],
    [actions(button(confirm({ confirm: plain(31) })))],
    '/blocks/0/elements/0/confirm/confirm/text',
  ],
  ['checkbox options 10', [actions(boxes(10))], [actions(boxes(11))], '/blocks/0/elements/0/options'],
  ['select options 100', [actions(select(100))], [actions(select(101))], '/blocks/0/elements/0/options'],
  ['table rows 100', [rows(100, 1)], [rows(101, 1)], '/blocks/0/rows'],
  ['table cells 20', [rows(1, 20)], [rows(1, 21)], '/blocks/0/rows/0'],
  ['one table a message', [rows(1, 1)], [rows(1, 1), rows(1, 1)], '/blocks'],
  ['section needs text or fields', [section(1)], [{ type: 'section' }], '/blocks/0'],
  ['text is not empty', [section(1)], [section(0)], '/blocks/0/text/text'],
  ['known types only', [{ type: 'divider' }], [{ type: 'sparkles' }], '/blocks/0/type'],
]

describe('block limits', () => {
  test.each(cases)('%s', async (_name, taken, refused, pointer) => {
    expect(await send({ text: 'a', blocks: taken })).toMatchObject({ ok: true })
    const answer = await send({ text: 'a', blocks: refused })
    expect(answer).toMatchObject({ ok: false, error: 'invalid_blocks' })
    expect(answer.response_metadata?.messages?.join('\n')).toContain(`[json-pointer:${pointer}]`)
  })

  test('the sentence is the one Slack writes', async () => {
    const long = await send({ text: 'a', blocks: [section(3001)] })
    expect(long.response_metadata?.messages).toEqual([
      '[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]',
    ])
    const missing = await send({ text: 'a', blocks: [{ type: 'header' }] })
    expect(missing.response_metadata?.messages).toEqual([
      '[ERROR] missing required field: text [json-pointer:/blocks/0/text]',
    ])
  })

  test('a refused message leaves nothing behind', async () => {
    const before = slack.messages('incidents').length
    await send({ text: 'a', blocks: [section(3001)] })
    expect(slack.messages('incidents')).toHaveLength(before)
  })
})

describe('message limits', () => {
  test('all blocks together: over 13,200 characters is msg_blocks_too_long', async () => {
    // Each mrkdwn section counts its text only: ids are Slack's own here.
    expect(await send({ text: 'a', blocks: times(5, () => section(2640)) })).toMatchObject({ ok: true })
    expect(await send({ text: 'a', blocks: times(5, () => section(2641)) })).toMatchObject({
      error: 'msg_blocks_too_long',
    })
  })

  test('no text and no blocks is no_text; blocks that are no list are invalid_blocks_format', async () => {
    expect(await send({})).toMatchObject({ error: 'no_text' })
    expect(await send({ text: '  ' })).toMatchObject({ error: 'no_text' })
    expect(await send({ text: 'a', blocks: '{' })).toMatchObject({ error: 'invalid_blocks_format' })
    expect(await send({ text: 'a', blocks: {} })).toMatchObject({ error: 'invalid_blocks_format' })
  })

  test('text over 4,040 characters arrives as several messages, over 40,000 is cut off', async () => {
    const before = slack.messages('incidents').length
    await send({ text: many(4041) })
    expect(
      slack
        .messages('incidents')
        .slice(before)
        .map(message => message.text.length),
    ).toEqual([4040, 1])
    await send({ text: many(50_000), blocks: [section(1)] })
    expect(slack.messages('incidents').at(-1)?.text).toHaveLength(40_000)
  })

  test('metadata over 16,000 characters is metadata_too_large', async () => {
    const metadata = { event_type: 'op', event_payload: { op: many(16_000) } }
    expect(await send({ text: 'a', metadata })).toMatchObject({ error: 'metadata_too_large' })
  })
})

describe('view limits', () => {
  const text = (length: number) => ({ type: 'plain_text', text: many(length) })
  const modal = { type: 'modal', title: text(24), blocks: [] }
  const input = { type: 'input', label: text(1), element: { type: 'plain_text_input' } }

  test.each([
    ['title 24', { ...modal, title: text(25) }, '/view/title/text'],
    ['private_metadata 3,000', { ...modal, private_metadata: many(3001) }, '/view/private_metadata'],
    ['callback_id 255', { ...modal, callback_id: many(256) }, '/view/callback_id'],
    ['blocks 100', { ...modal, blocks: times(101, () => ({ type: 'divider' })) }, '/view/blocks'],
    ['an input needs a submit button', { ...modal, blocks: [input] }, '/view'],
    ['no table in a view', { ...modal, blocks: [rows(1, 1)] }, '/view/blocks/0/type'],
  ])('%s', async (_name, view, pointer) => {
    const answer = await send({ trigger_id: 'none', view }, 'views.open')
    expect(answer).toMatchObject({ error: 'invalid_arguments' })
    expect(answer.response_metadata?.messages?.join('\n')).toContain(`[json-pointer:${pointer}]`)
    expect(await send({ trigger_id: 'none', view: modal }, 'views.open')).toMatchObject({
      error: 'invalid_trigger_id',
    })
  })
})
