import { type Allocation, type Bundle, isKnown, known, unknown } from '../../../src/core/evidence/bundle.js'
import { planRemoval, type RemovalList } from '../../../src/core/ipam/removal.js'
import { allocation, day, idOf, leakingNode, minute, now, pod, storeWith } from '../leaking-node.js'
import { realCapture } from '../real-capture.js'

const settings = { olderThanMs: 15 * minute }
const silent = unknown('ctr: not found', now)

const planFor = (bundle: Bundle, earlier?: Bundle): RemovalList => {
  const plan = planRemoval({ earlier, bundle, settings, cordoned: true })
  if ('refused' in plan) throw new Error(plan.refused.join('\n'))
  return plan
}
/** One living address at .2 and the one in question. */
const withFile = (one: Allocation, over: Partial<Bundle> = {}): Bundle =>
  leakingNode(1, 0, { stores: known([storeWith([allocation(2), one])], now), ...over })
const fateOf = (one: Allocation, over: Partial<Bundle> = {}, earlier?: Bundle): string => {
  const plan = planFor(withFile(one, over), earlier)
  const gone = plan.remove.find(entry => entry.ip === one.ip)
  return gone ? `removed: ${gone.why}` : `kept: ${plan.keep.find(entry => entry.ip === one.ip)?.why}`
}

describe('each file by its own rules', () => {
  const cases: [rule: string, file: Allocation, over: Partial<Bundle>, fate: RegExp][] = [
    ['an orphan goes', allocation(9), {}, /^removed: no such sandbox, listed or on record; made 20 d ago/],
    [
      'rule 2: a NotReady sandbox is an owner',
      allocation(2, { ip: '10.244.7.9' }),
      {},
      /^kept: its sandbox lives/,
    ],
    [
      "rule 3: an owner in the runtime's own records stays",
      allocation(9),
      { records: known({ source: 'ctr', ids: [idOf(9)] }, now + 2) },
      /^kept: its sandbox is on record/,
    ],
    [
      'rule 4: a file younger than the setting stays',
      allocation(9, { mtime: now - 14 * minute }),
      {},
      /^kept: made 840 s ago/,
    ],
    [
      'rule 4: a file from the future stays',
      allocation(9, { mtime: now + minute }),
      {},
      /^kept: its time lies ahead/,
    ],
    [
      "rule 5: another tool's owner stays",
      allocation(9, { owner: 'cnitool-0123456789abcdef0123' }),
      {},
      /^kept: its owner is no sandbox/,
    ],
    [
      'rule 5: an empty file older than the boot goes',
      allocation(9, { owner: '', mtime: now - 300 * day }),
      {},
      /^removed: empty, older than the boot/,
    ],
    [
      'rule 5: an empty file of this boot stays',
      allocation(9, { owner: '' }),
      {},
      /^kept: empty, and not older than the boot/,
    ],
    [
      'rule 6: an address outside the ranges stays',
      allocation(9, { ip: '10.9.9.9' }),
      {},
      /^kept: in none of the configured ranges/,
    ],
    [
      "rule 6: the gateway's address stays",
      allocation(9, { ip: '10.244.7.1' }),
      {},
      /^kept: in none of the configured ranges/,
    ],
    [
      'rule 6: a file of blanks is not empty, and stays',
      allocation(9, { owner: '', content: '\n \n', size: 3, mtime: 1 }),
      {},
      /^kept: its content does not name/,
    ],
    [
      'rule 6: content that names another owner stays',
      allocation(9, { content: `${idOf(8)}\r\neth0` }),
      {},
      /^kept: its content does not name/,
    ],
    ...(['namespace', 'neighbour', 'route', 'host'] as const).map(
      (by): [string, Allocation, Partial<Bundle>, RegExp] => [
        `rule 7: an address still held by a ${by} stays`,
        allocation(9),
        { held: known([{ ip: '10.244.7.9', by, where: 'cni-9' }], now) },
        new RegExp(`^kept: still held: ${by} cni-9`),
      ],
    ),
    [
      'rule 7: an address that a running Pod has stays',
      allocation(9),
      { pods: known([pod(2), pod(2, { ips: ['10.244.7.9'] })], now) },
      /^kept: the running Pod payments\/api-2/,
    ],
    ...[true, undefined].map((sandboxReady): [string, Allocation, Partial<Bundle>, RegExp] => [
      `rule 7: an address stays that a Pod has whose init containers still run (sandbox ready: ${sandboxReady})`,
      allocation(9),
      { pods: known([pod(2), pod(2, { phase: 'Pending', sandboxReady, ips: ['10.244.7.9'] })], now) },
      /^kept: the Pod payments\/api-2/,
    ]),
    [
      'rule 7: a Pod without a sandbox has its address in the API only',
      allocation(9),
      { pods: known([pod(2), pod(3, { phase: 'Pending', sandboxReady: false, ips: ['10.244.7.9'] })], now) },
      /^removed/,
    ],
    [
      'rule 7: a finished Pod keeps its address in the API only',
      allocation(9),
      { pods: known([pod(2), pod(3, { phase: 'Succeeded', ips: ['10.244.7.9'] })], now) },
      /^removed/,
    ],
    [
      'an owner that the runtime knows when asked by id stays',
      allocation(9),
      { owners: known([{ ip: '10.244.7.9', owner: idOf(9), known: true, said: 'ready' }], now) },
      /^kept: the runtime still knows its owner/,
    ],
  ]
  test.each(cases)('%s', (_rule, file, over, fate) => {
    expect(fateOf(file, over)).toMatch(fate)
  })

  test('rule 6: an address in another spelling is not the plugin’s file and stays', () => {
    const one = allocation(9, { ip: 'FD00:7::A' })
    const node = withFile(one)
    if (!isKnown(node.conflist)) throw new Error('fixture')
    const { ipam } = node.conflist.value
    const rangeSets = [...ipam.rangeSets, [{ subnet: 'fd00:7::/64' }]]
    const conflist = known({ ...node.conflist.value, ipam: { ...ipam, rangeSets } }, now)
    expect(fateOf(one, { conflist })).toBe('kept: its name is no canonical address')
    expect(fateOf({ ...one, ip: 'fd00:7::a' }, { conflist })).toMatch(/^removed/)
  })

  test('rule 6: bookkeeping is in neither list; unreadable and foreign entries are kept and named', () => {
    const store = {
      ...storeWith([allocation(2)]),
      unreadable: [{ name: '10.244.7.8', why: 'permission denied' }],
      foreign: [{ name: 'backup', why: 'a folder' }],
    }
    const plan = planFor(leakingNode(1, 0, { stores: known([store], now) }))
    expect(plan.remove).toEqual([])
    expect(plan.keep).toEqual([
      { ip: '10.244.7.2', owner: idOf(2), why: 'its sandbox lives' },
      { ip: '10.244.7.8', owner: '', why: 'could not be read: permission denied' },
      { ip: 'backup', owner: '', why: 'is no address file: a folder' },
    ])
  })

  test('P-A3: the written list carries what acting insists on', () => {
    const plan = planFor(leakingNode(41, 212))
    expect(plan).toMatchObject({
      network: 'k8s-pod-network',
      dir: '/var/lib/cni/networks/k8s-pod-network',
      lockInode: 4_711,
      bootId: 'boot-1',
      readAt: now,
      comparedWith: undefined,
      secondReadingFrom: undefined,
    })
    expect(plan.remove).toHaveLength(212)
    expect(plan.keep).toHaveLength(41)
    const { why, ...entry } = plan.remove[0] ?? { why: '' }
    expect(why).not.toBe('')
    expect(entry).toEqual({ ...allocation(43), mtime: expect.any(Number) })
  })

  test('P-A3: on the captured exhausted node the 208 leaked addresses go and the 45 living stay', () => {
    const capture = realCapture('4-exhausted')
    const at = capture.collectedAt
    const node = leakingNode(1, 0)
    const plan = planFor({
      ...capture,
      facts: isKnown(node.facts) ? known(node.facts.value, at) : node.facts,
      records: known({ source: 'ctr', ids: [] }, at),
      held: known([], at),
    })
    expect(plan.remove).toHaveLength(208)
    expect(plan.keep.map(entry => entry.why)).toEqual(Array(45).fill('its sandbox lives'))
  })
})

describe("rule 4: the runtime's own records cannot be read", () => {
  const old = allocation(9)
  const reading = (over: Partial<Bundle> = {}, ago = 16 * minute): Bundle => ({
    ...withFile(old, { records: silent, ...over }),
    collectedAt: now - ago,
  })
  const fate = (earlier: Bundle | undefined, file = old): string => fateOf(file, { records: silent }, earlier)

  test('planning lists the candidate and says from when it may be acted on', () => {
    const plan = planFor(withFile(old, { records: silent }))
    expect(plan.remove).toHaveLength(1)
    expect(plan.secondReadingFrom).toBe(now + 15 * minute)
  })

  test('a file younger than 15 minutes is no candidate, whatever the setting', () => {
    const bundle = withFile(allocation(9, { mtime: now - 10 * minute }), { records: silent })
    const plan = planRemoval({
      earlier: undefined,
      bundle,
      settings: { olderThanMs: minute },
      cordoned: true,
    })
    expect(plan).toMatchObject({ remove: [] })
  })

  test('unlisted in two readings 16 minutes apart: it goes', () => {
    expect(fate(reading())).toMatch(/^removed: no such sandbox listed; /)
  })

  test('two readings 14 minutes apart are not enough', () => {
    expect(fate(reading({}, 14 * minute))).toMatch(/^kept: unlisted for 14 min only/)
  })

  test('listed in the earlier reading: it stays', () => {
    const bundle = leakingNode(10, 1, { records: silent })
    const earlier = { ...leakingNode(11, 0, { records: silent }), collectedAt: now - 16 * minute }
    expect(planFor(bundle, earlier)).toMatchObject({
      remove: [],
      keep: expect.arrayContaining([
        { ip: '10.244.7.12', owner: idOf(12), why: 'its sandbox was listed in the earlier reading' },
      ]),
    })
  })

  test('not there in the earlier reading: it stays', () => {
    expect(fate(reading({ stores: known([storeWith([allocation(2)])], now) }))).toMatch(
      /^kept: the file was not there/,
    )
  })
})
