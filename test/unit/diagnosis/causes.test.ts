import { hypothesesOf } from '../../../src/core/diagnosis/causes.js'
import { factsOf } from '../../../src/core/diagnosis/facts.js'
import { leakFactsOf } from '../../../src/core/diagnosis/leak-facts.js'
import type { Hypothesis } from '../../../src/core/diagnosis/finding.js'
import {
  type Bundle,
  isKnown,
  type JournalLine,
  known,
  type Runtime,
  unknown,
} from '../../../src/core/evidence/bundle.js'
import { allocation, day, leakingNode, minute, now, restarts, storeWith } from '../leaking-node.js'
import { realCapture } from '../real-capture.js'

const causesOf = (bundle: Bundle): Hypothesis[] => {
  const facts = factsOf(bundle)
  if (!isKnown(facts.gap)) throw new Error(facts.gap.reason)
  return hypothesesOf(leakFactsOf(facts, facts.gap.value))
}
const named = (bundle: Bundle, cause: string): Hypothesis | undefined =>
  causesOf(bundle).find(one => one.cause === cause)

const node = leakingNode(41, 212)
const journalWith = (lines: JournalLine[], over: { reachesBackTo?: number } = {}): Partial<Bundle> => ({
  journal: isKnown(node.journal) ? known({ ...node.journal.value, lines, ...over }, now) : node.journal,
})
const failures = (count: number, from: number): JournalLine[] =>
  Array.from({ length: count }, (_, i) => ({
    at: from + i * 10_000,
    unit: 'containerd',
    text: 'StopPodSandbox for \\"x\\" failed',
  }))
const running = (name: string, version: string, startedAt = restarts[1]): Partial<Bundle> => {
  const runtime: Runtime = { name, version, endpoint: 'unix:///x', endpointFrom: 'x', startedAt }
  return { runtime: known(runtime, now) }
}
const noRestarts: Partial<Bundle> = {
  restarts: known({ runtime: [], kubelet: [], boots: [] }, now),
  runtime: isKnown(node.runtime)
    ? known({ ...node.runtime.value, version: '1.7.31', startedAt: now - 100 * day }, now)
    : node.runtime,
}

describe('teardown lost at a restart', () => {
  test('P-R3 P-E9: with the journal: orphans, restarts and DEL failures lie together', () => {
    const [first] = causesOf({ ...node, ...journalWith(failures(187, restarts[0] ?? 0)) })
    expect(first).toMatchObject({
      cause: 'lost-at-restart',
      says: expect.stringMatching(
        /^Teardown was lost when containerd restarted 2026-10-20 11:31 UTC \(15 d ago\)/,
      ),
      for: [
        '212 of 212 were made within an hour of a restart',
        '2 restarts of containerd in that time',
        '187 DEL failures within an hour of these restarts',
      ],
      against: [],
      missing: ['why the DELs failed'],
    })
  })

  test('P-R3: silent: the journal covers that time and says nothing, which fits a runtime that forgot', () => {
    const [first, ...others] = causesOf(node)
    expect(first).toMatchObject({ cause: 'lost-at-restart', against: [] })
    expect(first?.missing.join(' ')).toMatch(/it logs nothing about DELs it does not send/)
    expect(others.find(one => one.cause === 'del-failed')?.against).toEqual([
      'the journal covers the time when the orphans were made and holds no DEL failure',
    ])
  })

  test('P-R3: on a real cluster: all that leaked is older than the last restart, all that lives is newer', () => {
    const capture = realCapture('4-exhausted')
    const [first] = causesOf(capture)
    expect(first?.cause).toBe('lost-at-restart')
    expect(first?.for).toContain('everything leaked is older than the restart, everything living is newer')
  })

  test('P-E7 P-R3: a journal that starts later neither supports nor excludes', () => {
    const [first] = causesOf({ ...node, ...journalWith([], { reachesBackTo: now - 9 * day }) })
    expect(first?.cause).toBe('lost-at-restart')
    expect(first?.missing.join('\n')).toMatch(
      /the journal starts 2026-10-26 11:31 UTC \(9 d ago\), .* neither supports nor excludes a cause/,
    )
    expect(
      named({ ...node, ...journalWith([], { reachesBackTo: now - 9 * day }) }, 'del-failed'),
    ).toBeUndefined()
  })

  test('a journal that was not read is named as missing', () => {
    expect(
      causesOf({ ...node, journal: unknown('journalctl: permission denied', now) })[0]?.missing,
    ).toContain('the journal: journalctl: permission denied')
  })

  test('no restart near: it is no hypothesis', () => {
    expect(named({ ...node, ...noRestarts }, 'lost-at-restart')).toBeUndefined()
  })

  test('a few at a restart, most at other times: that speaks against it', () => {
    const spread = Array.from({ length: 30 }, (_, i) => allocation(i + 12, { mtime: now - (i + 2) * day }))
    const living = [allocation(2, { mtime: now - 50 * day })]
    const stores = known([storeWith([...living, ...spread])], now)
    const found = named(
      leakingNode(1, 0, {
        stores,
        restarts: known({ runtime: [now - 15 * day], kubelet: [], boots: [] }, now),
      }),
      'lost-at-restart',
    )
    expect(found?.against).toEqual(['29 were made at other times'])
  })
})

describe('DELs that failed', () => {
  test('P-R3: failures without a restart', () => {
    const [first] = causesOf({
      ...node,
      ...noRestarts,
      ...journalWith(failures(20, now - 15 * day + 20 * minute)),
    })
    expect(first).toMatchObject({ cause: 'del-failed', against: [] })
    expect(first?.for).toEqual([
      '20 DEL failures in the journal',
      '212 of 212 were made in the day before such failures',
    ])
  })
})

describe('versions', () => {
  test('P-R3: containerd that skips DEL is named with the version that fixes it', () => {
    expect(named({ ...node, ...running('containerd', '1.7.24') }, 'runtime-skips-del')?.says).toMatch(
      /fixed in 1\.7\.31/,
    )
    expect(named({ ...node, ...running('containerd', '1.7.31') }, 'runtime-skips-del')).toBeUndefined()
  })

  test('P-R3: CRI-O that gives up after one DEL', () => {
    expect(named({ ...node, ...running('cri-o', '1.34.1') }, 'runtime-skips-del')?.says).toMatch(
      /gives a DEL up after one failure/,
    )
  })
})

describe("libcni's result cache", () => {
  const damaged: JournalLine = {
    at: now - 15 * day,
    unit: 'containerd',
    text: 'StopPodSandbox failed: failed to get network "x" cached result: decoding version from network config: unexpected end of JSON input',
  }
  test('P-R3: a damaged entry fails a DEL on libcni up to 1.1.2 and CNI 0.4.0 or later', () => {
    const [first] = causesOf({
      ...node,
      ...noRestarts,
      ...running('containerd', '1.6.20', now - 100 * day),
      ...journalWith([damaged]),
    })
    expect(first).toMatchObject({ cause: 'damaged-cache', against: [] })
  })

  test('P-R3: newer libcni ignores it, and so does an older configuration', () => {
    expect(
      named({ ...node, ...running('containerd', '2.1.9'), ...journalWith([damaged]) }, 'damaged-cache')
        ?.against,
    ).toEqual(['containerd 2.1.9 ignores damaged entries'])
    const conflist = isKnown(node.conflist)
      ? known({ ...node.conflist.value, cniVersion: '0.3.1' }, now)
      : node.conflist
    expect(
      named(
        { ...node, conflist, ...running('containerd', '1.6.20'), ...journalWith([damaged]) },
        'damaged-cache',
      )?.against,
    ).toEqual(['the configuration is CNI 0.3.1, for which the cache is not read'])
  })

  test('P-R3: a missing cache is never a cause', () => {
    const leftovers = known({ veths: 0, orphanedVeths: 0, natChains: 0, cachedResults: 0 }, now)
    const bundle = { ...node, leftovers }
    expect(causesOf(bundle).map(one => one.cause)).toEqual(causesOf(node).map(one => one.cause))
    expect(JSON.stringify(causesOf(bundle))).not.toMatch(/cache/)
  })
})

describe('other causes', () => {
  test('P-R3: a chained plugin that cannot run leaks an address a retry', () => {
    const recent = Array.from({ length: 12 }, (_, i) => allocation(i + 12, { mtime: now - 12 * minute + i }))
    const bundle = leakingNode(1, 0, {
      stores: known([storeWith([allocation(2), ...recent])], now),
      events: known(
        [
          {
            namespace: 'payments',
            pod: 'victim',
            podUid: 'u',
            node: 'node-07',
            count: 5,
            first: now - 12 * minute,
            last: now,
            message:
              'plugin type="nosuch" failed (add): failed to find plugin "nosuch" in path [/usr/lib/cni]',
            folded: false,
          },
        ],
        now,
      ),
    })
    expect(causesOf(bundle)[0]).toMatchObject({
      cause: 'broken-chain',
      for: ['12 of 12 were made within the last hour', '1 Pod fails with that message now'],
    })
  })

  test('P-R3: a boot without teardown', () => {
    const bootedAt = now - 15 * day + 2 * 60 * minute
    const host = isKnown(node.host) ? known({ ...node.host.value, bootedAt }, now) : node.host
    expect(causesOf({ ...node, ...noRestarts, host })[0]).toMatchObject({ cause: 'lost-at-boot' })
  })

  test('P-R3: a tool that is not installed is swallowed as "not found"', () => {
    const lines = [
      {
        at: now - day,
        unit: 'containerd',
        text: 'teardown: exec: "iptables": executable file not found in $PATH',
      },
    ]
    expect(causesOf({ ...node, ...noRestarts, ...journalWith(lines) })[0]?.cause).toBe('host-tool-missing')
  })

  test('nothing points anywhere: no hypothesis', () => {
    expect(causesOf({ ...node, ...noRestarts, journal: unknown('not read', now) })).toEqual([])
  })
})
