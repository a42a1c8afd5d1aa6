import type { Budget } from '../../../src/core/drain/budget.js'
import { type DrainOptions, type DrainPod, drainVerdicts, evictable } from '../../../src/core/evictable.js'
import { testPodLabel } from '../../../src/core/incident/symptom.js'
import { fakePod } from '../../fakes/cluster.js'
import { fakeBudget } from '../../fakes/drain.js'

const replicaSet = { kind: 'ReplicaSet', name: 'api-5d4f', uid: 'rs' }
const daemonSet = { kind: 'DaemonSet', name: 'agent', uid: 'ds' }

const pod = (over: Partial<DrainPod> = {}): DrainPod => ({
  ...fakePod('payments', 'api-1', { phase: 'Running', ready: true, controller: replicaSet, node: 'node-07' }),
  emptyDirs: [],
  graceMs: 30_000,
  finalizers: [],
  ...over,
})
const careful: DrainOptions = { deleteEmptydirData: false, evictUnmanaged: false, testPodNamespace: 'cnibot' }
const bold: DrainOptions = { ...careful, deleteEmptydirData: true, evictUnmanaged: true }
const judge = (one: DrainPod, budgets: Budget[] = [], options = careful) =>
  evictable(one, { budgets, daemonSets: new Set(['payments/agent']) }, options)
const closed = fakeBudget('payments', 'ledger', { allowed: 0, healthy: 2, desired: 2, expected: 2 })

describe('evictable (P-A4)', () => {
  test.each<[string, Partial<DrainPod>, Budget[], DrainOptions, string, RegExp]>([
    ['a replica', {}, [], careful, 'evict', /^of ReplicaSet api-5d4f$/],
    [
      'a replica with a budget to spare',
      {},
      [fakeBudget('payments', 'b')],
      careful,
      'evict',
      /PDB b allows 1/,
    ],
    [
      'a DaemonSet Pod',
      { controller: daemonSet },
      [],
      bold,
      'leave',
      /DaemonSet agent: it would come back here/,
    ],
    [
      'a Pod of a DaemonSet that is gone',
      { controller: { ...daemonSet, name: 'old' } },
      [],
      careful,
      'blocks',
      /DaemonSet old no longer exists/,
    ],
    ['… and may be lost', { controller: { ...daemonSet, name: 'old' } }, [], bold, 'evict', /DaemonSet old/],
    [
      'a finished DaemonSet Pod',
      { controller: daemonSet, phase: 'Failed' },
      [],
      careful,
      'evict',
      /finished/,
    ],
    ['a static Pod', { mirror: true, controller: undefined }, [], bold, 'leave', /static Pod/],
    ['an unmanaged Pod', { controller: undefined }, [], careful, 'blocks', /no controller/],
    ['… and may be lost', { controller: undefined }, [], bold, 'evict', /nothing starts it again/],
    ['a finished one', { controller: undefined, phase: 'Succeeded' }, [], careful, 'evict', /finished/],
    ['data in an emptyDir', { emptyDirs: ['scratch'] }, [], careful, 'blocks', /emptyDir scratch: its data/],
    ['… that may be lost', { emptyDirs: ['scratch'] }, [], bold, 'evict', /^of ReplicaSet/],
    [
      'a finished Pod with an emptyDir',
      { emptyDirs: ['x'], phase: 'Failed' },
      [],
      careful,
      'evict',
      /finished/,
    ],
    [
      'a budget at zero that only room can open',
      {},
      [closed],
      careful,
      'waits',
      /^PDB ledger allows 0 \(needs 2 healthy, has 2\); more replicas/,
    ],
    [
      'a budget that will open by itself',
      {},
      [{ ...closed, healthy: 1, desired: 1 }],
      careful,
      'waits',
      /has 1\)$/,
    ],
    [
      'a budget not counted since its change',
      {},
      [{ ...closed, allowed: 3, counted: false }],
      careful,
      'waits',
      /just changed/,
    ],
    [
      'two budgets',
      {},
      [closed, fakeBudget('payments', 'all')],
      careful,
      'blocks',
      /2 budgets .*ledger, all/,
    ],
    ['a budget of another namespace', {}, [{ ...closed, namespace: 'search' }], careful, 'evict', /^of/],
    ['a budget that selects nothing', {}, [{ ...closed, selector: undefined }], careful, 'evict', /^of/],
    [
      'a Pod that does not run yet',
      { phase: 'Pending', ready: false },
      [closed],
      careful,
      'evict',
      /not run/,
    ],
    ['a Pod on its way out', { deletedAt: 5 }, [closed, closed], careful, 'evict', /being deleted already/],
    ['not ready, enough others are', { ready: false }, [closed], careful, 'evict', /is not ready/],
    [
      'not ready, and not enough others',
      { ready: false },
      [{ ...closed, healthy: 1 }],
      careful,
      'waits',
      /has 1/,
    ],
    [
      'not ready, and the budget lets such go',
      { ready: false },
      [{ ...closed, healthy: 1, unhealthyMayGo: true }],
      careful,
      'evict',
      /not ready/,
    ],
    [
      'a test Pod of ours',
      { namespace: 'cnibot', controller: undefined, labels: { [testPodLabel]: 'true' } },
      [],
      careful,
      'evict',
      /no controller/,
    ],
    [
      'its label on a Pod of others',
      { controller: undefined, labels: { [testPodLabel]: 'true' } },
      [],
      careful,
      'blocks',
      /no controller/,
    ],
  ])('%s', (_what, over, budgets, options, verdict, why) => {
    expect(judge(pod(over), budgets, options)).toMatchObject({ verdict, why: expect.stringMatching(why) })
  })

  test('names the volumes whose data goes with an evicted Pod, of no other', () => {
    expect(judge(pod({ emptyDirs: ['a', 'b'] }), [], bold).loses).toEqual(['a', 'b'])
    expect(judge(pod({ emptyDirs: ['a'], controller: daemonSet }), [], bold).loses).toEqual([])
    expect(judge(pod({ emptyDirs: ['a'], phase: 'Succeeded' }), [], bold).loses).toEqual([])
  })

  test.each([
    [{ matchLabels: { app: 'db' }, matchExpressions: [] }, true],
    [{ matchLabels: { app: 'api' }, matchExpressions: [] }, false],
    [{ matchLabels: {}, matchExpressions: [{ key: 'tier', operator: 'In', values: ['a', 'b'] }] }, true],
    [{ matchLabels: {}, matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['a'] }] }, false],
    [{ matchLabels: {}, matchExpressions: [{ key: 'none', operator: 'NotIn', values: ['a'] }] }, true],
    [{ matchLabels: {}, matchExpressions: [{ key: 'tier', operator: 'Exists', values: [] }] }, true],
    [{ matchLabels: {}, matchExpressions: [{ key: 'tier', operator: 'DoesNotExist', values: [] }] }, false],
  ])('a budget counts what its selector says: %j', (selector, counts) => {
    const { verdict } = judge(pod({ labels: { app: 'db', tier: 'a' } }), [{ ...closed, selector }])
    expect(verdict).toBe(counts ? 'waits' : 'evict')
  })

  test('every Pod of the node has a verdict, in order of name', () => {
    const pods = [pod({ name: 'b', uid: '2' }), pod({ name: 'a', uid: '1', controller: daemonSet })]
    const facts = { budgets: [], daemonSets: new Set(['payments/agent']) }
    expect(drainVerdicts(pods, facts, careful).map(({ pod: { name }, verdict }) => [name, verdict])).toEqual([
      ['a', 'leave'],
      ['b', 'evict'],
    ])
  })
})
