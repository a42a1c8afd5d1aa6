import { type Case, event, exhausted, type Row, sandboxes, store } from './addresses-rows.js'

const leak = (more: Record<string, unknown>, environment: Record<string, string> = {}): Case => ({
  environment,
  inputs: { events: [exhausted()], ipam: store(253), crictl: sandboxes(43, 1), ...more },
})
/** The same evidence where nothing leaks: no rule on how a leak came about may speak. */
const fine = (more: Record<string, unknown>, environment: Record<string, string> = {}): Case => ({
  environment,
  inputs: { ipam: store(44), crictl: sandboxes(43, 1), ...more },
})
const journal = (line: string, unit = 'containerd'): Record<string, unknown> => ({
  journal: [{ unit, line }],
})
const command = (cmd: string, ...output: string[]): Record<string, unknown> => ({
  commands: [{ cmd, output }],
})

const row = (rule: string, way: string, weight: Row['weight'], seen: Case, alike: Case): Row => ({
  rule,
  id: 'P-R3',
  cause: 'ipam-leak',
  weight,
  way,
  seen,
  alike,
})

const cutOff = journal(
  'msg="Failed to destroy network for sandbox \\"91a0\\"" error="netplugin failed: context canceled"',
)
const refused = journal(
  'failed to destroy network for sandbox "1": error getting ClusterInformation: connection is unauthorized: Unauthorized',
)
const noVersion = journal(
  'Error deleting network: failed to convert major version part \\"\\": strconv.Atoi',
  'crio',
)
const damaged = journal(
  'failed to destroy network for sandbox "1": failed to get network "n" cached result: unexpected end of JSON input',
)
const fork = { agent_logs: ['fork/exec /opt/cni/bin/host-local: resource temporarily unavailable'] }
const tool = journal(
  'plugin type="portmap" failed (delete): exec: "iptables": executable file not found in $PATH',
)
const booted = command('who -b', '  system boot  2022-02-15 02:11')

export const wayRows: Row[] = [
  row(
    'runtime-skips-del',
    'runtime-skips-del',
    'hints',
    leak({}, { runtime: 'containerd 1.7.24' }),
    leak({}, { runtime: 'containerd 1.7.31' }),
  ),
  row(
    'runtime-gives-up',
    'runtime-gives-up',
    'hints',
    leak({}, { runtime: 'cri-o 1.33.4' }),
    leak({}, { runtime: 'cri-o 1.33.2' }),
  ),
  row('cleanup-with-expired-context', 'expired-context', 'supports', leak(cutOff), fine(cutOff)),
  row('conflist-without-cniversion', 'no-cniversion', 'supports', leak(noVersion), fine(noVersion)),
  row('damaged-note', 'damaged-cache', 'supports', leak(damaged), fine(damaged)),
  row('agent-refuses-teardown', 'agent-refuses-del', 'supports', leak(refused), leak(cutOff)),
  row(
    'teardown-failures-told',
    '',
    'supports',
    leak(cutOff),
    leak(journal('StopPodSandbox for "1" returns successfully')),
  ),
  row(
    'no-process-for-teardown',
    'process-exhaustion',
    'supports',
    leak(fork),
    leak({ agent_logs: ['all good'] }),
  ),
  row('teardown-without-tool', 'chained-plugin-missing', 'supports', leak(tool), fine(tool)),
  row(
    'kept-over-reboot',
    'reboot',
    'supports',
    leak({
      ipam: store(174, { sample: ['10.244.7.2 (before boot)', '10.244.7.118 (after boot)'] }),
      ...booted,
    }),
    fine(booted),
  ),
  row(
    'leak-came-back',
    '',
    'hints',
    leak({ symptom: 'cleaned last week, full again' }),
    leak({ symptom: 'pods hang' }),
  ),
  row(
    'engine-upgraded-in-place',
    'runtime-restart',
    'hints',
    leak({ symptom: 'since the docker upgrade' }),
    leak({ symptom: 'since Monday' }),
  ),
]

const kill = (inner: string): Record<string, unknown> =>
  event(
    `error killing pod: failed to "KillPodSandbox" with KillPodSandboxError: "failed to destroy network for sandbox \\"1\\": ${inner}"`,
    'FailedKillPod',
  )
const reserved = 'failed to reserve sandbox name "a_b_c_0": name "a_b_c_0" is reserved for "49c5"'
const timeout = event(
  'Failed to create pod sandbox: rpc error: code = DeadlineExceeded desc = context deadline exceeded',
)
const twice = (second: string): string[] => [
  'shop a-1 1/1 Running 0 3d 10.244.7.9 n1',
  `shop b-1 1/1 ${second} 0 1h 10.244.7.9 n1`,
]

export const otherRows: Row[] = [
  {
    rule: 'teardown-fails',
    id: 'P-R3',
    cause: 'cni-del-failing',
    weight: 'proves',
    seen: { inputs: { events: [kill('failed to del rule table 500')] } },
    alike: {
      inputs: {
        events: [
          event(
            'failed to set up sandbox container "1" network: x, failed to clean up sandbox container "1" network: y',
          ),
        ],
      },
    },
  },
  {
    rule: 'damaged-result-cache',
    id: 'P-R3',
    cause: 'cni-del-failing',
    weight: 'supports',
    way: 'damaged-cache',
    seen: {
      inputs: { events: [kill('failed to get network \\"n\\" cached result: unexpected end of JSON input')] },
    },
    alike: { inputs: { events: [kill('network \\"n\\" not found in CNI cache')] } },
  },
  {
    rule: 'dead-sandboxes-kept',
    id: 'P-E4',
    cause: 'cni-del-failing',
    weight: 'supports',
    seen: { inputs: { events: [exhausted()], ipam: store(253), crictl: sandboxes(30, 226) } },
    alike: { inputs: { events: [exhausted()], ipam: store(253), crictl: sandboxes(250, 5) } },
  },
  {
    rule: 'one-address-two-pods',
    id: 'P-R3',
    cause: 'duplicate-ip',
    weight: 'proves',
    seen: { environment: { pod_cidr: '10.244.7.0/24', cni: 'flannel' }, inputs: { pods: twice('Running') } },
    alike: {
      environment: { pod_cidr: '10.244.7.0/24', cni: 'flannel' },
      inputs: { pods: twice('Completed') },
    },
  },
  {
    rule: 'one-address-two-pods',
    id: 'P-R3 told by the host route',
    cause: 'duplicate-ip',
    weight: 'proves',
    seen: {
      inputs: {
        pods: ['shop a-1 0/1 CrashLoopBackOff 4 2d 10.42.8.13 n1', 'shop b-1 1/1 Running 0 3d 10.42.8.13 n1'],
        commands: [{ cmd: 'ip route', output: ['10.42.8.13 dev cali4d1e90a7b2c scope link'] }],
      },
    },
    alike: {
      inputs: {
        pods: ['shop a-1 0/1 CrashLoopBackOff 4 2d 10.42.8.13 n1', 'shop b-1 1/1 Running 0 3d 10.42.8.13 n1'],
        commands: [
          { cmd: 'ip route', output: ['10.42.8.0/24 dev eth0 proto kernel scope link src 10.42.8.13'] },
        ],
      },
    },
  },
  {
    rule: 'one-address-two-pods',
    id: 'P-E4 host network',
    cause: 'duplicate-ip',
    weight: 'proves',
    seen: {
      inputs: {
        pods: [
          'shop a-1 1/1 Running 0 3d net1=10.77.4.19 n1',
          'shop b-1 1/1 Running 0 3d net1=10.77.4.19 n2',
        ],
      },
    },
    alike: {
      inputs: {
        pods: [
          'kube-system proxy-1 1/1 Running 0 3d 192.0.2.4 n1',
          'kube-system agent-1 1/1 Running 0 3d 192.0.2.4 n1',
        ],
      },
    },
  },
  {
    rule: 'address-conflict-told',
    id: 'P-R3',
    cause: 'duplicate-ip',
    weight: 'supports',
    seen: { inputs: command('arping -D -I net1 10.77.4.19', 'Received 1 response(s)') },
    alike: { inputs: command('arping -D -I net1 10.77.4.19', 'Received 0 response(s)') },
  },
  {
    rule: 'owners-without-address-file',
    id: 'P-R3',
    cause: 'duplicate-ip',
    weight: 'supports',
    way: 'wiped',
    seen: {
      inputs: { symptom: 'somebody wiped the cni networks folder', ipam: store(6), crictl: sandboxes(43) },
    },
    alike: {
      inputs: { symptom: 'somebody wiped the cni networks folder', ipam: store(41), crictl: sandboxes(43) },
    },
  },
  {
    rule: 'sandbox-name-reserved',
    id: 'P-R3',
    cause: 'sandbox-name-conflict',
    weight: 'proves',
    way: 'in-flight',
    seen: { inputs: { events: [timeout, event(reserved)] } },
    alike: { inputs: { events: [timeout] } },
  },
  {
    rule: 'container-name-reserved',
    id: 'P-R3',
    cause: 'sandbox-name-conflict',
    weight: 'supports',
    seen: {
      inputs: { events: [event('error reserving ctr name k8s_a_b_0 for id 9: name is reserved', 'Failed')] },
    },
    alike: { inputs: { events: [event('name collision in the chart', 'Failed')] } },
  },
]
