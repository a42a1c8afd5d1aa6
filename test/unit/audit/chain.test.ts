import { createHash } from 'node:crypto'
import { beginOf, chained, type ChainEntry, readLine, verifyChain } from '../../../src/core/audit/chain.js'
import type { AuditFacts } from '../../../src/core/audit/entry.js'
import { canonical } from '../../../src/core/runbook/plan.js'

const cluster = 'prod-eu1'
const facts = (position: number): AuditFacts => ({
  at: 1_000 + position,
  by: 'U1',
  type: 'StepApproved',
  stream: 'run/node-07.1-r1',
  position,
  event: 'e'.repeat(64),
  plan: 'd'.repeat(64),
})
const chain = (length: number, of = cluster): string[] =>
  chained(
    beginOf(of),
    Array.from({ length }, (_, i) => facts(i)),
  ).lines
const five = chain(5)
const at = (n: number): string => five[n - 1] ?? ''
const hashOf = (line: string): string => line.slice(0, 64)

/** A line as somebody would make it who knows how: its text gives its hash. */
const forged = (line: string, change: Partial<ChainEntry>): string => {
  const read = readLine(line)
  if (!read) throw new Error('no entry')
  const text = canonical({ ...read.entry, ...change })
  return `${createHash('sha256').update(text).digest('hex')} ${text}`
}

describe('a chain', () => {
  it('is whole as it was written, and says from when to when and with which head', () => {
    expect(verifyChain(cluster, five)).toEqual({
      whole: true,
      entries: 5,
      from: 1_000,
      to: 1_004,
      head: hashOf(at(5)),
    })
    expect(verifyChain(cluster, [])).toEqual({
      whole: true,
      entries: 0,
      from: undefined,
      to: undefined,
      head: beginOf(cluster).hash,
    })
  })

  it('is the same in one piece or in several', () => {
    const first = chained(beginOf(cluster), [facts(0), facts(1)])
    const rest = chained(first.tip, [facts(2), facts(3), facts(4)])
    expect([...first.lines, ...rest.lines]).toEqual(five)
    expect(rest.tip).toEqual({ n: 5, hash: hashOf(at(5)) })
  })

  const changedText = at(3).replace('"by":"U1"', '"by":"U2"')
  it.each<[string, string[], number, string]>([
    ['a changed entry', [at(1), at(2), changedText, at(4), at(5)], 3, 'entry 3 was changed: its text'],
    [
      'a changed hash',
      [at(1), at(2), `${'0'.repeat(64)}${at(3).slice(64)}`, at(4)],
      3,
      'entry 3 was changed: its text',
    ],
    ['an entry that is none', [at(1), at(2), 'x', at(4)], 3, 'entry 3 was changed: it can no longer be read'],
    [
      'a changed entry with a hash made anew',
      [at(1), at(2), forged(at(3), { by: 'U2' }), at(4), at(5)],
      4,
      'entry 4 does not stand on this entry 3',
    ],
    ['a removed entry', [at(1), at(2), at(4), at(5)], 3, 'entry 3 is missing: entry 4 follows entry 2'],
    ['several removed', [at(1), at(4), at(5)], 2, 'entries 2 to 3 are missing: entry 4 follows entry 1'],
    [
      'a removed beginning',
      [at(3), at(4), at(5)],
      1,
      'entries 1 to 2 are missing: entry 3 follows the beginning',
    ],
    [
      'a removed entry, the next one numbered anew',
      [at(1), at(2), forged(at(4), { n: 3 }), at(5)],
      3,
      'entry 3 does not stand on this entry 2',
    ],
    [
      'an entry put in',
      [at(1), at(2), forged(at(2), { by: 'U2' }), at(3), at(4)],
      3,
      'an entry was inserted behind entry 2: it calls itself 2 again',
    ],
    [
      'an entry put in that fits',
      [at(1), at(2), forged(at(3), { by: 'U2' }), at(3), at(4)],
      4,
      'an entry was inserted behind entry 3: it calls itself 3 again',
    ],
    ['an entry twice', [at(1), at(2), at(2), at(3)], 3, 'an entry was inserted behind entry 2'],
    [
      'two that changed places',
      [at(1), at(3), at(2), at(4), at(5)],
      2,
      'entry 2 was moved: it stands at place 3',
    ],
    [
      'an entry that was moved to the end',
      [at(1), at(3), at(4), at(5), at(2)],
      2,
      'entry 2 was moved: it stands at place 5',
    ],
    [
      'the chain of another cluster',
      chain(5, 'prod-us1'),
      1,
      'entry 1 does not begin the chain of cluster prod-eu1',
    ],
  ])('names the first place of %s', (_what, lines, n, says) => {
    expect(verifyChain(cluster, lines)).toEqual({ whole: false, n, says: expect.stringContaining(says) })
  })

  it('finds a tail that was cut off by a head that was noted, and by nothing else', () => {
    const cut = five.slice(0, 3)
    expect(verifyChain(cluster, cut)).toMatchObject({ whole: true, entries: 3 })
    expect(verifyChain(cluster, cut, hashOf(at(5)))).toEqual({
      whole: false,
      n: 4,
      says: `the head ${hashOf(at(5))} is not in the chain, which ends with entry 3: its tail was cut off, or all of it was written anew`,
    })
    expect(verifyChain(cluster, five, hashOf(at(3)).slice(0, 8))).toMatchObject({ whole: true, entries: 5 })
    expect(verifyChain(cluster, [], hashOf(at(1)))).toMatchObject({ whole: false, n: 1 })
  })

  it('written anew as a whole is found by a noted head', () => {
    const anew = chained(beginOf(cluster), [facts(0), { ...facts(1), by: 'U2' }, facts(2)]).lines
    expect(verifyChain(cluster, anew)).toMatchObject({ whole: true })
    expect(verifyChain(cluster, anew, hashOf(at(2)))).toMatchObject({ whole: false })
  })
})
