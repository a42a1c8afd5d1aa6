import {
  type Answer,
  type Bundle,
  isKnown,
  known,
  type NodeFacts,
  type PodFacts,
  type Runtime,
  unknown,
} from '../../../src/core/evidence/bundle.js'
import { planRemoval } from '../../../src/core/ipam/removal.js'
import { leakingNode, minute, now, pod, sandbox, storeWith } from '../leaking-node.js'

const settings = { olderThanMs: 15 * minute }
const silent = unknown('crictl pods: connection refused', now)
const none = known([], now)

const refusedFor = (bundle: Bundle, earlier?: Bundle, cordoned = true): string => {
  const plan = planRemoval({ earlier, bundle, settings, cordoned })
  return 'refused' in plan ? plan.refused.join('\n') : 'nothing was refused'
}
/** Answers as of a quarter of an hour before. */
const earlier = (over: Partial<Bundle> = {}): Bundle => ({
  ...leakingNode(10, 5, over),
  collectedAt: now - 20 * minute,
})
const change = <T>(answer: Answer<T>, over: Partial<T>): Answer<T> => {
  if (!isKnown(answer)) throw new Error('fixture: not known')
  return known({ ...answer.value, ...over }, answer.at)
}
const node = leakingNode(10, 5)
const runtime = (over: Partial<Runtime>) => change(node.runtime, over)
const facts = (over: Partial<NodeFacts>) => change(node.facts, over)

describe('everything is refused when', () => {
  test('the base case is not refused', () => {
    expect(refusedFor(node, earlier())).toBe('nothing was refused')
  })

  const cases: [rule: string, bundle: Partial<Bundle>, reason: RegExp][] = [
    [
      'rule 1: the runtime did not answer',
      { sandboxes: silent },
      /did not list its sandboxes: crictl pods: connection refused/,
    ],
    ['rule 1: the runtime is not known', { runtime: silent }, /did not say what it is/],
    [
      'rule 1: the list is empty while Pods run there',
      { sandboxes: none },
      /no sandbox although 10 Pods run there/,
    ],
    ['rule 1: the list is empty, no Pod runs', { sandboxes: none, pods: none }, /no sandbox at all/],
    [
      'rule 1: a running Pod is not in the list: it is not the runtime the kubelet uses',
      { sandboxes: known([sandbox(2), sandbox(3)], now) },
      /does not list 8 Pods that run there \(payments\/api-4\)/,
    ],
    [
      'rule 1: the endpoint is a guess and no Pod proves it',
      { runtime: runtime({ endpointFrom: 'a default path' }), pods: none },
      /is not from the kubelet's configuration \(a default path\)/,
    ],
    [
      'rule 1: the boot the API knows is another',
      { facts: facts({ bootId: 'boot-0' }) },
      /not the boot that the API knows/,
    ],
    ['rule 1: the boot is not known', { host: silent }, /boot is not known/],
    ["rule 1: the API's Pods are not known", { pods: silent }, /did not list the node's Pods/],
    ['rule 1: the node object is not known', { facts: silent }, /did not give the node/],
    [
      'rule 2: sandboxes were listed before the addresses were read',
      { sandboxes: known(isKnown(node.sandboxes) ? node.sandboxes.value : [], now - 1) },
      /listed before the addresses were read/,
    ],
    [
      "rule 3: the runtime's records were read before the list",
      { records: known({ source: 'ctr', ids: [] }, now - 1) },
      /records were read before/,
    ],
    [
      'rule 4: the clock is far off, so ages mean nothing',
      { host: change(node.host, { skewMs: -3_600_000 }) },
      /clock is 1 h behind/,
    ],
    [
      'rule 6: the configuration could not be read',
      { conflist: silent },
      /network configuration could not be read/,
    ],
    [
      'rule 6: the addresses are not given by host-local',
      { conflist: change(node.conflist, { ipam: { type: 'calico-ipam', dataDir: '/x', rangeSets: [] } }) },
      /given by calico-ipam, not by host-local/,
    ],
    [
      'rule 6: no ranges are configured',
      { conflist: change(node.conflist, { ipam: { type: 'host-local', dataDir: '/x', rangeSets: [] } }) },
      /no ranges are configured/,
    ],
    [
      'rule 6: a range is one the plugin refuses',
      {
        conflist: change(node.conflist, {
          ipam: { type: 'host-local', dataDir: '/x', rangeSets: [[{ subnet: '10.244.7.0/31' }]] },
        }),
      },
      /range set 0 is not one that host-local accepts/,
    ],
    ['rule 6: the store could not be read', { stores: silent }, /addresses could not be read/],
    [
      'rule 6: the network has no store',
      { stores: known([{ ...storeWith([]), network: 'cbr0' }], now) },
      /k8s-pod-network has no store/,
    ],
    [
      'rule 7: it is not known what is still held',
      { held: silent },
      /not known which addresses are still held/,
    ],
    [
      "rule 9: the plugin's lock file is missing",
      { stores: known([{ ...storeWith([]), lockInode: undefined }], now) },
      /lock is missing/,
    ],
  ]
  test.each(cases)('%s', (_rule, over, reason) => {
    expect(refusedFor({ ...node, ...over })).toMatch(reason)
  })

  test('rule 8: the node is not cordoned', () => {
    expect(refusedFor(node, undefined, false)).toBe('the node is not cordoned')
  })

  const sinceThen: [rule: string, before: Partial<Bundle>, after: Partial<Bundle>, reason: RegExp][] = [
    [
      'rule 1: more than a fifth of the sandboxes is gone since the plan',
      {
        sandboxes: known(
          [...Array(13).keys()].map(n => sandbox(n + 2)),
          now,
        ),
      },
      {},
      /lists 10 sandboxes, 13 at the earlier reading/,
    ],
    [
      'rule 1: the runtime was restarted since the plan',
      {},
      { runtime: runtime({ startedAt: now - minute }) },
      /restarted since/,
    ],
    [
      'rule 1: it is not known whether the runtime was restarted',
      {},
      { runtime: runtime({ startedAt: undefined }) },
      /not known whether/,
    ],
    [
      'rule 1: the boot id changed since the plan',
      { host: change(node.host, { bootId: 'boot-0' }) },
      {},
      /booted since the earlier reading/,
    ],
    [
      'rule 1: the node was created anew since the plan',
      { facts: facts({ uid: 'other' }) },
      {},
      /created anew/,
    ],
    [
      "rule 1: the plan's own reading has no sandboxes",
      { sandboxes: silent },
      {},
      /earlier reading has no sandboxes/,
    ],
    [
      "rule 1: the plan's own reading does not know the runtime",
      { runtime: silent },
      {},
      /earlier reading does not know the runtime/,
    ],
  ]
  test.each(sinceThen)('%s', (_rule, before, after, reason) => {
    expect(refusedFor({ ...node, ...after }, earlier(before))).toMatch(reason)
  })

  test('all reasons are given at once', () => {
    expect(
      refusedFor({ ...node, sandboxes: silent, held: silent }, undefined, false).split('\n'),
    ).toHaveLength(3)
  })
})

describe('nothing is refused although', () => {
  test('rule 1: exactly a fifth of the sandboxes is gone', () => {
    const before = known(
      [...Array(12).keys()].map(n => sandbox(n + 2)),
      now,
    )
    expect(refusedFor(node, earlier({ sandboxes: before }))).toBe('nothing was refused')
  })

  test('rule 1: the start time jitters by a second', () => {
    const startedAt = isKnown(node.runtime) ? (node.runtime.value.startedAt ?? 0) + 1_000 : 0
    expect(refusedFor({ ...node, runtime: runtime({ startedAt }) }, earlier())).toBe('nothing was refused')
  })

  test('rule 1: a guessed endpoint lists every running Pod', () => {
    expect(refusedFor({ ...node, runtime: runtime({ endpointFrom: 'a default path' }) })).toBe(
      'nothing was refused',
    )
  })

  const guessed = runtime({ endpointFrom: 'a known default path' })
  const left = (over: Partial<PodFacts> = {}) => known([pod(2, { hostNetwork: true, ...over })], now)
  const onlyThat = { runtime: guessed, sandboxes: known([sandbox(2)], now) }

  test('P-A4, rule 1: what a drain leaves proves a guessed endpoint too: a Pod on the host network that it lists', () => {
    expect(refusedFor({ ...node, ...onlyThat, pods: left() })).toBe('nothing was refused')
  })

  test.each([
    ['that it does not list', { pods: left({ uid: 'another' }) }],
    [
      'whose sandbox is an old one',
      { pods: left(), sandboxes: known([sandbox(2, { state: 'notready' })], now) },
    ],
    ['that is static: its uid in the API is not that on the node', { pods: left({ mirror: true }) }],
  ])('rule 1: a guessed endpoint is not proven by a Pod on the host network %s', (_which, over) => {
    expect(refusedFor({ ...node, ...onlyThat, ...over })).toBe(
      "the runtime endpoint unix:///run/containerd/containerd.sock is not from the kubelet's configuration (a known default path), and it lists no sandbox of a Pod that runs there, which would prove it: set containerRuntimeEndpoint in /var/lib/kubelet/config.yaml, or start a Pod on the node",
    )
  })

  test.each([
    ['runs', pod(99)],
    ['waits for its init containers', pod(99, { phase: 'Pending', sandboxReady: true })],
  ])('rule 1: a Pod that %s and is not listed makes the list doubtful', (_what, one) => {
    const pods = known([...(isKnown(node.pods) ? node.pods.value : []), one], now)
    expect(refusedFor({ ...node, pods })).toMatch(/^the runtime does not list 1 Pods that run there/)
  })

  test.each([
    ['is just starting', pod(99, { startedAt: now - 1_000 })],
    ['is on the host network', pod(99, { hostNetwork: true })],
    ['is a static Pod', pod(99, { mirror: true })],
    ['has no sandbox yet', pod(99, { sandboxReady: false })],
    ['has no address, on a kubelet without the condition', pod(99, { sandboxReady: undefined, ips: [] })],
    ['is going away', pod(99, { deletedAt: now })],
    ['is finished', pod(99, { phase: 'Succeeded' })],
  ])('a Pod that is not listed %s', (_why, one) => {
    const pods = known([...(isKnown(node.pods) ? node.pods.value : []), one], now)
    expect(refusedFor({ ...node, pods })).toBe('nothing was refused')
  })
})
