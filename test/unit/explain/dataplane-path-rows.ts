import { type Inputs, type Row, ran } from './dataplane-rows.js'

export const log = (...agent_logs: string[]): Inputs => ({ agent_logs })
export const fails = ran([
  'curl http://10.244.2.9:80/',
  'curl: (28) Connection timed out after 5001 milliseconds',
])
export const both = (a: { commands: unknown[] }, b: { commands: unknown[] }): Inputs => ({
  commands: [...a.commands, ...b.commands],
})
export const a = [
  'default via 192.168.1.1 dev eth0',
  '10.244.1.0/24 dev cni0 proto kernel scope link src 10.244.1.1',
]
export const b = [
  'default via 192.168.1.1 dev eth0',
  '10.244.2.0/24 dev cni0 proto kernel scope link src 10.244.2.1',
  '192.168.1.0/24 dev eth0 src 192.168.1.12',
]
const toA = '10.244.1.0/24 via 10.244.1.0 dev flannel.1 onlink'
const toB = '10.244.2.0/24 via 10.244.2.0 dev flannel.1 onlink'
const pod = 'web-1   1/1   Running   0   1h   10.244.2.9   b'

export const routeRows: Row[] = [
  {
    rule: 'node-lacks-a-route-that-others-have',
    cause: 'route-missing',
    weight: 'proves',
    seen: { routes: { a, b: [...b, toA] } },
    alike: { routes: { a: [...a, toB], b: [...b, toA] } },
  },
  {
    rule: 'pod-of-another-node-without-a-route',
    cause: 'route-missing',
    weight: 'proves',
    seen: {
      ...fails,
      routes: { a: [...a, '10.244.3.0/24 via 10.244.3.0 dev flannel.1 onlink'] },
      pods: [pod, 'web-2   1/1   Running   0   1h   10.244.3.9   c'],
    },
    alike: { ...fails, routes: { a: [...a, toB] }, pods: [pod] },
  },
  {
    rule: 'route-to-a-wrong-next-hop',
    cause: 'route-missing',
    weight: 'proves',
    seen: { routes: { a: [...a, '10.244.2.0/24 via 192.168.1.99 dev eth0'], b: [...b, toA] } },
    alike: { routes: { a: [...a, '10.244.2.0/24 via 192.168.1.12 dev eth0'], b: [...b, toA] } },
  },
  {
    rule: 'range-shadowed-by-another-network',
    cause: 'route-missing',
    weight: 'proves',
    seen: { pods: [pod], routes: { a: [...a, '10.244.0.0/16 dev docker0 scope link src 10.244.0.1'] } },
    alike: { pods: [pod], routes: { a: [...a, '172.17.0.0/16 dev docker0 scope link src 172.17.0.1'] } },
  },
  {
    rule: 'route-that-refuses',
    cause: 'route-missing',
    weight: 'proves',
    seen: { routes: { a: [...a, 'unreachable 10.244.7.0/26 proto bird'] } },
    alike: { routes: { a: [...a, 'blackhole 10.244.7.0/26 proto bird'] } },
  },
  {
    rule: 'bridge-without-address',
    cause: 'route-missing',
    weight: 'proves',
    seen: ran(['ip -4 addr show cni0', '']),
    alike: ran(['ip -4 addr show cni0', '    inet 10.244.1.1/24 scope global cni0']),
  },
  {
    rule: 'own-range-not-connected',
    cause: 'route-missing',
    weight: 'supports',
    seen: {
      ...ran(['cat /run/flannel/subnet.env', 'FLANNEL_SUBNET=10.244.2.1/24']),
      pods: [pod],
      routes: { b: [a[0], toA] },
    },
    alike: {
      ...ran(['cat /run/flannel/subnet.env', 'FLANNEL_SUBNET=10.244.2.1/24']),
      pods: [pod],
      routes: { b },
    },
  },
  {
    rule: 'kernel-picks-the-default-route',
    cause: 'route-missing',
    weight: 'supports',
    seen: {
      ...ran(['ip route get 10.244.2.9', '10.244.2.9 via 192.168.1.1 dev eth0 src 192.168.1.11']),
      pods: [pod],
      routes: { a },
    },
    alike: {
      ...ran(['ip route get 10.244.2.9', '10.244.2.9 via 10.244.2.0 dev flannel.1 src 10.244.1.0']),
      pods: [pod],
      routes: { a },
    },
  },
  {
    rule: 'no-default-route',
    cause: 'route-missing',
    weight: 'supports',
    seen: ran(['kubectl exec web-1 -- ip route', '10.244.1.0/24 dev eth0 scope link']),
    alike: ran(['kubectl exec web-1 -- ip route', 'default via 10.244.1.1 dev eth0']),
  },
  {
    rule: 'policy-rules-are-gone',
    cause: 'route-missing',
    weight: 'proves',
    seen: ran(
      ['ip rule', '0: from all lookup local'],
      ['ip rule # on b', '0: from all lookup local', '512: from all to 10.0.1.2 lookup main'],
    ),
    alike: ran(['ip rule', '0: from all lookup local']),
  },
  {
    rule: 'pod-links-without-routes',
    cause: 'route-missing',
    weight: 'proves',
    seen: {
      ...ran(['ip link', '7: eni4b02d61c7e9@if3: <BROADCAST,UP,LOWER_UP> mtu 9001 state UP']),
      routes: { a: [a[0]] },
    },
    alike: {
      ...ran(['ip link', '7: eni4b02d61c7e9@if3: <BROADCAST,UP,LOWER_UP> mtu 9001 state UP']),
      routes: { a: [a[0], '10.0.1.2 dev eni4b02d61c7e9 scope link'] },
    },
  },
  {
    rule: 'bgp-peer-not-established',
    cause: 'route-missing',
    weight: 'supports',
    seen: ran(['calicoctl node status', '| 10.0.0.7 | node-to-node mesh | start | 14:07:10 | Passive |']),
    alike: ran(['calicoctl node status', '| 10.0.0.7 | node-to-node mesh | up | 14:07:10 | Established |']),
  },
  {
    rule: 'cloud-route-not-created',
    cause: 'route-missing',
    weight: 'supports',
    seen: log('NetworkUnavailable: NoRouteCreated: RouteController failed to create a route'),
    alike: log('NetworkUnavailable: RouteCreated'),
  },
  {
    rule: 'agent-cannot-set-a-route',
    cause: 'route-missing',
    weight: 'supports',
    seen: log('E0101 device.go: Failed to add vxlan route (10.244.2.0/24 -> 10.244.2.0): network is down'),
    alike: log('I0101 route_network.go: Adding route to 10.244.2.0/24'),
  },
  {
    rule: 'tunnel-peer-without-range',
    cause: 'route-missing',
    weight: 'supports',
    seen: ran(['wg show', '  allowed ips: (none)']),
    alike: ran(['wg show', '  allowed ips: 10.244.2.0/24']),
  },
]
