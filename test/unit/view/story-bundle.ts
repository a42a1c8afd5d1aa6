import {
  type Bundle,
  isKnown,
  known,
  type JournalLine,
  type NodeFacts,
} from '../../../src/core/evidence/bundle.js'
import type { Counts } from '../../../src/core/incident/incident.js'
import { measure } from '../../../src/core/ipam/gap.js'
import { day, idOf, leakingNode, minute, now, pod, restarts, sandbox } from '../leaking-node.js'

export const hour = 60 * minute
export const approver = 'U0APPROVE1'
export const opener = 'U0OPENER01'
export const timeZone = 'UTC'

const delLine = (unit: string, i: number): JournalLine => ({
  at: (restarts[0] ?? 0) + i * 14_000,
  unit,
  text: `StopPodSandbox for "${idOf(i)}" failed error="failed to destroy network for sandbox"`,
})

export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

export const exhausted =
  'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "5a1f": plugin type="bridge" failed (add): failed to allocate for range 0: no IP addresses available in range set: 10.244.7.1-10.244.7.254'

const nodeFacts = (bundle: Bundle): NodeFacts => {
  if (!isKnown(bundle.facts)) throw new Error('the leaking node has facts')
  return bundle.facts.value
}

/** Wednesday 11:31, the node of the story: 253 of 253 taken, 44 sandboxes, 41 with an address. */
export const storyBundle = (over: Partial<Bundle> = {}): Bundle => {
  const base = leakingNode(41, 212)
  const listed = [
    ...range(41).map(i => sandbox(i + 2)),
    sandbox(900, { namespace: 'kube-system', pod: 'kube-proxy-x7x2q' }),
    sandbox(901, { namespace: 'platform', pod: 'node-agent-4kq9d' }),
    sandbox(902, { namespace: 'batch', pod: 'ledger-28839-fq2ms', state: 'notready', createdAt: undefined }),
  ]
  const pods = [
    ...range(41).map(i => pod(i + 2)),
    pod(900, { namespace: 'kube-system', name: 'kube-proxy-x7x2q', hostNetwork: true }),
    pod(901, { namespace: 'platform', name: 'node-agent-4kq9d', hostNetwork: true }),
  ]
  return {
    ...base,
    cluster: 'prod-eu1',
    durationMs: 900,
    shown: "sh -s -- 'k8s-pod-network'",
    facts: known(
      {
        ...nodeFacts(base),
        unschedulable: false,
        conditions: [
          { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory', message: '' },
          { type: 'DiskPressure', status: 'False', reason: 'KubeletHasNoDiskPressure', message: '' },
          { type: 'PIDPressure', status: 'False', reason: 'KubeletHasSufficientPID', message: '' },
          {
            type: 'Ready',
            status: 'True',
            reason: 'KubeletReady',
            message: 'kubelet is posting ready status',
          },
        ],
      },
      now,
    ),
    pods: known(pods, now),
    sandboxes: known(listed, now),
    records: known({ source: 'ctr -n k8s.io containers ls -q', ids: listed.map(each => each.id) }, now),
    events: known(
      [
        {
          namespace: 'platform',
          pod: 'node-exporter-5b7qk',
          podUid: 'uid-exporter',
          node: 'node-07',
          count: 14,
          first: now - 41 * minute,
          last: now,
          message: exhausted,
          folded: true,
        },
      ],
      now,
    ),
    rollouts: known(
      [
        {
          namespace: 'platform',
          name: 'node-exporter',
          uid: 'ds-1',
          generation: 4,
          observedGeneration: 4,
          desired: 18,
          ready: 17,
          updated: 17,
          available: 17,
          missing: [{ node: 'node-07', pod: 'node-exporter-5b7qk', podUid: 'uid-exporter' }],
        },
      ],
      now,
    ),
    journal: known(
      {
        units: ['containerd', 'kubelet'],
        since: now - 16 * day,
        until: now,
        reachesBackTo: now - 60 * day,
        lines: [
          ...range(187).map(i => delLine('containerd', i)),
          ...range(187).map(i => delLine('kubelet', i)),
        ],
        dropped: 0,
      },
      now,
    ),
    owners: known(
      [44, 45, 46].map(n => ({
        ip: `10.244.7.${n}`,
        owner: idOf(n),
        known: false,
        said: 'rpc error: code = NotFound desc = an error occurred when try to find sandbox: not found',
      })),
      now,
    ),
    leftovers: known({ veths: 53, orphanedVeths: 12, natChains: 253, cachedResults: 41 }, now),
    peers: [
      {
        node: 'node-04',
        counts: known({ allocations: 37, sandboxes: 39, orphans: 0, young: 0, usable: 253 }, now),
      },
      {
        node: 'node-11',
        counts: known({ allocations: 50, sandboxes: 52, orphans: 0, young: 0, usable: 253 }, now),
      },
    ],
    ...over,
  }
}

export const countsOf = (bundle: Bundle): Counts | undefined => {
  const gap = measure(bundle)
  if (!isKnown(gap)) return undefined
  const { standings: _, ...counts } = gap.value
  return counts
}
