import type { Allocation, Answer, Bundle } from '../../src/core/evidence/bundle.js'
import { isKnown, known, unknown } from '../../src/core/evidence/bundle.js'
import type { RemovalList, RemovalPlan } from '../../src/core/ipam/removal.js'
import {
  allocation,
  day,
  idOf,
  leakingNode,
  minute,
  now,
  pod,
  sandbox,
  storeWith,
} from '../unit/leaking-node.js'
import type { Code } from './code.js'

/** What the core must answer by one rule; throws where it does not. */
export type CoreCheck = (code: Code) => void

const silent = unknown('connection refused', now)
const base = leakingNode(10, 5)
const many = (count: number) =>
  known(
    Array.from({ length: count }, (_, n) => sandbox(n + 2)),
    now + 1,
  )
const change = <T>(answer: Answer<T>, over: Partial<T>): Answer<T> => {
  if (!isKnown(answer)) throw new Error('the fixture does not know this')
  return known({ ...answer.value, ...over }, answer.at)
}

const plan = (
  { planRemoval }: Code,
  bundle: Bundle,
  { earlier, cordoned = true }: { earlier?: Bundle; cordoned?: boolean } = {},
): RemovalPlan => planRemoval({ earlier, bundle, settings: { olderThanMs: 15 * minute }, cordoned })

const listed = (made: RemovalPlan): RemovalList => {
  if ('refused' in made) throw new Error(`refused: ${made.refused.join('; ')}`)
  return made
}
const refused = (made: RemovalPlan): string =>
  'refused' in made ? made.refused.join('\n') : 'nothing was refused'

/** Each change of a node that is otherwise in order, and what must then be said. */
const refusals = (code: Code, cases: [over: Partial<Bundle>, reason: RegExp][]): void => {
  expect(refused(plan(code, base))).toBe('nothing was refused')
  for (const [over, reason] of cases) expect(refused(plan(code, { ...base, ...over }))).toMatch(reason)
}
/** The same against the reading that was approved, a quarter of an hour earlier. */
const since = (code: Code, before: Partial<Bundle>, after: Partial<Bundle>): string =>
  refused(
    plan(code, { ...base, ...after }, { earlier: { ...base, ...before, collectedAt: now - 20 * minute } }),
  )

/** One living address at .2, and what becomes of the file in question. */
const holding = (file: Allocation, over: Partial<Bundle> = {}): Bundle =>
  leakingNode(1, 0, { stores: known([storeWith([allocation(2), file])], now), ...over })
const fate = (code: Code, file: Allocation, over: Partial<Bundle> = {}, earlier?: Bundle): string => {
  const { remove, keep } = listed(plan(code, holding(file, over), earlier === undefined ? {} : { earlier }))
  if (remove.some(({ ip }) => ip === file.ip)) return 'goes'
  return keep.find(({ ip }) => ip === file.ip)?.why ?? 'not mentioned'
}

const runtimeIsToBeBelieved: CoreCheck = code => {
  refusals(code, [
    [{ sandboxes: silent }, /did not list its sandboxes: connection refused/],
    [{ runtime: silent }, /did not say what it is/],
    [{ pods: silent }, /did not list the node's Pods/],
    [{ facts: silent }, /did not give the node/],
    [{ sandboxes: known([], now + 1) }, /lists no sandbox although 10 Pods run there/],
    [{ sandboxes: many(2) }, /does not list 8 Pods that run there/],
    [
      { runtime: change(base.runtime, { endpointFrom: 'a known default path' }), pods: known([], now) },
      /is not from the kubelet's configuration/,
    ],
    [{ facts: change(base.facts, { bootId: 'boot-0' }) }, /not the boot that the API knows/],
    [{ host: silent }, /the node's boot is not known: connection refused/],
    [{ host: change(base.host, { bootId: '' }) }, /its boot id is empty/],
    [{ sandboxes: known([], now + 1), pods: known([], now) }, /lists no sandbox at all, and none proves/],
  ])
  // A runtime that the node has changed from still knows Pods of before.
  const guessed = change(base.runtime, { endpointFrom: 'a known default path' })
  const past = known([sandbox(2, { state: 'notready' })], now + 1)
  const onePod = known([pod(2)], now)
  const doubted = { runtime: guessed, sandboxes: past, pods: onePod }
  refusals(code, [[doubted, /is not from the kubelet's configuration/]])
  expect(since(code, {}, {})).toBe('nothing was refused')
  expect(since(code, { sandboxes: many(13) }, {})).toMatch(/lists 10 sandboxes, 13 at the earlier reading/)
  // Twice the same sandbox is one.
  const twice = known([...many(5).value, ...many(5).value], now + 1)
  expect(since(code, { sandboxes: many(10) }, { sandboxes: twice, pods: known([pod(2)], now) })).toMatch(
    /lists 5 sandboxes, 10 at/,
  )
  const restarted = change(base.runtime, { startedAt: now - minute })
  expect(since(code, {}, { runtime: restarted })).toMatch(/was restarted since the earlier reading/)
  const unsaid = change(base.runtime, { startedAt: undefined })
  expect(since(code, {}, { runtime: unsaid })).toMatch(/not known whether the runtime was restarted/)
  expect(since(code, { runtime: silent }, {})).toMatch(/earlier reading does not know the runtime/)
  expect(since(code, { sandboxes: silent }, {})).toMatch(/earlier reading has no sandboxes/)
  expect(since(code, { host: silent }, {})).toMatch(/boot of the earlier reading is not known/)
  expect(since(code, { facts: change(base.facts, { uid: 'uid-0' }) }, {})).toMatch(/created anew since/)
  expect(since(code, { host: change(base.host, { bootId: 'boot-0' }) }, {})).toMatch(/booted since/)
}

const addressesBeforeSandboxes: CoreCheck = code => {
  const early = isKnown(base.sandboxes) ? known(base.sandboxes.value, now - 1) : silent
  refusals(code, [[{ sandboxes: early }, /sandboxes were listed before the addresses were read/]])
  const notReady = known([sandbox(2), sandbox(9, { state: 'notready' })], now + 1)
  expect(fate(code, allocation(9), { sandboxes: notReady })).toBe('its sandbox lives')
  const asked = known([{ ip: '10.244.7.9', owner: idOf(9), known: true, said: 'ready' }], now + 2)
  expect(fate(code, allocation(9), { owners: asked })).toBe('the runtime still knows its owner')
}

const recordsCount: CoreCheck = code => {
  const of = (ids: string[], at: number) => known({ source: 'ctr', ids }, at)
  refusals(code, [[{ records: of([idOf(2)], now) }, /records were read before its sandboxes were listed/]])
  expect(fate(code, allocation(9), { records: of([idOf(2), idOf(9)], now + 2) })).toBe(
    'its sandbox is on record: its Pod may be starting',
  )
}

const twoReadings: CoreCheck = code => {
  const old = allocation(9)
  const over = { records: silent }
  const before = (ago: number, more: Partial<Bundle> = {}): Bundle => ({
    ...holding(old, { ...over, ...more }),
    collectedAt: now - ago,
  })
  expect(fate(code, old, over, before(16 * minute))).toBe('goes')
  expect(listed(plan(code, holding(old, over))).secondReadingFrom).toBe(now + 15 * minute)
  expect(fate(code, old, over, before(14 * minute))).toMatch(/^unlisted for 14 min only/)
  const others = [2, 12, 13, 14, 15].map(n => sandbox(n))
  const listedThen = before(16 * minute, { sandboxes: known([...others, sandbox(9)], now + 1) })
  expect(fate(code, old, { ...over, sandboxes: known(others, now + 1) }, listedThen)).toBe(
    'its sandbox was listed in the earlier reading',
  )
  const incomplete = before(16 * minute, { stores: silent })
  expect(fate(code, old, over, incomplete)).toBe('the earlier reading is incomplete')
  expect(fate(code, allocation(9, { mtime: now + day }), {})).toMatch(/ahead/)
  const empty = known([storeWith([allocation(2)])], now)
  expect(fate(code, old, over, before(16 * minute, { stores: empty }))).toMatch(/^the file was not there/)
  refusals(code, [[{ host: change(base.host, { skewMs: -3_600_000 }) }, /clock is 1 h behind/]])
  const young = allocation(9, { mtime: now - 10 * minute })
  const quick = code.planRemoval({
    earlier: undefined,
    bundle: holding(young, over),
    settings: { olderThanMs: minute },
    cordoned: true,
  })
  expect(listed(quick).remove).toEqual([])
}

const ownersOfTheRuntimeOnly: CoreCheck = code => {
  expect(fate(code, allocation(9))).toBe('goes')
  for (const owner of ['default-3f2a', 'cnitool-0123456789abcdef0123', 'F'.repeat(64)])
    expect(fate(code, allocation(9, { owner }))).toBe('its owner is no sandbox of the runtime')
  expect(fate(code, allocation(9, { owner: '' }))).toMatch(/^empty, and not older than the boot/)
  expect(fate(code, allocation(9, { owner: '', mtime: now - 300 * day }))).toBe('goes')
}

const canonicalNamesInRange: CoreCheck = code => {
  for (const ip of ['10.9.9.9', '10.244.7.1', '10.244.7.255'])
    expect(fate(code, allocation(9, { ip }))).toMatch(/^in none of the configured ranges/)
  const six = change(base.conflist, {
    ipam: { type: 'host-local', dataDir: '/var/lib/cni/networks', rangeSets: [[{ subnet: 'fd00:7::/64' }]] },
  })
  expect(fate(code, allocation(9, { ip: 'FD00:7::A' }), { conflist: six })).toBe(
    'its name is no canonical address',
  )
  expect(fate(code, allocation(9, { content: `${idOf(8)}\r\neth0` }))).toMatch(/does not name that owner/)
  const dataDir = '/var/lib/cni/networks'
  const calico = { type: 'calico-ipam', dataDir, rangeSets: [] }
  const tooSmall = { type: 'host-local', dataDir, rangeSets: [[{ subnet: '10.244.7.0/31' }]] }
  refusals(code, [
    [{ conflist: silent }, /network configuration could not be read/],
    [
      { conflist: change(base.conflist, { ipam: { type: 'host-local', dataDir: '/x', rangeSets: [] } }) },
      /no ranges are configured/,
    ],
    [{ stores: known([{ ...storeWith([]), network: 'cbr0' }], now) }, /k8s-pod-network has no store/],
    [{ stores: silent }, /the addresses could not be read: connection refused/],
    [{ conflist: change(base.conflist, { ipam: calico }) }, /are given by calico-ipam, not by host-local/],
    [{ conflist: change(base.conflist, { ipam: tooSmall }) }, /range set 0 is not one that host-local/],
  ])
  const { remove, keep } = listed(plan(code, base))
  expect([...remove, ...keep].filter(({ ip }) => /^(lock|last_reserved_ip)/.test(ip))).toEqual([])
}

const heldByNobody: CoreCheck = code => {
  for (const by of ['namespace', 'neighbour', 'route', 'host'] as const) {
    const held = known([{ ip: '10.244.7.9', by, where: 'cni-9' }], now)
    expect(fate(code, allocation(9), { held })).toBe(`still held: ${by} cni-9`)
  }
  const pods = known([pod(2), pod(2, { ips: ['10.244.7.9'] })], now)
  expect(fate(code, allocation(9), { pods })).toMatch(/^the running Pod payments\/api-2 has this address/)
  refusals(code, [[{ held: silent }, /not known which addresses are still held/]])
}

const cordonedAndByWhom: CoreCheck = code => {
  expect(refused(plan(code, base, { cordoned: false }))).toBe('the node is not cordoned')
  const mark = 'cnibot inc-0042'
  const marked = { ...base, facts: change(base.facts, { cordonedBy: mark }) }
  expect(listed(plan(code, marked)).cordonedBy).toBe(mark)
  expect(listed(plan(code, base)).cordonedBy).toBeUndefined()
}

const sameFileUnderTheLock: CoreCheck = code => {
  const noLock = known([{ ...storeWith([]), lockInode: undefined }], now)
  const elsewhere = known([{ ...storeWith([]), dir: '/run/cni-ipam-state/k8s-pod-network' }], now)
  const inMemory = change(base.conflist, {
    ipam: { type: 'host-local', dataDir: '/run/cni-ipam-state', rangeSets: [[{ subnet: '10.244.7.0/24' }]] },
  })
  refusals(code, [
    [{ stores: noLock }, /lock is missing/],
    [
      { stores: elsewhere, conflist: inMemory },
      /lie in \/run\/cni-ipam-state\/k8s-pod-network, not below \/var\/lib\/cni\/, where the quarantine/,
    ],
  ])
  const approved = listed(plan(code, holding(allocation(9)))).remove
  const again = (file: Allocation) => {
    const earlier = { ...holding(allocation(9)), collectedAt: now - 5 * minute }
    return code.stillApproved(plan(code, holding(file), { earlier }), approved)
  }
  expect(again(allocation(9)).remove).toEqual(approved)
  for (const other of [{ inode: 1 }, { mtime: now - 19 * day }, { content: `${idOf(9)}\r\nnet1` }])
    expect(again(allocation(9, other))).toMatchObject({
      remove: [],
      dropped: [{ ip: '10.244.7.9', why: 'the file was written again since the plan' }],
    })
}

/** By rule; rule 10 is about putting back, which the node does alone. */
export const coreChecks: Record<number, CoreCheck> = {
  1: runtimeIsToBeBelieved,
  2: addressesBeforeSandboxes,
  3: recordsCount,
  4: twoReadings,
  5: ownersOfTheRuntimeOnly,
  6: canonicalNamesInRange,
  7: heldByNobody,
  8: cordonedAndByWhom,
  9: sameFileUnderTheLock,
}
