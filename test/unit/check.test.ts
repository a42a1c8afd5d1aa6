import { evaluate } from '../../src/core/check.js'
import type { CheckName } from '../../src/core/check-names.js'
import {
  type Bundle,
  isKnown,
  type JournalLine,
  known,
  type Rollout,
  unknown,
} from '../../src/core/evidence/bundle.js'
import { allocation, leakingNode, minute, now, storeWith } from './leaking-node.js'
import { realCapture } from './real-capture.js'

const since = now - 30 * minute
const silent = unknown('ssh: no route to host', now)
const ask = (check: CheckName, over: Partial<Bundle> = {}, live = 10, orphans = 0) =>
  evaluate(check, { bundle: leakingNode(live, orphans, over), since })
const stores = (...allocations: ReturnType<typeof allocation>[]) => ({
  stores: known([storeWith(allocations)], now),
})

describe('P-V1: allocations match sandboxes', () => {
  test('equal by id holds; bookkeeping is not counted', () => {
    expect(ask('allocations-match-sandboxes')).toEqual({
      holds: true,
      says: 'node-07: 10 addresses, 10 with a living sandbox: 10 = 10',
      detail: [],
    })
  })

  test('an orphan does not hold, and is named', () => {
    const result = ask('allocations-match-sandboxes', {}, 10, 1)
    expect(result).toMatchObject({
      holds: false,
      says: expect.stringMatching(/11 addresses, 10 with a living sandbox; 1 without a sandbox/),
    })
    expect(result.detail).toEqual([expect.stringMatching(/^10\.244\.7\.12 orphaned, owner 0+c$/)])
  })

  test('lower is not equal: a ready sandbox without its address does not hold', () => {
    expect(ask('allocations-match-sandboxes', stores(allocation(2)), 2)).toMatchObject({
      holds: false,
      says: expect.stringMatching(/ready sandboxes without an address: 1/),
    })
  })

  test('equal counts with other ids do not hold', () => {
    expect(ask('allocations-match-sandboxes', stores(allocation(2), allocation(99)), 2).holds).toBe(false)
  })

  test('an owner of another tool is left out and named', () => {
    const result = ask(
      'allocations-match-sandboxes',
      stores(allocation(2), allocation(9, { owner: 'default-x' })),
      1,
    )
    expect(result).toEqual({
      holds: true,
      says: 'node-07: 1 addresses, 1 with a living sandbox: 1 = 1; 1 of other tools left out',
      detail: ['10.244.7.9 foreign, owner default-x'],
    })
  })

  test('an empty file does not hold', () => {
    expect(
      ask('allocations-match-sandboxes', stores(allocation(2), allocation(9, { owner: '' })), 1).holds,
    ).toBe(false)
  })

  test.each<[string, Partial<Bundle>, RegExp]>([
    [
      'the node was not reached',
      { sandboxes: silent },
      /cannot be compared with sandboxes: ssh: no route to host/,
    ],
    ['a file is young', stores(allocation(2), allocation(9, { mtime: now - 1_000 })), /1 young/],
    ["the API's Pods are not known", { pods: silent }, /Pods are not known/],
    [
      'a file could not be read',
      {
        stores: known(
          [{ ...storeWith([allocation(2)]), unreadable: [{ name: '10.244.7.9', why: 'x' }] }],
          now,
        ),
      },
      /could not be read: 1/,
    ],
  ])('neither yes nor no: %s', (_name, over, says) => {
    const result = ask('allocations-match-sandboxes', over, 1)
    expect(result.holds).toBeUndefined()
    expect(result.says).toMatch(says)
  })

  test.each([
    ['7-repaired', true],
    ['1-healthy', true],
    ['2-leaking', false],
    ['4-exhausted', false],
    ['8-full-again-after-reboot', false],
  ])('a real cluster, %s: %s', (moment, holds) => {
    expect(evaluate('allocations-match-sandboxes', { bundle: realCapture(moment), since: 0 }).holds).toBe(
      holds,
    )
  })
})

describe('P-V4: no new DEL failures', () => {
  const node = leakingNode(1, 0)
  const journal = (lines: JournalLine[], over = {}): Partial<Bundle> => ({
    journal: isKnown(node.journal) ? known({ ...node.journal.value, lines, ...over }, now) : node.journal,
  })
  const line = (at: number, text: string): JournalLine => ({ at, unit: 'containerd', text })
  const failed = 'StopPodSandbox for \\"x\\" failed'

  test('old failures do not count against the repair; ADDs since then are counted', () => {
    const lines = [
      line(since - minute, failed),
      line(now - minute, 'RunPodSandbox for &PodSandboxMetadata{Name:t,} returns sandbox id \\"y\\"'),
    ]
    expect(ask('no-new-del-failures', journal(lines))).toEqual({
      holds: true,
      says: 'node-07: no DEL failures since the repair began; 1 ADDs succeeded',
      detail: [],
    })
  })

  test('a new one does not hold, with its line', () => {
    expect(ask('no-new-del-failures', journal([line(now - minute, failed)]))).toEqual({
      holds: false,
      says: 'node-07: 1 DEL failures since the repair began',
      detail: [`containerd: ${failed}`],
    })
  })

  test.each<[string, Partial<Bundle>, RegExp]>([
    ['not read', { journal: silent }, /was not read: ssh/],
    ['empty', journal([], { reachesBackTo: undefined }), /is empty: it proves nothing/],
    ['rotated since', journal([], { reachesBackTo: now - 10 * minute }), /does not reach back/],
    ['not asked that far', journal([], { since: now - 10 * minute }), /not asked for all the time/],
  ])('neither yes nor no: the journal is %s', (_name, over, says) => {
    const result = ask('no-new-del-failures', over)
    expect(result.holds).toBeUndefined()
    expect(result.says).toMatch(says)
  })
})

describe('P-V5: rollouts complete', () => {
  const rollout = (ready: number, over: Partial<Rollout> = {}): Partial<Bundle> => ({
    rollouts: known(
      [
        {
          namespace: 'platform',
          name: 'log-shipper',
          uid: 'u',
          generation: 2,
          observedGeneration: 2,
          desired: 18,
          ready,
          updated: 18,
          available: ready,
          missing: [],
          ...over,
        },
      ],
      now,
    ),
  })
  test.each<[string, Partial<Bundle>, boolean | undefined, RegExp]>([
    ['18 of 18', rollout(18), true, /log-shipper: 18 of 18/],
    ['17 of 18', rollout(17), false, /log-shipper 17 of 18/],
    [
      'this node lacks its Pod',
      rollout(18, { missing: [{ node: 'node-07', pod: undefined, podUid: undefined }] }),
      false,
      /log-shipper/,
    ],
    [
      'counts of before the newest generation',
      rollout(18, { generation: 3 }),
      undefined,
      /counts are of before/,
    ],
    ['not known', { rollouts: silent }, undefined, /not known: ssh/],
    ['no DaemonSet runs here', { rollouts: known([], now) }, true, /none runs here/],
  ])('%s', (_name, over, holds, says) => {
    const result = ask('rollouts-complete', over)
    expect(result.holds).toBe(holds)
    expect(result.says).toMatch(says)
  })
})

describe('P-V2: no sandbox failures', () => {
  const event = (last: number, over: { node?: string | undefined } = {}): Partial<Bundle> => {
    const one = {
      namespace: 'shop',
      pod: 'api',
      podUid: 'u',
      node: 'node-07',
      count: 3,
      first: since - minute,
    }
    const rest = { last, message: 'cni plugin not initialized', folded: false }
    return { events: known([{ ...one, ...rest, node: 'node' in over ? over.node : one.node }], now) }
  }
  test.each<[string, Partial<Bundle>, boolean | undefined]>([
    ['none', {}, true],
    ['before the repair', event(since - 1), true],
    ['since the repair', event(since), false],
    ['on another node', event(now, { node: 'node-08' }), true],
    ['of a node that is not named', event(now, { node: undefined }), false],
    ['not known', { events: silent }, undefined],
  ])('%s', (_name, over, holds) => {
    expect(ask('no-sandbox-failures', over).holds).toBe(holds)
  })
})
