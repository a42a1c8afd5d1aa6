import { podAdvice } from '../../../src/core/explain/advice/pod.js'
import { explain } from '../../../src/core/explain/explain.js'
import type { Weight } from '../../../src/core/explain/rule.js'
import { podRules } from '../../../src/core/explain/rules/pod.js'
import { readCase } from '../../../src/core/report/read-case.js'

const event = (message: string, reason = '', object = 'pod/a-1') => ({
  type: 'Warning',
  reason,
  object,
  message,
})
const kubelet = (line: string) => ({ unit: 'kubelet', line })
const drain = (...output: string[]) => ({ cmd: 'kubectl drain n1', output })
const nodes = (...output: string[]) => ({
  cmd: 'kubectl get nodes',
  output: ['NAME   STATUS   ROLES   AGE', ...output],
})

/** What one rule says of one cause: the strongest clue for it; undefined where it does not fire. */
const says = (name: string, cause: string, inputs: object): Weight | undefined => {
  const rule = podRules.find(each => each.name === name)
  if (rule === undefined) throw new Error(`no rule ${name}`)
  const clues = rule
    .read(readCase({ inputs }))
    .filter(each => each.cause === cause)
    .flatMap(each => each.for.map(({ weight }) => weight))
  return (['proves', 'supports', 'hints'] as const).find(weight => clues.includes(weight))
}

const secret = event(
  'MountVolume.SetUp failed for volume "conf" : secret "web-conf" not found',
  'FailedMount',
)
const wait = (name: string) =>
  event(
    `Unable to attach or mount volumes: unmounted volumes=[${name}], unattached volumes=[x ${name}]: timed out waiting for the condition`,
    'FailedMount',
  )
const late = event(
  'MountVolume.SetUp failed for volume "conf" : failed to sync configmap cache: timed out waiting for the condition',
  'FailedMount',
)
const noCni =
  'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni config uninitialized'
const pending = 'a-1   0/1   Pending   0   5m   <none>   <none>'

type Row = [rule: string, cause: string, weight: Weight | undefined, what: string, inputs: object]
const rows: Row[] = [
  [
    'object-of-pod-missing',
    'secret-or-configmap-missing',
    'proves',
    'a Secret not found',
    { events: [secret] },
  ],
  [
    'object-of-pod-missing',
    'secret-or-configmap-missing',
    'proves',
    'a missing key',
    { events: [event("Error: couldn't find key token in Secret ns/web", 'Failed')] },
  ],
  ['object-of-pod-missing', 'secret-or-configmap-missing', undefined, 'a late cache', { events: [late] }],
  [
    'pods-with-config-error',
    'secret-or-configmap-missing',
    'supports',
    'a Pod row',
    { pods: ['a-1   0/1   CreateContainerConfigError   0   5m'] },
  ],
  [
    'pods-with-config-error',
    'secret-or-configmap-missing',
    undefined,
    'a crash',
    { pods: ['a 0/1 CrashLoopBackOff 3 5m'] },
  ],
  [
    'volume-fails',
    'volume-mount',
    'proves',
    'an attach elsewhere',
    {
      events: [
        event('Multi-Attach error for volume "pvc-1" Volume is already exclusively attached to one node'),
      ],
    },
  ],
  ['volume-fails', 'volume-mount', undefined, 'a missing Secret', { events: [secret] }],
  [
    'volume-waited-for',
    'volume-mount',
    'supports',
    'a claim among late caches',
    { events: [late, wait('data')] },
  ],
  [
    'volume-waited-for',
    'volume-mount',
    'hints',
    'a wait that a Secret accounts for',
    { events: [secret, wait('conf')] },
  ],
  ['object-cache-late', 'volume-mount', 'hints', 'a late cache', { events: [late] }],
  ['object-cache-late', 'volume-mount', undefined, 'a missing Secret', { events: [secret] }],
  [
    'ready-condition',
    'node-not-ready',
    'proves',
    'PLEG',
    {
      node: {
        conditions: { Ready: 'False' },
        ready_message: 'PLEG is not healthy: pleg was last seen active 5m ago',
      },
    },
  ],
  [
    'ready-condition',
    'node-not-ready',
    'proves',
    'a silent kubelet',
    { node: { conditions: { Ready: 'Unknown' }, ready_message: 'Kubelet stopped posting node status.' } },
  ],
  [
    'ready-condition',
    'node-not-ready',
    undefined,
    'a missing CNI configuration',
    { node: { conditions: { Ready: 'False' }, ready_message: noCni } },
  ],
  [
    'node-listed-not-ready',
    'node-not-ready',
    'supports',
    'the list',
    { commands: [nodes('n1     NotReady <none>  9d')] },
  ],
  [
    'node-listed-not-ready',
    'node-not-ready',
    'hints',
    'the list beside a missing CNI configuration',
    { commands: [nodes('n1     NotReady <none>  9d')], journal: [kubelet(noCni)] },
  ],
  [
    'node-listed-not-ready',
    'node-not-ready',
    undefined,
    'Ready nodes',
    { commands: [nodes('n1     Ready    <none>  9d')] },
  ],
  [
    'kubelet-does-not-start',
    'node-not-ready',
    'proves',
    'swap',
    {
      journal: [
        kubelet('error: failed to run Kubelet: Running with swap on is not supported, please disable swap!'),
      ],
    },
  ],
  [
    'kubelet-does-not-start',
    'node-not-ready',
    undefined,
    'a control-group driver that the runtime does not share',
    {
      journal: [
        kubelet('failed to run Kubelet: misconfiguration: kubelet cgroup driver: "systemd" is different'),
      ],
    },
  ],
  [
    'node-health-messages',
    'node-not-ready',
    'proves',
    'PLEG in the journal of a node that is down',
    { symptom: 'n1 NotReady', journal: [kubelet('skipping pod synchronization - [PLEG is not healthy: x]')] },
  ],
  ['node-health-messages', 'node-not-ready', undefined, 'the network', { journal: [kubelet(noCni)] }],
  [
    'runtime-call-hangs',
    'node-not-ready',
    'supports',
    'docker ps that does not come back',
    { symptom: 'NotReady', commands: [{ cmd: 'timeout 20 docker ps; echo rc=$?', output: ['rc=124'] }] },
  ],
  [
    'runtime-call-hangs',
    'node-not-ready',
    undefined,
    'a time-out of curl',
    { symptom: 'NotReady', commands: [{ cmd: 'timeout 20 curl x; echo rc=$?', output: ['rc=124'] }] },
  ],
  [
    'pressure-condition',
    'node-pressure',
    'proves',
    'a condition',
    { node: { conditions: { DiskPressure: 'True' } } },
  ],
  [
    'pressure-condition',
    'node-pressure',
    undefined,
    'no pressure',
    { node: { conditions: { DiskPressure: 'False' } } },
  ],
  [
    'pressure-messages',
    'node-pressure',
    'supports',
    'an eviction of some time',
    { events: [event('The node was low on resource: ephemeral-storage.', 'Evicted')] },
  ],
  [
    'pressure-messages',
    'node-pressure',
    undefined,
    "a Pod's own limit",
    {
      events: [
        event('Pod ephemeral local storage usage exceeds the total limit of containers 1Gi', 'Evicted'),
      ],
    },
  ],
  ['pods-evicted', 'node-pressure', 'supports', 'a Pod row', { pods: ['a-1   0/1   Evicted   0   5m'] }],
  [
    'pods-evicted',
    'node-pressure',
    undefined,
    'a finished Pod',
    { pods: ['a-1   0/1   Completed   0   5m'] },
  ],
  [
    'disk-full',
    'node-pressure',
    'supports',
    'a write',
    { journal: [kubelet('write /var/lib/x: no space left on device')] },
  ],
  [
    'disk-full',
    'node-pressure',
    undefined,
    'a limit on watches',
    { journal: [kubelet('failed to create fsnotify watcher: no space left on device (inotify)')] },
  ],
  [
    'no-node-takes-the-pod',
    'scheduling-blocked',
    'proves',
    'cordoned nodes',
    { events: [event('0/4 nodes are available: 2 Insufficient cpu, 2 node(s) were unschedulable.')] },
  ],
  [
    'no-node-takes-the-pod',
    'node-pressure',
    'supports',
    'a taint by a condition',
    {
      events: [
        event(
          '0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }.',
        ),
      ],
    },
  ],
  [
    'no-node-takes-the-pod',
    'scheduling-blocked',
    'hints',
    'a refusal before the Pod was placed',
    {
      events: [
        event('0/4 nodes are available: 4 Insufficient cpu.', 'FailedScheduling'),
        event('Failed to create pod sandbox: x', 'FailedCreatePodSandBox'),
      ],
    },
  ],
  [
    'daemonset-desires-fewer',
    'scheduling-blocked',
    'proves',
    'three of eight, all of them ready',
    { daemonset: { name: 'm/x', desired: 3, ready: 3, nodes_total: 8 } },
  ],
  [
    'daemonset-desires-fewer',
    'scheduling-blocked',
    undefined,
    'a rollout stuck at one less than desired',
    { daemonset: { name: 'm/x', desired: 8, ready: 7, nodes_total: 8 } },
  ],
  [
    'pods-without-node',
    'scheduling-blocked',
    'supports',
    'Pending beside a cordoned node',
    { pods: [pending], node: { unschedulable: true } },
  ],
  [
    'pods-without-node',
    'scheduling-blocked',
    undefined,
    'Pending on a node',
    { pods: ['a-1 0/1 Pending 0 5m <none> n1'] },
  ],
  [
    'nodes-cordoned',
    'scheduling-blocked',
    'supports',
    'cordoned nodes and waiting Pods',
    { symptom: 'half are Pending', commands: [nodes('n1     Ready,SchedulingDisabled   <none>   9d')] },
  ],
  [
    'eviction-refused-by-budget',
    'pdb-blocked',
    'proves',
    'the words of the API',
    { commands: [drain("Cannot evict pod as it would violate the pod's disruption budget.")] },
  ],
  [
    'eviction-refused-by-budget',
    'pdb-blocked',
    undefined,
    'a busy API server',
    {
      commands: [
        { cmd: 'kubectl get pods -v=8', output: ['GET https://x/api/v1/pods 429 Too Many Requests'] },
      ],
    },
  ],
  [
    'drain-refuses',
    'drain-blocked',
    'proves',
    'local data',
    {
      commands: [
        drain(
          'error: cannot delete Pods with local storage (use --delete-emptydir-data to override): ns/a-1',
        ),
      ],
    },
  ],
  [
    'drain-refuses',
    'drain-blocked',
    undefined,
    'a warning about DaemonSet Pods that it leaves out',
    { commands: [drain('WARNING: ignoring DaemonSet-managed Pods: kube-system/kube-proxy-x')] },
  ],
  ['pod-symptom', 'volume-mount', 'hints', 'quoted words', { symptom: 'Multi-Attach error for volume "x"' }],
  ['pod-symptom', 'volume-mount', undefined, 'other words', { symptom: 'is the storage down?' }],
]

describe('rules about what is not the network', () => {
  test.each(rows)('P-R3: %s says of %s: %s on %s', (rule, cause, weight, _what, inputs) => {
    expect(says(rule, cause, inputs)).toBe(weight)
  })

  test('P-R3: every rule has a row and a source', () => {
    expect(podRules.map(({ name }) => name).toSorted()).toEqual(
      [...new Set(rows.map(([name]) => name))].toSorted(),
    )
    expect(podRules.filter(({ source }) => source.length < 10)).toEqual([])
  })

  test('P-P5: every cause of the family has advice that begins with an action, and nothing here changes a node', () => {
    const causes = [...new Set(rows.map(([, cause]) => cause))]
    const general = podAdvice.filter(({ way }) => way === undefined)
    expect(causes.filter(cause => !general.some(each => each.cause === cause))).toEqual([])
    expect(
      podAdvice.filter(({ actions, warnings }) => actions.length === 0 || warnings.length === 0),
    ).toEqual([])
    for (const [, , , , inputs] of rows) expect(explain(readCase({ inputs })).changes).toEqual([])
  })
})

describe('look-alikes, told apart by the whole', () => {
  const told: [string, string, object][] = [
    [
      'a general time-out beside a missing Secret',
      'secret-or-configmap-missing',
      { events: [secret, wait('conf')] },
    ],
    ['a late cache beside a claim that stays unmounted', 'volume-mount', { events: [late, wait('data')] }],
    [
      'NotReady for want of a CNI configuration',
      'cni-config-missing',
      { node: { conditions: { Ready: 'False' }, ready_reason: 'KubeletNotReady', ready_message: noCni } },
    ],
    [
      'a taint by a condition that holds',
      'node-pressure',
      {
        node: { conditions: { Ready: 'True', DiskPressure: 'True' } },
        events: [event('0/1 nodes are available: 1 node(s) had taint {node.kubernetes.io/disk-pressure: }')],
      },
    ],
    [
      'a drain that only a budget holds up',
      'pdb-blocked',
      {
        commands: [
          drain(
            'WARNING: ignoring DaemonSet-managed Pods: a/b',
            'error when evicting pods/"a-1": Cannot evict pod as it would violate the pod\'s disruption budget.',
            'error: unable to drain node "n1" due to error: timed out, continuing command...',
          ),
        ],
      },
    ],
  ]
  test.each(told)('P-R1: %s is %s', (_what, cause, inputs) => {
    expect(explain(readCase({ inputs })).cause).toBe(cause)
  })
})
