import { jest } from '@jest/globals'
import { readCniMessage } from '../../../../src/core/diagnosis/cni-message.js'
import { messageRules } from '../../../../src/core/diagnosis/message-rules.js'
import { readableChars } from '../../../../src/core/diagnosis/messages/plain-text.js'
import { seeded } from './mutate.js'

const mega = 1_000_000
const repeated = (part: string): string => part.repeat(Math.ceil(mega / part.length)).slice(0, mega)

const hostile: Record<string, string> = {
  letters: repeated('a'),
  blanks: repeated(' '),
  backslashes: repeated('\\'),
  quotes: repeated('\\\\\\"'),
  newlines: repeated('\n'),
  tabs: repeated('\t'),
  brackets: repeated('[a/b:c]: '),
  ranges: `no IP addresses available in range set: ${repeated('10.0.0.1-10.0.0.6,')}`,
  plugins: repeated('plugin type="x" name="y" failed (add): '),
  beginnings: repeated('could not add IP address to '),
  'cached results': repeated('cached result: '),
  probes: repeated('readiness probe failed '),
  'no nodes': repeated('0/1 nodes are available '),
  places: repeated('a/a.go:1'),
  pods: repeated('pod "a_b'),
  json: repeated('{"msg":"'),
  prefixes: repeated('E0303 09:08:07.1 1 x.go:1] '),
}

/** How often regular expressions were run while a text was read, and over how many characters in all. */
const countedRead = (text: string): { runs: number; chars: number } => {
  const spy = jest.spyOn(RegExp.prototype, 'exec')
  readCniMessage(text)
  const lengths = spy.mock.calls.map(([given]) => given.length)
  spy.mockRestore()
  return { runs: lengths.length, chars: lengths.reduce((sum, length) => sum + length, 0) }
}

/** Quantifiers that have no upper bound. */
const unbounded = (source: string): string[] =>
  source
    .replace(/\\./g, 'x')
    .replace(/\[[^\]]*\]/g, 'c')
    .match(/.[*+]|\{\d+,\}/g) ?? []

describe('hostile text costs no more than its size', () => {
  test.each(Object.entries(hostile))('1 MB of %s: only a bounded part is looked at', (_what, text) => {
    expect(text.length).toBeGreaterThanOrEqual(mega)
    const most = readableChars.head + readableChars.tail + 1
    const whole = countedRead(text)
    const twice = countedRead(`${text.slice(0, -readableChars.tail)}${text}`)
    expect(whole.runs).toBeGreaterThan(0)
    expect(twice).toEqual(whole)
    expect(readCniMessage(text).plain.length).toBeLessThanOrEqual(most)
  })

  test('every rule repeats at most a stated number of times', () => {
    expect(messageRules.length).toBeGreaterThan(70)
    expect(
      messageRules.flatMap(({ code, when }) => unbounded(when.source).map(part => `${code}: ${part}`)),
    ).toEqual([])
  })

  test('no rule is about a file or a line of source', () => {
    expect(messageRules.filter(({ when }) => /\\?\.go\b/.test(when.source)).map(({ code }) => code)).toEqual(
      [],
    )
  })

  test('rules are tried on lower case and keep no state', () => {
    for (const { when } of messageRules) {
      expect(when.flags).toBe('')
      expect(when.source.replace(/\\[A-Za-z]/g, '')).toBe(
        when.source.replace(/\\[A-Za-z]/g, '').toLowerCase(),
      )
    }
  })

  test('10,000 texts of chance are read without a throw, and their parts keep within bounds', () => {
    const random = seeded(99)
    const pieces = [
      '"',
      '\\',
      '\n',
      '[',
      ']',
      '{',
      '/',
      ':',
      'pod ',
      'failed ',
      'plugin type=',
      'range set: ',
      '10.',
      '\u0000',
      '\uD800',
      'İ',
      'ß',
      '"x_y(',
      '<',
      '%!(MISSING)',
    ]
    for (let n = 0; n < 10_000; n++) {
      const text = Array.from({ length: 12 }, () => pieces[Math.floor(random() * pieces.length)]).join('')
      const { says, ranges, port, matched, plain } = readCniMessage(text)
      expect(says.length).toBeLessThan(160)
      expect(ranges.length).toBeLessThanOrEqual(64)
      expect(port === undefined || port <= 65_535).toBe(true)
      expect(matched === undefined || plain.includes(matched)).toBe(true)
    }
  })
})
