import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Answer, NodeAnswers } from '../../../src/core/evidence/bundle.js'
import { readNodeAnswers, silentNode } from '../../../src/core/evidence/parse/answers.js'
import { output, type Part, probeText } from './probe-text.js'

const fixture = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url)), 'utf8')
/** What the probe printed on a practice node: three Pods, five leaked addresses. */
const whole = fixture('probe-node-07/answer.txt')
const asked = { at: Date.parse('2026-11-04T11:29:59Z'), now: Date.parse('2026-11-04T11:30:10Z') }

const value = <T>(answer: Answer<T>): T => {
  if ('value' in answer) return answer.value
  throw new Error(answer.reason)
}
const reason = (answer: Answer<unknown>): string => ('value' in answer ? 'known' : answer.reason)
const read = (parts: Record<string, Part>, change = {}): NodeAnswers =>
  readNodeAnswers(output(probeText(parts), change), asked)

test('P-E3…P-E9: every part of a whole answer is known and dated by our clock', () => {
  const answers = readNodeAnswers(output(whole), asked)
  for (const answer of Object.values(answers)) {
    expect(reason(answer)).toBe('known')
    expect(answer.at).toBeGreaterThanOrEqual(asked.at)
    expect(answer.at).toBeLessThanOrEqual(asked.now)
  }
  expect(value(answers.stores)[0]?.allocations).toHaveLength(8)
  expect(value(answers.sandboxes)).toHaveLength(3)
  expect(value(answers.owners).map(({ known }) => known)).toEqual([false, false, false, false, false, true])
})

test('an answer cut anywhere loses what is missing and nothing turns to zero', () => {
  const full = readNodeAnswers(output(whole), asked)
  const independent = ['sandboxes', 'owners', 'held', 'leftovers', 'conflist', 'journal'] as const
  for (let length = 0; length < whole.length; length += 97) {
    const cut = readNodeAnswers(output(whole.slice(0, length), { exitCode: undefined }), asked)
    for (const part of independent) {
      if ('value' in cut[part]) expect(cut[part]).toEqual(full[part])
      else expect(reason(cut[part])).toContain('the connection ended before this part arrived')
    }
    if ('value' in cut.stores) expect(cut.stores).toEqual(full.stores)
    if ('value' in cut.records) expect(cut.records).toEqual(full.records)
  }
})

test('nothing that a file or program says can pose as a frame', () => {
  const evil = `>end 1\n=0 \n>sandboxes 1\n {"items":[]}\n=0 \n>stores 1`
  const answers = read({ journal: { body: evil }, sandboxes: { body: evil, code: 0 } })
  expect(reason(answers.sandboxes)).toMatch(/the answer is no list of sandboxes/)
  expect(reason(answers.stores)).toMatch(/^stores: /)
})

test.each<[string, Parameters<typeof output>[1], RegExp]>([
  ['a time limit here', { timedOut: true }, /did not finish answering in time/],
  ['a time limit there', { exitCode: 124 }, /ran into its time limit on the node/],
  [
    'sudo for the whole probe',
    { exitCode: 1, stderr: 'sudo: a password is required\n' },
    /^host: sudo refused on the node \(sudo: a password is required\); allow the probe in sudoers$/,
  ],
  [
    'no shell',
    { exitCode: 127, stderr: 'bash: line 1: /bin/sh: not found\n' },
    /exit code 127: bash: line 1: \/bin\/sh: not found$/,
  ],
  ['a cap on output', { truncated: true }, /was cut before this part arrived/],
])('no answer at all, because of %s, is said once in every part', (_, change, line) => {
  const answers = readNodeAnswers(output('', change), asked)
  for (const answer of Object.values(answers))
    expect(reason(answer)).toMatch(line.source.startsWith('^host') ? /sudo refused/ : line)
  expect(reason(answers.host)).toMatch(line)
})

test('a node that could not be asked has no known part', () => {
  const answers = silentNode('node-07 refuses connections', 5)
  for (const answer of Object.values(answers))
    expect(answer).toEqual({ at: 5, reason: 'node-07 refuses connections' })
})

describe('host', () => {
  const host = (now: string): Part => ({
    body: `hostname node-07\u001b[2J\nnow ${now}\nuid 0\nboot_id dd4c5c9e-8d7c-5f0a-963e-51001d2207b9\nbtime 1792063800`,
  })
  test('a clock within the time of asking counts as right', () => {
    expect(value(read({ host: host(String(asked.at / 1000 + 2)) }).host)).toMatchObject({
      skewMs: 0,
      hostname: 'node-07',
    })
  })
  test('a clock an hour behind or ahead: answers are dated by ours', () => {
    const behind = read({ host: host(String(asked.at / 1000 - 3600)) })
    expect(value(behind.host).skewMs).toBe(-3_600_000)
    const ahead = readNodeAnswers(
      output(
        probeText(
          { host: host(String(asked.now / 1000 + 3600)), held: { body: '@host\n[]' } },
          asked.now / 1000 + 3600,
        ),
      ),
      asked,
    )
    expect(value(ahead.host).skewMs).toBe(3_600_000)
    expect(ahead.held.at).toBe(asked.now + 500)
  })
  test('no boot id is no host', () => {
    expect(
      reason(read({ host: { body: 'now 5', code: 1, said: 'cat: boot_id: Permission denied' } }).host),
    ).toMatch(/Permission denied/)
  })
})
