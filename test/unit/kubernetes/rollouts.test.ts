import type { V1DaemonSet, V1Node, V1Pod, V1Taint } from '@kubernetes/client-node'
import { shouldRunOn } from '../../../src/adapters/kubernetes/eligible.js'
import { incomplete, rolloutOf, selectorText } from '../../../src/adapters/kubernetes/rollouts.js'
import type { Wire } from '../../../src/adapters/kubernetes/wire.js'
import { captured } from './captured.js'

const now = Date.parse('2026-11-30T15:40:00Z')
const shipper = captured.daemonSets().find(({ metadata }) => metadata?.name === 'log-shipper')
const shipperPods = captured
  .pods('kube-exhausted')
  .filter(({ metadata }) => metadata?.name?.startsWith('log-shipper'))

describe('C2: which node holds a rollout up', () => {
  test('the captured DaemonSet at 2 of 3 lacks its Pod on node-07', () => {
    if (!shipper) throw new Error('log-shipper is missing from the fixture')
    expect(rolloutOf(shipper, shipperPods, [], now)).toMatchObject({
      namespace: 'kube-system',
      name: 'log-shipper',
      desired: 3,
      ready: 2,
      available: 2,
      missing: [{ node: 'node-07', pod: 'log-shipper-q29hj' }],
    })
  })
  test('a complete one lacks nothing, and its Pods need not be read', () => {
    const complete = captured.daemonSets().filter(daemonSet => !incomplete(daemonSet))
    expect(complete.length).toBeGreaterThan(0)
    for (const daemonSet of complete) expect(rolloutOf(daemonSet, [], [], now).missing).toEqual([])
  })

  const pinned = (node: string): Wire<V1Pod> => ({
    metadata: { name: `p-${node}`, uid: `uid-${node}` },
    spec: {
      containers: [],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
          },
        },
      },
    },
  })
  const ready = (node: string, since: string, more: Wire<V1Pod>['metadata'] = {}): Wire<V1Pod> => ({
    metadata: { name: `r-${node}`, uid: `r-uid-${node}`, creationTimestamp: since, ...more },
    spec: { nodeName: node, containers: [] },
    status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }] },
  })
  const daemonSet = (desired: number, available: number, minReadySeconds = 0): Wire<V1DaemonSet> => ({
    metadata: { namespace: 'ns', name: 'agent', uid: 'ds', generation: 2 },
    spec: { minReadySeconds, selector: {}, template: { spec: { containers: [] } } },
    status: {
      desiredNumberScheduled: desired,
      numberAvailable: available,
      numberReady: available,
      currentNumberScheduled: desired,
      numberMisscheduled: 0,
      observedGeneration: 2,
    },
  })

  test('a Pod that is not placed yet is known by its affinity', () => {
    expect(rolloutOf(daemonSet(1, 0), [pinned('node-03')], [], now).missing).toEqual([
      { node: 'node-03', pod: 'p-node-03', podUid: 'uid-node-03' },
    ])
  })
  test('Ready for less than minReadySeconds is not available', () => {
    const young = ready('node-01', '2026-11-30T15:39:30Z')
    expect(rolloutOf(daemonSet(1, 0, 60), [young], [], now).missing).toHaveLength(1)
    expect(rolloutOf(daemonSet(1, 0, 20), [young], [], now).missing).toHaveLength(0)
  })
  test('a Ready Pod on its way out is not available; the Pod named is the one that stays', () => {
    const leaving = ready('node-01', '2026-11-30T15:39:00Z', { deletionTimestamp: '2026-11-30T15:39:50Z' })
    const coming: Wire<V1Pod> = {
      ...pinned('node-01'),
      metadata: { name: 'new', uid: 'new', creationTimestamp: '2026-11-30T15:38:00Z' },
    }
    expect(rolloutOf(daemonSet(1, 0), [coming, leaving], [], now).missing).toEqual([
      { node: 'node-01', pod: 'new', podUid: 'new' },
    ])
  })
  test('an eligible node with no Pod at all is found from the nodes', () => {
    const nodes: Wire<V1Node>[] = [{ metadata: { name: 'node-01' } }, { metadata: { name: 'node-02' } }]
    expect(
      rolloutOf(daemonSet(2, 1), [ready('node-01', '2026-11-30T15:00:00Z')], nodes, now).missing,
    ).toEqual([{ node: 'node-02', pod: undefined, podUid: undefined }])
  })
})

describe('nodes that a DaemonSet selects', () => {
  const template = (spec: object): Wire<V1DaemonSet> => ({
    spec: { selector: {}, template: { spec: { containers: [], ...spec } } },
  })
  const node = (labels: Record<string, string>, taints: V1Taint[] = []): Wire<V1Node> => ({
    metadata: { name: 'node-01', labels },
    spec: { taints },
  })
  const affinity = (expression: object) => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [expression] }],
        },
      },
    },
  })
  test.each<[string, object, Wire<V1Node>, boolean]>([
    ['node selector holds', { nodeSelector: { pool: 'a' } }, node({ pool: 'a' }), true],
    ['node selector does not hold', { nodeSelector: { pool: 'a' } }, node({ pool: 'b' }), false],
    ['In', affinity({ key: 'pool', operator: 'In', values: ['a', 'b'] }), node({ pool: 'b' }), true],
    ['NotIn', affinity({ key: 'pool', operator: 'NotIn', values: ['a'] }), node({ pool: 'a' }), false],
    ['Exists', affinity({ key: 'pool', operator: 'Exists' }), node({}), false],
    ['DoesNotExist', affinity({ key: 'pool', operator: 'DoesNotExist' }), node({}), true],
    ['Gt', affinity({ key: 'cores', operator: 'Gt', values: ['4'] }), node({ cores: '8' }), true],
    ['Lt without the label', affinity({ key: 'cores', operator: 'Lt', values: ['4'] }), node({}), false],
    ['a taint keeps it off', {}, node({}, [{ key: 'gpu', effect: 'NoSchedule' }]), false],
    ['a soft taint does not', {}, node({}, [{ key: 'gpu', effect: 'PreferNoSchedule' }]), true],
    [
      'a cordon does not',
      {},
      node({}, [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }]),
      true,
    ],
    [
      'tolerated by key',
      { tolerations: [{ key: 'gpu', operator: 'Exists' }] },
      node({}, [{ key: 'gpu', value: 'x', effect: 'NoSchedule' }]),
      true,
    ],
    [
      'tolerated by value only',
      { tolerations: [{ key: 'gpu', value: 'y' }] },
      node({}, [{ key: 'gpu', value: 'x', effect: 'NoSchedule' }]),
      false,
    ],
    [
      'everything tolerated',
      { tolerations: [{ operator: 'Exists' }] },
      node({}, [{ key: 'gpu', effect: 'NoExecute' }]),
      true,
    ],
  ])('%s', (_name, spec, on, expected) => {
    expect(shouldRunOn(template(spec), on)).toBe(expected)
  })
})

test('a label selector as the query takes it', () => {
  expect(
    selectorText({
      matchLabels: { app: 'a' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['x', 'y'] },
        { key: 'old', operator: 'DoesNotExist' },
        { key: 'new', operator: 'Exists' },
        { key: 'zone', operator: 'NotIn', values: ['z'] },
      ],
    }),
  ).toBe('app=a,tier in (x,y),!old,new,zone notin (z)')
})
