import { isKnown, known, unknown } from '../../../src/core/evidence/bundle.js'
import {
  allocationsWith,
  compare,
  countsOf,
  type Gap,
  isExhausted,
  measure,
} from '../../../src/core/ipam/gap.js'
import { allocation, idOf, leakingNode, minute, now, pod, sandbox, storeWith } from '../leaking-node.js'
import { realCapture } from '../real-capture.js'

const gapOf = (bundle: Parameters<typeof measure>[0]): Gap => {
  const gap = measure(bundle)
  if (!isKnown(gap)) throw new Error(gap.reason)
  return gap.value
}

describe('a real cluster', () => {
  test.each([
    ['1-healthy', 4, 5, 5, 0],
    ['2-leaking', 138, 124, 5, 134],
    ['4-exhausted', 253, 46, 46, 208],
    ['7-repaired', 48, 53, 49, 0],
    ['8-full-again-after-reboot', 253, 118, 58, 196],
  ])(
    'P-E3 P-E4: %s: %i addresses, %i sandboxes (%i ready), %i without a sandbox',
    (moment, taken, total, ready, orphaned) => {
      const gap = gapOf(realCapture(moment))
      expect(gap).toMatchObject({
        taken,
        orphaned,
        live: taken - orphaned,
        usable: 253,
        young: 0,
        foreign: 0,
        outside: 0,
      })
      expect(gap.sandboxes).toMatchObject({ total, ready, notReady: total - ready })
      expect(gap.withoutAddress).toBe(0)
    },
  )

  test('P-E3: full is 253 address files and 255 entries', () => {
    const bundle = realCapture('4-exhausted')
    expect(isKnown(bundle.stores) && bundle.stores.value[0]?.entries).toBe(255)
    expect(isExhausted(gapOf(bundle))).toBe(true)
  })

  test('P-E4: a host-network sandbox owns no address and lacks none', () => {
    expect(gapOf(realCapture('1-healthy')).sandboxes.hostNetwork).toBe(1)
  })

  test('a broken chain leaks an address every retry although no sandbox is ever listed', () => {
    const gap = gapOf(realCapture('node-09-broken-chain', { pods: false }))
    expect(gap.orphaned).toBeGreaterThan(5)
    expect(gap.taken).toBe(gap.live + gap.orphaned)
  })
})

describe('compare', () => {
  const base = { records: undefined, now, youngerThanMs: 15 * minute, sandboxes: [sandbox(2)] }
  const standing = (one: ReturnType<typeof allocation>, over = {}) =>
    compare({ ...base, store: storeWith([one]), ...over }).standings[0]

  test('P-E4: a NotReady sandbox is an owner', () => {
    expect(standing(allocation(2), { sandboxes: [sandbox(2, { state: 'notready' })] })).toMatchObject({
      standing: 'live',
      because: 'listed',
    })
  })

  test("an owner that is only in the runtime's own records is living", () => {
    expect(standing(allocation(9), { records: { source: 'ctr', ids: [idOf(9)] } })).toMatchObject({
      standing: 'live',
      because: 'recorded',
    })
  })

  test.each([
    ['unlisted and old', allocation(9), 'orphaned'],
    ['unlisted and just made', allocation(9, { mtime: now - minute }), 'young'],
    ['exactly as old as the threshold', allocation(9, { mtime: now - 15 * minute }), 'orphaned'],
    ["its time ahead of the node's clock", allocation(9, { mtime: now + minute }), 'young'],
    ['an owner of another tool', allocation(9, { owner: `default-${idOf(9)}` }), 'foreign'],
    ['63 digits', allocation(9, { owner: idOf(9).slice(1) }), 'foreign'],
    ['upper case', allocation(9, { owner: `A${idOf(9).slice(1)}` }), 'foreign'],
    ['an empty file', allocation(9, { owner: '' }), 'foreign'],
  ])('%s: %j', (_name, one, expected) => {
    expect(standing(one)?.standing).toBe(expected)
  })

  test('outside the ranges never counts against capacity, living or not', () => {
    const bundle = leakingNode(2, 1)
    const conflist = isKnown(bundle.conflist) ? bundle.conflist.value : undefined
    const store = storeWith([
      allocation(2),
      allocation(3, { ip: '10.9.9.9' }),
      allocation(4, { ip: '10.244.7.1' }),
    ])
    const gap = compare({ ...base, store, ...(conflist && { conflist }) })
    expect(gap).toMatchObject({ live: 1, outside: 2, orphaned: 0, taken: 1, usable: 253 })
  })

  test('P-E4: dual stack: two files a Pod; taken and usable are those of the set that is used up first', () => {
    const conflist = {
      path: 'x',
      name: 'k8s-pod-network',
      cniVersion: '1.0.0',
      plugins: ['bridge'],
      others: [],
      ipam: {
        type: 'host-local',
        dataDir: '/var/lib/cni/networks',
        rangeSets: [[{ subnet: '10.244.7.0/24' }], [{ subnet: 'fd00:7::/124' }]],
      },
    }
    const store = storeWith([2, 3].flatMap(n => [allocation(n), allocation(n, { ip: `fd00:7::${n}` })]))
    const gap = compare({
      ...base,
      store,
      conflist,
      sandboxes: [sandbox(2), sandbox(3)],
      pods: [pod(2), pod(3)],
    })
    expect(gap).toMatchObject({ live: 4, orphaned: 0, taken: 2, usable: 14, withoutAddress: 0 })
    expect(gap.sets.map(({ taken, usable }) => [taken, usable])).toEqual([
      [2, 253],
      [2, 14],
    ])
  })

  test('a ready Pod-network sandbox that owns nothing is counted; NotReady and host-network ones are not', () => {
    const sandboxes = [sandbox(2), sandbox(3), sandbox(4, { state: 'notready' }), sandbox(5)]
    const pods = [pod(2), pod(3), pod(4), pod(5, { hostNetwork: true })]
    const gap = compare({ ...base, store: storeWith([allocation(2)]), sandboxes, pods })
    expect(gap.withoutAddress).toBe(1)
    expect(gap.sandboxes).toEqual({ total: 4, ready: 3, notReady: 1, hostNetwork: 1 })
  })

  test("a static Pod's sandbox carries another uid than its mirror Pod: it is found by name", () => {
    const gap = compare({
      ...base,
      store: storeWith([]),
      sandboxes: [sandbox(2, { podUid: 'config-hash' })],
      pods: [pod(2, { hostNetwork: true, mirror: true })],
    })
    expect(gap).toMatchObject({ withoutAddress: 0, sandboxes: { hostNetwork: 1 } })
  })

  test('without a conflist the capacity is not known, and that is not zero', () => {
    const gap = compare({ ...base, store: storeWith([allocation(2)]) })
    expect(gap.usable).toBeUndefined()
    expect(isExhausted(gap)).toBeUndefined()
  })
})

describe('measure', () => {
  const silent = unknown('crictl pods: connection refused', now)
  test.each([
    ['stores', { stores: silent }],
    ['sandboxes', { sandboxes: silent }],
    ['host', { host: silent }],
  ])('silence is not zero: no %s, no gap, and the reason is passed on', (_part, over) => {
    expect(measure(leakingNode(3, 2, over))).toEqual({ at: now, reason: 'crictl pods: connection refused' })
  })

  test('an empty list while Pods run there is no answer', () => {
    const gap = measure(leakingNode(3, 2, { sandboxes: known([], now) }))
    expect(isKnown(gap) ? '' : gap.reason).toMatch(/no sandbox although 3 Pods run/)
  })

  test('an empty list without the API to check it against is no answer either', () => {
    const gap = measure(leakingNode(3, 2, { sandboxes: known([], now), pods: silent }))
    expect(isKnown(gap) ? '' : gap.reason).toMatch(/lists no sandbox, and the API's Pods are not known/)
  })

  test('an empty list on an empty node is an answer', () => {
    expect(gapOf(leakingNode(0, 2))).toMatchObject({ live: 0, orphaned: 2 })
  })

  test('another IPAM plugin has no store to count', () => {
    const bundle = leakingNode(1, 0)
    if (!isKnown(bundle.conflist)) throw new Error('fixture')
    const conflist = { ...bundle.conflist.value, ipam: { type: 'calico-ipam', dataDir: '', rangeSets: [] } }
    const gap = measure({ ...bundle, conflist: known(conflist, now) })
    expect(isKnown(gap) ? '' : gap.reason).toMatch(/calico-ipam, not by host-local/)
  })

  test('two stores and no conflist: which one is in use is not guessed', () => {
    const two = known([storeWith([]), { ...storeWith([]), network: 'cbr0' }], now)
    const gap = measure(leakingNode(1, 0, { conflist: silent, stores: two }))
    expect(isKnown(gap) ? '' : gap.reason).toMatch(/2 networks have a store/)
  })

  test("without the runtime's records a file counts as young for 15 minutes, with them for one", () => {
    const stores = known([storeWith([allocation(2), allocation(9, { mtime: now - 5 * minute })])], now)
    expect(gapOf(leakingNode(1, 0, { stores }))).toMatchObject({ orphaned: 1, young: 0 })
    expect(gapOf(leakingNode(1, 0, { stores, records: silent }))).toMatchObject({ orphaned: 0, young: 1 })
  })

  test('headline and lists are taken from the same standings', () => {
    const gap = gapOf(leakingNode(41, 212))
    expect(countsOf(gap)).toMatchObject({ taken: 253, live: 41, orphaned: 212 })
    expect(countsOf(gap)).not.toHaveProperty('standings')
    expect(allocationsWith(gap, 'orphaned')).toHaveLength(212)
  })
})
