import {
  buttons,
  characters,
  context,
  digestOf,
  message,
  preformatted,
  section,
  table,
} from '../../../src/view/blocks.js'
import {
  asMrkdwn,
  asPlain,
  asTerminal,
  clean,
  code,
  named,
  namedInShort,
  person,
  strong,
  t,
} from '../../../src/view/text.js'
import { blockProblems } from '../../lab/slack/limits/blocks.js'
import { shown } from './shown.js'

const long = 'x'.repeat(20_000)

test('no builder makes a block that Slack refuses, whatever it is given', () => {
  const value = { action: 'hold' as const, cluster: 'c', incident: 'i' }
  const ask = { title: long, text: t`${long}`, confirm: long, deny: long }
  const blocks = [
    section([t`${long}`]),
    section([]),
    context(Array.from({ length: 12 }, () => t`${long}`)),
    table(
      Array.from({ length: 120 }, () => Array.from({ length: 25 }, () => '')),
      Array.from({ length: 20 }, () => 'left' as const),
    ),
    preformatted(long),
    ...buttons([
      { text: long, value, confirm: ask },
      { text: '', value },
    ]),
  ]
  for (const block of blocks) expect(blockProblems([block], 'message')).toEqual([])
})

test('lines that do not fit are counted in the last line', () => {
  const text = shown({
    text: '',
    blocks: [section(Array.from({ length: 400 }, (_, i) => t`line number ${i}`))],
  })
  expect(text).toMatch(/… \d+ more, attached$/)
  const left = Number(/… (\d+) more/.exec(text)?.[1])
  expect(text.split('\n').length - 1 + left).toBe(400)
})

test('a message of too many long parts is cut until Slack takes it, and says so', () => {
  const blocks = Array.from({ length: 8 }, () =>
    section(Array.from({ length: 60 }, (_, i) => t`${'y'.repeat(30)} ${i}`)),
  )
  const made = message(t`x`, blocks)
  expect(characters(made.blocks)).toBeLessThanOrEqual(9_900)
  expect(shown(made)).toContain('more lines left out')
})

test.each([
  ['<!channel> & <@U1>', '&lt;!channel&gt; &amp; &lt;@U1&gt;'],
  ['```end', 'ʼʼʼend'],
  ['\u001b[31mred\u001b[0m \u001b]0;title\u0007x', 'red x'],
  ['a\r\nb\tc\u0000', 'a\nb c'],
  ['\u202egnp.exe\u200b', 'gnp.exe'],
])('%j is shown as %j', (from, to) => {
  expect(asMrkdwn(t`${from}`)).toBe(to)
})

test.each([
  'docker login failed for xoxb-12-hidden',
  'GET https://api: Authorization: Bearer hid\u200bden.hidden',
  'pull redis://u:hidden@registry failed',
  '-----BEGIN EC PRIVATE KEY-----\nhidden\n-----END EC PRIVATE KEY-----',
])('of %j the secret is shown nowhere: not in Slack, a file, a terminal or a dialog', hostile => {
  const value = { action: 'undo' as const, cluster: 'c', incident: 'i' }
  const ask = { title: hostile, text: t`${hostile}`, confirm: 'Undo', deny: 'Back' }
  const padded = `${'y'.repeat(2_850)} ${hostile}`
  const blocks = [
    section([t`${hostile} ${strong(hostile)} ${code(hostile)}`]),
    section([t`${padded} ${'z'.repeat(3_000)}`]),
    context([t`${hostile}`]),
    table([[hostile]], ['left']),
    preformatted(hostile),
    ...buttons([{ text: hostile, value, confirm: ask }]),
  ]
  const everywhere = [
    JSON.stringify(message(t`${hostile}`, blocks)),
    asTerminal(t`${hostile}`, true),
    asPlain(t`${hostile}`),
  ]
  for (const text of everywhere) expect(text).not.toMatch(/hid(den)?/)
})

test('only what looks like a Slack id becomes a mention', () => {
  expect(asMrkdwn(t`${person('U0APPROVE1')} ${person('cnibot')} ${person('<!here>')}`)).toBe(
    '<@U0APPROVE1> cnibot &lt;!here&gt;',
  )
  expect(asMrkdwn(named('@sre or <!subteam^S012|sre> <!here>'))).toBe(
    '@sre or <!subteam^S012|sre> &lt;!here&gt;',
  )
})

test('a long list of approvers is named in short where nobody is asked', () => {
  expect(asMrkdwn(namedInShort('<!subteam^S012>, <@U1>, <@U2>'))).toBe('<!subteam^S012>, <@U1>, <@U2>')
  expect(asMrkdwn(namedInShort('<!subteam^S012>, <@U1>, <@U2>, <@U3>, <@U4>'))).toBe(
    '<!subteam^S012>, <@U1>, <@U2> and 2 more',
  )
})

test('marks are marks in Slack, colours at a terminal, nothing without colour', () => {
  const text = t`${strong('a')} ${code('b')} ${2}`
  expect(asMrkdwn(text)).toBe('*a* `b` 2')
  expect(asTerminal(text, false)).toBe('a b 2')
  expect(asTerminal(text, true)).toBe('\u001b[1ma\u001b[22m \u001b[2mb\u001b[22m 2')
})

test('a command in a preformatted block is the command, character by character', () => {
  const command = "sudo -n /x 'a `b` <c> & *d*'"
  expect(shown({ text: '', blocks: [preformatted(command)] })).toBe(command)
  expect(clean(command)).toBe(command)
})

test('the digest follows what is shown, not the order of fields', () => {
  expect(digestOf({ text: 'a', blocks: [{ type: 'x', b: 1 }] })).toBe(
    digestOf({ text: 'a', blocks: [{ b: 1, type: 'x' }] }),
  )
  expect(digestOf({ text: 'a', blocks: [] })).not.toBe(digestOf({ text: 'b', blocks: [] }))
})
