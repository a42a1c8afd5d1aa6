import { type Bundle, known, unknown } from '../../../src/core/evidence/bundle.js'
import { leakingNode, minute, now } from '../leaking-node.js'
import { disagreement } from './disagreement.js'

const exhausted =
  'plugin type="bridge" failed (add): failed to allocate for range 0: no IP addresses available in range set: 10.244.7.1-10.244.7.254'
const saying = (message: string): Partial<Bundle> => ({
  events: known(
    [
      {
        namespace: 'p',
        pod: 'a',
        podUid: 'u',
        node: 'node-07',
        count: 14,
        first: now - 41 * minute,
        last: now - minute,
        message,
        folded: true,
      },
    ],
    now,
  ),
})
const messages = [
  exhausted,
  'failed to find plugin "portmap" in path [/opt/cni/bin]',
  'failed to setup network for sandbox "x": cni plugin not initialized',
  'failed to reserve sandbox name "a_p_u_0": name "a_p_u_0" is reserved for "abc"',
  'failed to get sandbox image "registry.example/pause:3.6": failed to pull image',
  'open /run/flannel/subnet.env: no such file or directory',
  'error getting ClusterInformation: connection is unauthorized: Unauthorized',
]
const none = unknown('connection refused', now)
const nodes: [string, Bundle][] = [
  ['well', leakingNode(12, 0)],
  ['leaking', leakingNode(12, 60)],
  ['full of living', leakingNode(253, 0)],
  ['full of leaked', leakingNode(12, 241)],
  ['full with a few leaked', leakingNode(250, 3)],
  ['without records', leakingNode(12, 60, { records: none })],
  ['without a store', leakingNode(12, 60, { stores: none })],
  ['without sandboxes', leakingNode(12, 60, { sandboxes: none })],
  ['an empty list while Pods run', leakingNode(12, 60, { sandboxes: known([], now) })],
]

test.each(nodes)('P-R3 explain and diagnose do not contradict each other: %s', (_, node) => {
  const found = [{}, ...messages.map(saying)].map(over => disagreement({ ...node, ...over }))
  expect(found.filter(each => each !== undefined)).toEqual([])
})
