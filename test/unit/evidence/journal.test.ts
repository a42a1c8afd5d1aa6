import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  isAddFailure,
  isAddSuccess,
  isDelFailure,
  readJournal,
} from '../../../src/core/evidence/parse/journal.js'

const fixture = (name: string): string[] =>
  readFileSync(fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url)), 'utf8')
    .trimEnd()
    .split('\n')

const messages = fixture('messages.tsv')
  .slice(1)
  .map(line => line.split('\t'))
  .map(([key = '', , , kind = '', , sample = '']) => ({ key, kind, sample }))

test('P-E7: the collection of wordings has all three kinds', () => {
  const count = (kind: string): number => messages.filter(message => message.kind === kind).length
  expect({ add: count('add-failure'), del: count('del-failure'), other: count('other') }).toEqual({
    add: 63,
    del: 35,
    other: 17,
  })
})

test.each(messages)('P-E7: $key is read as $kind', ({ kind, sample }) => {
  expect({ del: isDelFailure(sample), add: isAddFailure(sample), ok: isAddSuccess(sample) }).toEqual({
    del: kind === 'del-failure',
    add: kind === 'add-failure',
    ok: false,
  })
})

test.each(messages.filter(({ kind }) => kind !== 'other'))(
  'P-E7: $key is read the same in deeper quotes',
  ({ kind, sample }) => {
    const deeper = JSON.stringify(JSON.stringify(sample))
    expect(kind === 'del-failure' ? isDelFailure(deeper) : isAddFailure(deeper)).toBe(true)
  },
)

test('P-E7: file names and line numbers of a log decide nothing', () => {
  for (const { kind, sample } of messages) {
    const moved = sample.replace(/[a-z_]+\.go:\d+/g, 'renamed.go:1')
    expect(isDelFailure(moved)).toBe(kind === 'del-failure')
  }
})

/** Counted in the captured logs with grep, wording by wording. */
const logs: [string, { del: number; add: number; ok: number }][] = [
  ['journal-del-fails/containerd.txt', { del: 5, add: 1, ok: 1 }],
  ['journal-del-fails/kubelet.txt', { del: 9, add: 4, ok: 0 }],
  ['journal-broken-chain/containerd.txt', { del: 12, add: 11, ok: 0 }],
  ['journal-broken-chain/kubelet.txt', { del: 0, add: 16, ok: 0 }],
  ['journal-exhausted/containerd.txt', { del: 0, add: 6, ok: 4 }],
  ['journal-exhausted/kubelet.txt', { del: 0, add: 20, ok: 0 }],
]
test.each(logs)('P-E7: a real log, %s', (name, expected) => {
  const lines = fixture(name)
  const count = (is: (text: string) => boolean): number => lines.filter(is).length
  expect({ del: count(isDelFailure), add: count(isAddFailure), ok: count(isAddSuccess) }).toEqual(expected)
})

const section = (body: string, code = 0, said = '') => ({ at: 0, body, code, said })
const read = (lines: string[]) => readJournal(section(lines.join('\n')), 5_000)
const value = (lines: string[]) => {
  const { journal } = read(lines)
  if (!('value' in journal)) throw new Error(journal.reason)
  return journal.value
}
const failed = 'level=error msg="Failed to destroy network for sandbox \\"a\\"" error="x"'

test('P-E7: lines of several units in the order of time, what was left out, and how far back it reaches', () => {
  const journal = value([
    'window 1000 2000',
    `containerd\t1500.250000 node-07 containerd[7]: ${failed}`,
    `kubelet\t1400.000000 node-07 kubelet[8]: E0101 "StopPodSandbox from runtime service failed" err="y"`,
    'containerd\t1600.000000 node-07 containerd[7]: level=info msg="hello"',
    `containerd\t2500.000000 node-07 containerd[7]: ${failed}`,
    '!containerd\t0\t12',
    '!kubelet\t0\t3',
    'oldest\tcontainerd\t100.000000 node-07 systemd[1]: Started containerd.',
    'oldest\tkubelet\t900.000000 node-07 kubelet[8]: hello',
  ])
  expect(journal.lines.map(({ at, unit }) => [at, unit])).toEqual([
    [1_400_000, 'kubelet'],
    [1_500_250, 'containerd'],
  ])
  expect(journal).toMatchObject({
    units: ['containerd', 'kubelet'],
    since: 1_000_000,
    until: 2_000_000,
    dropped: 15,
    reachesBackTo: 900_000,
  })
})

test('P-E7: an empty journal is known and reaches nowhere', () => {
  expect(value(['window 1 2', '!containerd\t0\t0', 'oldest\tcontainerd\t'])).toMatchObject({
    lines: [],
    reachesBackTo: undefined,
  })
})

test('P-E7: a unit that could not be read makes the whole unknown: no line is then no proof', () => {
  const { journal } = read(['window 1 2', '!containerd\t124\t0', '!kubelet\t0\t0'])
  expect(journal).toEqual({
    at: 5_000,
    reason:
      'the journal of containerd: no answer within the time limit on the node; look at the node, then ask again',
  })
})

test('P-E7: k3s keeps containerd’s log in a file, with its own times', () => {
  const path = '/var/lib/rancher/k3s/agent/containerd/containerd.log'
  const until = Date.parse('2026-01-02T00:00:00Z') / 1000
  const journal = value([
    `window ${until - 86_400 * 3} ${until}`,
    `${path}\ttime="2026-01-01T10:00:00.5Z" ${failed}`,
    `/var/lib/rancher/rke2/agent/logs/kubelet.log\tE1231 23:59:59.250000 1 x.go:1] "StopPodSandbox from runtime service failed" err="x"`,
    `!${path}\t0\t0`,
    `oldest\t${path}\ttime="2025-12-25T00:00:00Z" level=info msg="starting containerd"`,
  ])
  expect(journal.lines.map(({ at }) => new Date(at).toISOString())).toEqual([
    '2025-12-31T23:59:59.250Z',
    '2026-01-01T10:00:00.500Z',
  ])
  expect(journal.reachesBackTo).toBe(Date.parse('2025-12-25T00:00:00Z'))
})

test('P-E9: a start is told once, by systemd where it says so', () => {
  const { starts } = read([
    'window 1000 2000',
    'containerd\t1500.000000 node-07 containerd[7]: time="x" level=info msg="starting containerd" revision=1',
    'containerd\t1500.100000 node-07 systemd[1]: Started containerd.service - containerd container runtime.',
    'crio\t1700.000000 node-07 crio[7]: Starting CRI-O, version: 1.30',
    '!containerd\t0\t0',
  ])
  expect(starts).toEqual([
    { unit: 'containerd', at: 1_500_100 },
    { unit: 'crio', at: 1_700_000 },
  ])
})

test('text of a log is shown without escapes, control and direction characters', () => {
  const [line] = value([
    'window 1 3',
    `containerd\t2.000000 n containerd[1]: \u001b[31m${failed}\u001b[0m\u202e\u0007 \u200b<!channel>`,
  ]).lines
  expect(line?.text).toBe(`${failed}    <!channel>`)
})
