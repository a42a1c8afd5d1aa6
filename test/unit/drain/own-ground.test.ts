import { type OwnGroundInput, ownGround } from '../../../src/core/drain/own-ground.js'
import type { DrainPod } from '../../../src/core/evictable.js'
import { fakePod } from '../../fakes/cluster.js'

const chart = { 'app.kubernetes.io/name': 'cnibot', 'app.kubernetes.io/instance': 'cni' }
const replicaSet = { kind: 'ReplicaSet', name: 'x', uid: 'rs' }
const pod = (namespace: string, name: string, over: Partial<DrainPod> = {}): DrainPod => ({
  ...fakePod(namespace, name, { node: 'node-07', phase: 'Running', controller: replicaSet, ...over }),
  emptyDirs: [],
  graceMs: 30_000,
  finalizers: [],
})
const self = fakePod('ops', 'cni-worker-1', { node: 'node-11', labels: chart })
const elsewhere = { host: 'redis', addresses: ['10.244.11.5'], nodes: ['node-11'], pods: ['ops/redis-0'] }
const ground = (over: Partial<OwnGroundInput> = {}) =>
  ownGround({
    node: { name: 'node-07', internalIp: '10.0.0.7' },
    pods: [pod('shop', 'storefront-1', { ips: ['10.244.7.4'] })],
    self,
    redis: elsewhere,
    ...over,
  })

describe('B9: the ground this program stands on', () => {
  test('nothing of ours here, and all of it known', () => {
    expect(ground()).toEqual({ here: [], unknown: [] })
  })

  test('this very process, the bot, and another part of the same installation are found; others are not', () => {
    const worker = pod('ops', 'cni-worker-1', { labels: chart, uid: self.uid })
    const bot = pod('ops', 'cni-bot-1', { labels: chart })
    const shared = pod('ops', 'redis-ui', { labels: { 'app.kubernetes.io/part-of': 'cnibot' } })
    const other = pod('ops', 'two-bot-1', { labels: { ...chart, 'app.kubernetes.io/instance': 'two' } })
    const faked = pod('shop', 'cni-bot-1', { labels: chart })
    const { here } = ground({ pods: [worker, bot, shared, other, faked] })
    expect(here).toEqual([
      expect.stringMatching(/^Pod ops\/cni-worker-1 \(this very process\): .kubectl -n ops delete pod/),
      expect.stringMatching(
        /^Pod ops\/cni-bot-1: .kubectl -n ops delete pod cni-bot-1. starts it on another/,
      ),
      expect.stringMatching(/^Pod ops\/redis-ui: /),
    ])
  })

  test('without knowing itself any Pod of cnibot is taken for its own, and that is said', () => {
    const told = ground({ self: undefined, pods: [pod('a', 'bot', { labels: chart })] })
    expect(told.here).toHaveLength(1)
    expect(told.unknown).toEqual([expect.stringMatching(/CNIBOT_POD_NAME is not set/)])
  })

  test.each<[string, Partial<OwnGroundInput>, RegExp]>([
    [
      'by the Pod behind its Service',
      {
        pods: [pod('ops', 'redis-0')],
        redis: { host: 'redis', addresses: ['10.244.7.9'], nodes: ['node-07'], pods: ['ops/redis-0'] },
      },
      /^Redis, Pod ops\/redis-0: .*if its volume can follow/,
    ],
    [
      'by the address of a Pod here',
      {
        pods: [pod('ops', 'redis-0', { ips: ['10.244.7.9'] })],
        redis: { host: '10.244.7.9', addresses: ['10.244.7.9'], nodes: [], pods: [] },
      },
      /^Redis, Pod ops\/redis-0/,
    ],
    [
      "by the node's own address",
      { redis: { host: 'redis.example', addresses: ['10.0.0.7'], nodes: [], pods: [] } },
      /^Redis, at redis\.example on the node itself/,
    ],
    [
      'beside this process',
      {
        self: { ...self, node: 'node-07' },
        redis: { host: 'localhost', addresses: ['127.0.0.1', '::1'], nodes: [], pods: [] },
      },
      /^Redis, beside this process/,
    ],
  ])('Redis is found %s', (_how, over, says) => {
    expect(ground(over).here).toEqual([expect.stringMatching(says)])
  })

  test('a Pod on the host network is not taken for a Redis on its node', () => {
    const proxy = pod('kube-system', 'proxy', { hostNetwork: true, ips: ['10.0.0.7'] })
    const redis = { host: 'redis.example', addresses: ['10.0.0.7'], nodes: [], pods: [] }
    expect(ground({ pods: [proxy], redis }).here).toEqual([expect.stringMatching(/on the node itself/)])
  })

  test('a node that is reached by loopback is not therefore the machine of this process', () => {
    const redis = { host: 'localhost', addresses: ['127.0.0.1'], nodes: [], pods: [] }
    const node = { name: 'node-07', internalIp: '127.0.0.1' }
    const proxy = pod('kube-system', 'proxy', { hostNetwork: true, ips: ['127.0.0.1'] })
    expect(ground({ node, pods: [proxy], redis })).toEqual({ here: [], unknown: [] })
  })

  test('Redis that cannot be found is not known, never elsewhere', () => {
    expect(ground({ redis: { host: 'redis', why: 'redis has no address here' } })).toEqual({
      here: [],
      unknown: ['where Redis runs: redis has no address here'],
    })
    const hidden = { host: '10.96.0.9', addresses: ['10.96.0.9'], nodes: [], pods: [] }
    expect(ground({ redis: hidden })).toEqual({
      here: [],
      unknown: [expect.stringMatching(/10\.96\.0\.9, which is no Pod and no address of node-07; a Service/)],
    })
    const beside = { host: 'localhost', addresses: ['127.0.0.1'], nodes: [], pods: [] }
    expect(ground({ self: undefined, redis: beside }).unknown).toContainEqual(
      expect.stringMatching(/localhost is on the machine of this process/),
    )
  })
})
