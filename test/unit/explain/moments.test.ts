import { readFileSync } from 'node:fs'
import { disagreement } from './disagreement.js'
import { type Bundle, isKnown, known, unknown } from '../../../src/core/evidence/bundle.js'
import { type BundleAnswer, explainBundle } from '../../../src/core/explain/explain-bundle.js'
import { allocation, leakingNode, minute, now, pod, sandbox, storeWith } from '../leaking-node.js'
import { type MomentOptions, journalOf, momentBundle } from './moments.js'

const whole = ['cordon', 'drain', 'remove-orphans', 'test-pod', 'uncordon']
const silent = /neither supports nor excludes/
const classes = ({ leak_classes: all }: BundleAnswer): string[] =>
  (all ?? []).filter(each => each.for.length > 0).map(each => each.class)
const fixture = (name: string): string => readFileSync(`test/fixtures/real-cluster/${name}`, 'utf8')

interface Expected {
  cause: string
  also?: string[]
  confidence?: string
  changes: string[]
  leaks?: string[]
  /** Whether it is said that the journal tells nothing. */
  journalSilent?: boolean
}
const restart: Pick<Expected, 'cause' | 'leaks' | 'journalSilent'> = {
  cause: 'ipam-leak',
  leaks: ['lost-at-restart'],
  journalSilent: true,
}

const moments: [string, string, MomentOptions, Expected][] = [
  ['healthy', '1-healthy', { records: true }, { cause: 'other', confidence: 'low', changes: [] }],
  [
    'while the Job churns: all files are young',
    '2-leaking-mid-churn',
    { afterMs: 30_000 },
    { cause: 'other', changes: [] },
  ],
  [
    'leaking, counts look harmless, no records of the runtime',
    '2-leaking',
    {},
    { ...restart, confidence: 'medium', changes: ['cordon'] },
  ],
  [
    'leaking but serving',
    '3-leaking-serving',
    { records: true },
    { ...restart, confidence: 'high', changes: whole },
  ],
  [
    'exhausted',
    '4-exhausted',
    { records: true, journal: 'journal-exhausted' },
    { ...restart, confidence: 'high', changes: whole },
  ],
  [
    'exhausted, no records of the runtime',
    '4-exhausted',
    { journal: 'journal-exhausted' },
    { ...restart, confidence: 'medium', changes: ['cordon'] },
  ],
  [
    'exhausted, events combined',
    '5-exhausted-combined-events',
    { store: '4-exhausted', records: true, journal: 'journal-exhausted' },
    { ...restart, confidence: 'high', changes: whole },
  ],
  ['repaired', '7-repaired', { records: true }, { cause: 'other', changes: [] }],
  [
    'full again after a reboot: NotReady sandboxes hide the gap in counts',
    '8-full-again-after-reboot',
    { records: true },
    { ...restart, confidence: 'high', changes: whole },
  ],
  [
    'a chained plugin is missing: each retry leaks, the plugin comes first',
    'node-09-broken-chain',
    { records: true, journal: 'journal-broken-chain', afterMs: 120_000 },
    {
      cause: 'cni-plugin-missing',
      also: ['ipam-leak'],
      changes: [],
      leaks: ['broken-chain'],
      journalSilent: false,
    },
  ],
]

describe('P-R3 moments of a real cluster', () => {
  test.each(moments)('%s (%s)', (_, name, options, expected) => {
    const bundle = momentBundle(name, options)
    const answer = explainBundle(bundle)
    expect(answer).toMatchObject({ cause: expected.cause, changes: expected.changes })
    if (expected.confidence !== undefined) expect(answer.confidence).toBe(expected.confidence)
    expect(answer.also).toEqual(expect.arrayContaining(expected.also ?? []))
    expect(classes(answer)).toEqual(expect.arrayContaining(expected.leaks ?? []))
    expect('leak_classes' in answer).toBe(expected.leaks !== undefined)
    if (expected.journalSilent !== undefined)
      expect(silent.test(answer.outlook ?? '')).toBe(expected.journalSilent)
    expect(disagreement(bundle)).toBeUndefined()
  })

  test('the leak is told as what the journal cannot tell, and what is left to ask is what was not read', () => {
    const { ask_for: asks, outlook } = explainBundle(
      momentBundle('4-exhausted', { journal: 'journal-exhausted' }),
    )
    expect(outlook).toMatch(/a teardown that was never sent leaves no line/)
    expect(asks).toContain("the runtime's own records: not asked")
    const all = explainBundle(momentBundle('4-exhausted', { records: true, journal: 'journal-exhausted' }))
    expect(all.ask_for).toEqual([expect.stringMatching(/^whether the runtime lost its records/)])
  })

  test('P-R3 versions that skip DEL are named with the one that fixes it', () => {
    const answer = explainBundle(leakingNode(12, 100))
    expect(classes(answer)).toEqual(expect.arrayContaining(['lost-at-restart', 'runtime-skips-del']))
    expect(answer.leak_classes?.find(each => each.class === 'runtime-skips-del')?.says).toMatch(
      /fixed in 1\.7\.31/,
    )
    expect(answer.outlook).toMatch(/fixed in 1\.7\.31/)
    const { leak_classes: none, outlook } = explainBundle(leakingNode(253, 0))
    expect([none, outlook]).toEqual([undefined, undefined])
  })

  test('teardown that fails: not a leak, nothing is offered', () => {
    const base = momentBundle('1-healthy', { records: true })
    const lines = journalOf('journal-del-fails')
    const conditions = [
      {
        type: 'Ready',
        status: 'False',
        reason: 'KubeletNotReady',
        message:
          'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized',
      },
    ]
    const bundle: Bundle = {
      ...base,
      facts: isKnown(base.facts) ? known({ ...base.facts.value, conditions }, base.facts.at) : base.facts,
      journal: isKnown(base.journal)
        ? known({ ...base.journal.value, lines }, base.journal.at)
        : base.journal,
      conflist: unknown('no network config found in /etc/cni/net.d', base.collectedAt),
    }
    const answer = explainBundle(bundle)
    expect(['cni-config-missing', 'cni-del-failing']).toContain(answer.cause)
    expect(answer.changes).toEqual([])
    expect(answer).not.toHaveProperty('leak_classes')
  })

  test('P-E4 in flight: young files without a listed sandbox are no leak, with and without records', () => {
    const rows = [
      ...fixture('race-in-flight/node-07.txt').matchAll(
        /files (\d+) listed (\d+) \S+\(files read first\) (\d+)/g,
      ),
    ]
    expect(rows.length).toBeGreaterThan(10)
    for (const [, files, , loose] of rows) {
      const living = Number(files) - Number(loose)
      const made = Array.from({ length: Number(loose) }, (_, i) =>
        allocation(living + 2 + i, { mtime: now - 2_000 }),
      )
      const held = Array.from({ length: living }, (_, i) => allocation(i + 2))
      const burst = leakingNode(living, 0, { stores: known([storeWith([...held, ...made])], now) })
      for (const bundle of [burst, { ...burst, records: unknown('not read', now) }]) {
        const { cause, changes } = explainBundle(bundle)
        expect({ loose, cause, changes }).toEqual({ loose, cause: 'other', changes: [] })
      }
    }
  })

  test('a node that came back: dead sandboxes are still owners, the leaked are found by id', () => {
    const text = fixture('node-09-reboot/after.txt')
    const files = [...text.matchAll(/(15:\d\d) (10\.244\.9\.\d+)$/gm)].map(([, time, ip]) => ({
      time,
      ip: ip ?? '',
    }))
    const leaked = files.filter(({ time }) => time === '15:43')
    expect([files.length, leaked.length]).toEqual([16, 12])
    const bundle = leakingNode(4, 12, {
      host: known({ hostname: 'node-07', now, skewMs: 0, bootId: 'b', bootedAt: now - 5 * minute }, now),
      stores: known(
        [
          storeWith([
            ...[2, 3, 4, 5].map(n => allocation(n, { mtime: now - 4 * minute })),
            ...leaked.map((_, i) => allocation(6 + i, { mtime: now - 7 * minute })),
          ]),
        ],
        now,
      ),
      sandboxes: known(
        [...[2, 3, 4, 5].map(n => sandbox(n)), ...[40, 41].map(n => sandbox(n, { state: 'notready' }))],
        now,
      ),
    })
    const answer = explainBundle(bundle)
    expect(answer).toMatchObject({ cause: 'ipam-leak', confidence: 'high' })
    expect(classes(answer)).toContain('lost-at-boot')
  })

  test('repair by the plugin leaves fewer, and those that are left are still told', () => {
    const left = [...fixture('node-09-repair-by-plugin.txt').matchAll(/ 10\.244\.9\.\d+$/gm)]
    expect(left).toHaveLength(16)
    expect(explainBundle(leakingNode(6, 10)).hypotheses[0]?.for[0]).toMatch(/^10 addresses of 16 taken/)
  })

  test('a sandbox of which no time is known is an owner like any other', () => {
    const dead = sandbox(5, { state: 'notready', createdAt: undefined })
    const bundle = leakingNode(3, 0, {
      sandboxes: known(
        [2, 3, 4].map(n => (n === 4 ? { ...dead, id: sandbox(4).id } : sandbox(n))),
        now,
      ),
    })
    expect(explainBundle(bundle)).toMatchObject({ cause: 'other', changes: [] })
  })

  test('two live Pods with one address: no change of the store', () => {
    const twice = [pod(2), pod(3, { ips: ['10.244.7.2'] })]
    const answer = explainBundle(leakingNode(2, 0, { pods: known(twice, now) }))
    expect(answer.cause).toBe('duplicate-ip')
    expect(answer.changes).toEqual([])
  })
})
