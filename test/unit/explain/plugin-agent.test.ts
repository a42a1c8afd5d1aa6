import { agentRules } from '../../../src/core/explain/rules/plugin-agent.js'
import { agent, eachRow, event, noSocket, type Row, uninitialized } from './plugin-seen.js'

const agents: Row[] = [
  ['plugin-cannot-reach-agent', 'its socket is not there', noSocket, ['cni-agent-down supports']],
  [
    'plugin-cannot-reach-agent',
    'though its Pod is ready',
    { ...noSocket, pods: ['kube-system cilium-9tq4x 1/1 Running 0 4d 10.1.0.4 n1'] },
    ['cni-agent-down supports', '-cni-agent-down hints'],
  ],
  [
    'plugin-cannot-reach-agent',
    "the runtime's socket is no agent's",
    event(
      'Failed to create pod sandbox: dial unix /run/containerd/containerd.sock: connect: connection refused',
    ),
    [],
  ],
  [
    'plugin-cannot-reach-agent',
    'a plugin that nobody runs here',
    event('open /run/flannel/subnet.env: no such file or directory'),
    [],
    { cni: 'calico' },
  ],
  ['agent-crashes', 'alone', agent('CrashLoopBackOff'), ['cni-agent-down supports']],
  [
    'agent-crashes',
    'and a plugin misses it',
    { ...noSocket, ...agent('Init:CrashLoopBackOff') },
    ['cni-agent-down proves'],
  ],
  [
    'agent-crashes',
    'beside kube-proxy',
    {
      ...noSocket,
      pods: [
        'cilium-9tq4x 0/1 CrashLoopBackOff 9 1h 10.1.0.4 n1',
        'kube-proxy-x1x1x 0/1 CrashLoopBackOff 9 1h 10.1.0.4 n1',
      ],
    },
    ['cni-agent-down supports', '-cni-agent-down supports', 'runtime-error hints'],
  ],
  [
    'agent-crashes',
    "an operator's Pod is no agent",
    { pods: ['cilium-operator-6c5-r7 0/1 CrashLoopBackOff 9 1h 10.1.0.4 n1'] },
    [],
  ],
  [
    'agent-not-yet-up',
    'and a plugin misses it',
    { ...noSocket, ...agent('Init:0/6') },
    ['cni-agent-down proves'],
  ],
  [
    'agent-not-yet-up',
    'and only the configuration is missing',
    { ...uninitialized, ...agent('Init:0/6') },
    ['cni-agent-down hints'],
  ],
  [
    'agent-not-on-node',
    'and a plugin misses it',
    { ...noSocket, daemonset: { name: 'kube-system/cilium', desired: 14, ready: 13, missing_node: 'n1' } },
    ['cni-agent-down supports'],
  ],
  [
    'agent-not-on-node',
    'an application is no agent',
    { ...noSocket, daemonset: { name: 'logs/collector', desired: 14, ready: 13, missing_node: 'n1' } },
    [],
  ],
  [
    'agent-says-node-not-ready',
    'by its own taint',
    { node: { taints: ['node.cilium.io/agent-not-ready:NoSchedule'] } },
    ['cni-agent-down supports'],
  ],
  [
    'agent-says-node-not-ready',
    'another taint',
    { node: { taints: ['node.kubernetes.io/disk-pressure:NoSchedule'] } },
    [],
  ],
  [
    'agent-log-ends-fatally',
    'and a plugin misses it',
    { ...noSocket, agent_logs: ['level=fatal msg="Error while creating daemon"'] },
    ['cni-agent-down supports'],
  ],
  [
    'agent-log-ends-fatally',
    'an error alone ends nothing',
    { ...noSocket, agent_logs: ['level=error msg="retrying"'] },
    [],
  ],
  [
    'node-has-no-pod-range',
    'flannel without a lease',
    {
      agent_logs: [
        'E1 main.go:292] Error registering network: failed to acquire lease: node "n1" pod cidr not assigned',
      ],
    },
    ['cni-agent-down supports'],
  ],
  ['node-has-no-pod-range', 'it has one', { agent_logs: ['I1 Lease acquired: 10.244.1.0/24'] }, []],
  [
    'agent-probe-fails',
    "calico's own check",
    event(
      'Readiness probe failed: calico/node is not ready: BIRD is not ready: BGP not established with 10.0.0.2',
      { object: 'pod/calico-node-5qv8n', reason: 'Unhealthy' },
    ),
    ['cni-agent-down supports'],
  ],
  [
    'agent-probe-fails',
    "an application's check",
    event('Readiness probe failed: HTTP probe failed with statuscode: 500', { reason: 'Unhealthy' }),
    [],
  ],
]

describe('P-R3 what each rule on the network agent says', () => {
  eachRow(agentRules, agents)
})
