import type { Answer, NodeAnswers } from '../../../src/core/evidence/bundle.js'
import { readNodeAnswers } from '../../../src/core/evidence/parse/answers.js'
import { content, id, output, type Part, probeText } from './probe-text.js'

const asked = { at: Date.parse('2026-11-04T11:29:59Z'), now: Date.parse('2026-11-04T11:30:10Z') }

const value = <T>(answer: Answer<T>): T => {
  if ('value' in answer) return answer.value
  throw new Error(answer.reason)
}
const reason = (answer: Answer<unknown>): string => ('value' in answer ? 'known' : answer.reason)
const read = (parts: Record<string, Part>, change = {}): NodeAnswers =>
  readNodeAnswers(output(probeText(parts), change), asked)

const conflist = JSON.stringify({
  cniVersion: '1.0.0',
  name: 'cbr0',
  plugins: [
    {
      type: 'bridge',
      ipam: {
        type: 'host-local',
        dataDir: '/data',
        ranges: [[{ subnet: '10.1.0.0/24', gateway: '10.1.0.9' }]],
      },
    },
    { type: 'portmap' },
  ],
})
const file = (path: string, text: string): string =>
  [`@${path}`, ...text.split('\n').map(line => `|${line}`)].join('\n')
const first = '/etc/cni/net.d/10-a.conflist'

describe('P-E3: stores', () => {
  const dir = '/var/lib/cni/networks/cbr0'
  const entry = (
    name: string,
    change: { flag?: string; type?: string; inode?: number; size?: number; time?: string } = {},
  ) =>
    `${change.flag ?? 'r'}${change.type ?? 'f'} ${change.inode ?? 7} ${change.size ?? 70} ${change.time ?? '100.5000000000'} ${name}\0`
  const lines = (name: string, text: string): string =>
    text
      .split('\n')
      .map(line => `${name}\t${line}`)
      .join('\n')
  const stores = (entries: string[], contents: string, part: Partial<Part> = {}): NodeAnswers['stores'] =>
    read({
      stores: { body: `@${dir}\0${entries.join('')}` },
      contents: { body: `@${dir}\n${contents}`, ...part },
    }).stores
  const only = (answer: NodeAnswers['stores']) => {
    const [store] = value(answer)
    if (store === undefined) throw new Error('no store')
    return store
  }

  test('content is kept byte for byte, ids old and new, IPv6, sorted by number', () => {
    const store = only(
      stores(
        [
          entry('10.1.0.10'),
          entry('10.1.0.9', { size: 64 }),
          entry('fd00::a'),
          entry('10.1.0.8', { size: 65 }),
        ],
        [
          lines('10.1.0.10', content(id('a'))),
          lines('10.1.0.9', id('b')),
          lines('fd00::a', content(id('a'))),
          lines('10.1.0.8', id('c')),
        ].join('\n'),
      ),
    )
    expect(
      store.allocations.map(({ ip, owner, ifname, content: text }) => [ip, owner[0], ifname, text.length]),
    ).toEqual([
      ['10.1.0.8', 'c', undefined, 65],
      ['10.1.0.9', 'b', undefined, 64],
      ['10.1.0.10', 'a', 'eth0', 70],
      ['fd00::a', 'a', 'eth0', 70],
    ])
    expect(store.allocations[0]?.content).toBe(`${id('c')}\n`)
    expect(store.allocations[2]?.content).toBe(`${id('a')}\r\neth0`)
    expect(store.allocations[2]).toMatchObject({ inode: 7, mtime: 100_500 })
  })
  test('an empty file is an allocation without an owner', () => {
    expect(only(stores([entry('10.1.0.2', { size: 0 })], '')).allocations).toMatchObject([
      { owner: '', content: '', size: 0 },
    ])
  })
  test('blank lines before the owner hide it from nobody: the plugin trims the whole before it compares', () => {
    const text = `\n ${id('3')}\r\neth0`
    const answer = stores([entry('10.1.0.5', { size: text.length })], lines('10.1.0.5', text))
    expect(only(answer).allocations).toMatchObject([{ owner: id('3'), ifname: 'eth0', content: text }])
  })

  test('bookkeeping, folders, links, other names and long files are no allocations', () => {
    const store = only(
      stores(
        [
          entry('lock', { size: 0, inode: 42 }),
          entry('last_reserved_ip.0'),
          entry('10.1.0.2', { type: 'd' }),
          entry('10.1.0.3', { type: 'l' }),
          entry('10.1.0.04'),
          entry('FD00::A'),
          entry('fd00:0::a'),
          entry('10.1.0.5', { size: 513 }),
          entry('odd name\nwith\u001b[31m lines'),
        ],
        '',
      ),
    )
    expect(store).toMatchObject({
      allocations: [],
      bookkeeping: ['lock', 'last_reserved_ip.0'],
      lockInode: 42,
      entries: 9,
    })
    expect(store.foreign).toEqual([
      { name: '10.1.0.2', why: 'a folder' },
      { name: '10.1.0.3', why: 'a link' },
      { name: '10.1.0.04', why: 'the name is no address as the plugin writes it' },
      { name: 'FD00::A', why: 'the name is no address as the plugin writes it' },
      { name: 'fd00:0::a', why: 'the name is no address as the plugin writes it' },
      { name: '10.1.0.5', why: '513 bytes are too many for an address file' },
      { name: 'odd name with lines', why: 'the name is no address as the plugin writes it' },
    ])
  })
  test('a file that went away between the two readings is free; one that cannot be read is not', () => {
    const two = [entry('10.1.0.2'), entry('10.1.0.3')]
    const one = lines('10.1.0.2', content(id('a')))
    expect(only(stores(two, one)).unreadable).toEqual([])
    const store = only(stores(two, one, { said: 'grep: /x/10.1.0.3: Input/output error' }))
    expect(store.unreadable).toEqual([{ name: '10.1.0.3', why: 'grep: /x/10.1.0.3: Input/output error' }])
    expect(only(stores([entry('10.1.0.2'), entry('10.1.0.3', { flag: '-' })], one)).unreadable).toHaveLength(
      1,
    )
  })
  test('a store of which nothing could be read is no empty store', () => {
    const closed = [entry('10.1.0.2', { flag: '-' }), entry('10.1.0.3', { flag: '-' })]
    expect(reason(stores(closed, '', { said: 'sudo: a password is required' }))).toBe(
      `${dir}: none of 2 address files could be read: sudo: a password is required; allow this command for the probe’s user in sudoers`,
    )
    expect(reason(read({ stores: { body: `@${dir}\0${entry('10.1.0.2')}` } }).stores)).toMatch(
      /its content did not arrive/,
    )
    expect(reason(read({ stores: { body: '', code: 1, said: 'find: Permission denied' } }).stores)).toMatch(
      /Permission denied$/,
    )
    expect(reason(read({ stores: { body: '' } }).stores)).toMatch(/has no network/)
  })
  test('the conflist’s own network comes first', () => {
    const body = `@/var/lib/cni/networks/aaa\0@/data/cbr0\0${entry('lock', { size: 0 })}`
    const answers = read({
      conflist: { body: file(first, conflist) },
      stores: { body },
      contents: { body: '' },
    })
    expect(value(answers.stores).map(({ network }) => network)).toEqual(['cbr0', 'aaa'])
  })
  test('a full store of 65,000 files', () => {
    const names = Array.from({ length: 65_000 }, (_, n) => `10.${1 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`)
    const store = only(
      stores(
        names.map(name => entry(name)),
        names.map(name => lines(name, content(id('a')))).join('\n'),
      ),
    )
    expect(store.allocations).toHaveLength(65_000)
    expect(store.allocations.at(-1)?.ip).toBe('10.1.253.231')
  })
})
