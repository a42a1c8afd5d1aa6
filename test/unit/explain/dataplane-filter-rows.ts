import { a, b, both, fails } from './dataplane-path-rows.js'
import { ran, type Row } from './dataplane-rows.js'

const refusedHost = ran([
  'wget 10.244.2.9:80 -T 2',
  "wget: can't connect to remote host (10.244.2.9): No route to host",
])
const rightly = { routes: { b } }

export const filterRows: Row[] = [
  {
    rule: 'firewall-zone-lacks-the-pod-links',
    cause: 'network-filtered',
    weight: 'proves',
    seen: {
      ...both(refusedHost, ran(['firewall-cmd --get-active-zones', 'public', '  interfaces: eth0'])),
      ...rightly,
    },
    alike: {
      ...both(refusedHost, ran(['firewall-cmd --get-active-zones', 'trusted', '  interfaces: cni0'])),
      ...rightly,
    },
  },
  {
    rule: 'unreachable-although-routed',
    cause: 'network-filtered',
    weight: 'supports',
    seen: { ...refusedHost, ...rightly },
    alike: { ...refusedHost, routes: { a } },
  },
  {
    rule: 'told-to-be-prohibited',
    cause: 'network-filtered',
    weight: 'proves',
    seen: ran(['ping -c1 10.0.0.7', 'From 10.0.0.1 icmp_seq=1 Packet filtered']),
    alike: ran(['ping -c1 10.0.0.7', '1 packets transmitted, 1 received, 0% packet loss']),
  },
  {
    rule: 'host-rule-stops-packets',
    cause: 'network-filtered',
    weight: 'supports',
    seen: both(fails, ran(['iptables -S FORWARD', '-P FORWARD DROP'])),
    alike: both(
      fails,
      ran([
        'iptables-save',
        '-A KUBE-FIREWALL -m mark --mark 0x8000/0x8000 -j DROP',
        ':FORWARD ACCEPT [0:0]',
      ]),
    ),
  },
  {
    rule: 'firewall-log-names-the-packet',
    cause: 'network-filtered',
    weight: 'proves',
    seen: {
      journal: [{ unit: 'kernel', line: '[UFW BLOCK] IN=eth0 OUT=cni0 SRC=10.0.0.4 DST=10.244.2.9 DPT=80' }],
    },
    alike: { journal: [{ unit: 'kernel', line: 'cni0: port 2(veth1) entered forwarding state' }] },
  },
  {
    rule: 'network-policy-denies',
    cause: 'network-filtered',
    weight: 'supports',
    seen: both(fails, ran(['kubectl get netpol', 'NAME   POD-SELECTOR   AGE', 'only-front   app=web   2d'])),
    alike: both(fails, ran(['kubectl get netpol', 'No resources found in shop namespace.'])),
  },
  {
    rule: 'port-between-nodes-is-closed',
    cause: 'network-filtered',
    weight: 'supports',
    seen: ran(['nmap -sU -p 8472 10.0.0.7', '8472/udp filtered unknown']),
    alike: ran(['nmap -sU -p 8472 10.0.0.7', '8472/udp open unknown']),
  },
  {
    rule: 'tunnel-packets-leave-and-do-not-arrive',
    cause: 'network-filtered',
    weight: 'proves',
    seen: ran(
      ['tcpdump -ni eth0 udp port 8472 # on a', '12:00:01.1 IP 10.0.0.4.4 > 10.0.0.7.8472: OTV, flags [I]'],
      ['tcpdump -ni eth0 udp port 8472 # on b', '0 packets captured'],
    ),
    alike: ran([
      'tcpdump -ni eth0 udp port 8472 # on a',
      '12:00:01.1 IP 10.0.0.4.4 > 10.0.0.7.8472: OTV, flags [I]',
    ]),
  },
  {
    rule: 'node-answers-its-pods-do-not',
    cause: 'network-filtered',
    weight: 'hints',
    seen: ran(
      ['ping -c3 10.0.0.7', '3 packets transmitted, 3 received, 0% packet loss'],
      ['ping -c3 10.244.2.9', '3 packets transmitted, 0 received, 100% packet loss'],
    ),
    alike: ran(['ping -c3 10.0.0.7', '3 packets transmitted, 3 received, 0% packet loss']),
  },
  {
    rule: 'kernel-does-not-forward',
    cause: 'network-filtered',
    weight: 'proves',
    seen: ran(['sysctl net.ipv4.ip_forward', 'net.ipv4.ip_forward = 0']),
    alike: ran(['sysctl net.ipv4.ip_forward', 'net.ipv4.ip_forward = 1']),
  },
  {
    rule: 'forwarding-file-says-no',
    cause: 'network-filtered',
    weight: 'proves',
    seen: ran(['cat /proc/sys/net/ipv4/ip_forward', '0']),
    alike: ran(['cat /proc/sys/net/ipv4/ip_forward', '1']),
  },
  {
    rule: 'reverse-path-filter-drops',
    cause: 'network-filtered',
    weight: 'supports',
    seen: {
      journal: [{ unit: 'kernel', line: 'IPv4: martian source 10.244.2.9 from 10.244.1.4, on dev eth1' }],
    },
    alike: { journal: [{ unit: 'kernel', line: 'eth1: link becomes ready' }] },
  },
  {
    rule: 'host-firewall-is-active',
    cause: 'network-filtered',
    weight: 'supports',
    seen: both(fails, ran(['ufw status', 'Status: active'])),
    alike: both(fails, ran(['ufw status', 'Status: inactive'])),
  },
]

const link = (name: string, mtu: number): string =>
  `2: ${name}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu ${mtu} qdisc noqueue state UP`

export const sizeRows: Row[] = [
  {
    rule: 'link-sizes-do-not-fit',
    cause: 'mtu-mismatch',
    weight: 'supports',
    seen: ran(['ip link', link('eth0', 1500), link('flannel.1', 1500)]),
    alike: ran([
      'ip link',
      link('eth0', 1500),
      link('flannel.1', 1450),
      link('cni0', 1450),
      link('docker0', 1500),
    ]),
  },
  {
    rule: 'configured-size-does-not-fit',
    cause: 'mtu-mismatch',
    weight: 'supports',
    seen: ran(['cat /run/flannel/subnet.env', 'FLANNEL_MTU=1450'], ['ip link', link('cni0', 1500)]),
    alike: ran(['cat /run/flannel/subnet.env', 'FLANNEL_MTU=1450'], ['ip link', link('cni0', 1450)]),
  },
  {
    rule: 'only-large-pings-fail',
    cause: 'mtu-mismatch',
    weight: 'proves',
    seen: ran(
      ['ping -M do -s 1300 -c2 10.244.2.9', '2 packets transmitted, 2 received, 0% packet loss'],
      ['ping -M do -s 1472 -c2 10.244.2.9', '2 packets transmitted, 0 received, 100% packet loss'],
    ),
    alike: ran(
      ['ping -M do -s 1300 -c2 10.244.2.9', '2 packets transmitted, 0 received, 100% packet loss'],
      ['ping -M do -s 1472 -c2 10.244.2.9', '2 packets transmitted, 0 received, 100% packet loss'],
    ),
  },
  {
    rule: 'path-asks-for-smaller-packets',
    cause: 'mtu-mismatch',
    weight: 'supports',
    seen: ran([
      'tcpdump icmp',
      'IP 10.0.0.1 > 10.0.0.4: ICMP 10.0.0.7 unreachable - need to frag (mtu 1442), length 556',
    ]),
    alike: ran(['tcpdump icmp', 'IP 10.0.0.1 > 10.0.0.4: ICMP host 10.0.0.7 unreachable, length 84']),
  },
  {
    rule: 'transfer-starts-and-stops',
    cause: 'mtu-mismatch',
    weight: 'supports',
    seen: ran(
      ['curl http://10.244.2.9/ping', 'pong'],
      [
        'curl http://10.244.2.9/all',
        'curl: (28) Operation timed out after 5001 milliseconds with 0 bytes received',
      ],
    ),
    alike: ran(
      ['curl http://10.244.1.4/ping', 'pong'],
      [
        'curl http://10.244.2.9/all',
        'curl: (28) Operation timed out after 5001 milliseconds with 0 bytes received',
      ],
    ),
  },
  {
    rule: 'told-that-only-large-ones-fail',
    cause: 'mtu-mismatch',
    weight: 'hints',
    seen: { symptom: 'small requests ok, large payloads hang' },
    alike: { symptom: 'nothing works' },
  },
  {
    rule: 'nodes-have-different-sizes',
    cause: 'mtu-mismatch',
    weight: 'supports',
    seen: ran(['ip link # a', link('eth0', 9001)], ['ip link # b', link('eth0', 1500)]),
    alike: ran(['ip link # a', link('eth0', 1500)], ['ip link # b', link('eth0', 1500)]),
  },
]
