import type { CauseCode } from '../../../src/core/diagnosis/cause.js'
import type { Weight } from '../../../src/core/explain/rule.js'

export interface Row {
  rule: string
  cause: CauseCode
  weight: Weight
  seen: Inputs
  /** Looks like it and is not: the rule says nothing, or less. */
  alike: Inputs
}
export interface Inputs {
  [key: string]: unknown
}

export const ran = (
  ...pairs: [string, ...string[]][]
): { commands: { cmd: string; output: string[] }[] } => ({
  commands: pairs.map(([cmd, ...output]) => ({ cmd, output })),
})
const event = (message: string): Inputs => ({ events: [{ object: 'pod/web-1', message }] })
const log = (...agent_logs: string[]): Inputs => ({ agent_logs })

const noEnds: [string, ...string[]] = [
  'kubectl get endpoints web',
  'NAME   ENDPOINTS   AGE',
  'web    <none>      3d',
]
const ends: [string, ...string[]] = [
  'kubectl get endpoints web',
  'NAME   ENDPOINTS         AGE',
  'web    10.244.1.5:80     3d',
]
const reject: [string, ...string[]] = [
  'iptables-save',
  '-A KUBE-SERVICES -d 10.96.4.4/32 -p tcp -m comment --comment "shop/web:http has no endpoints" -m tcp --dport 80 -j REJECT --reject-with icmp-port-unreachable',
]
const refusedProbe = event(
  'Readiness probe failed: Get "http://10.244.1.5:8080/ready": dial tcp 10.244.1.5:8080: connect: connection refused',
)
const inPod = 'kubectl exec web-1 -- ss -ltn'

export const serviceRows: Row[] = [
  {
    rule: 'service-without-backends',
    cause: 'service-no-endpoints',
    weight: 'proves',
    seen: ran(noEnds, reject),
    alike: ran(ends, reject),
  },
  {
    rule: 'selector-differs-from-labels',
    cause: 'service-no-endpoints',
    weight: 'proves',
    seen: ran(
      noEnds,
      ["kubectl get svc web -o jsonpath='{.spec.selector}'", '{"app":"web","tier":"front"}'],
      ['kubectl get pods -l app=web,tier=front', 'No resources found in shop namespace.'],
    ),
    alike: ran(
      noEnds,
      ["kubectl get svc web -o jsonpath='{.spec.selector}'", '{"app":"web"}'],
      ['kubectl get pods -l app=web', 'NAME    READY   STATUS', 'web-1   0/1     Running'],
    ),
  },
  {
    rule: 'said-to-have-no-endpoints',
    cause: 'service-no-endpoints',
    weight: 'supports',
    seen: event('failed calling webhook "v.example.com": no endpoints available for service "hook"'),
    alike: event('failed calling webhook "v.example.com": x509: certificate has expired'),
  },
  {
    rule: 'target-port-name-missing',
    cause: 'service-no-endpoints',
    weight: 'supports',
    seen: ran(noEnds, [
      'kubectl get svc,deploy -o yaml',
      'targetPort: metrics',
      '- containerPort: 8080',
      '  name: http',
    ]),
    alike: ran(noEnds, [
      'kubectl get svc,deploy -o yaml',
      'targetPort: http',
      '- containerPort: 8080',
      '  name: http',
    ]),
  },
  {
    rule: 'no-backend-on-this-node',
    cause: 'service-no-endpoints',
    weight: 'supports',
    seen: ran([
      'iptables-save',
      '-A KUBE-XLB-ICKQE4PTG2WGVXBF -m comment --comment "default/web: has no local endpoints" -j KUBE-MARK-DROP',
    ]),
    alike: ran(reject),
  },
  {
    rule: 'pods-of-the-service-not-ready',
    cause: 'service-no-endpoints',
    weight: 'supports',
    seen: { ...ran(noEnds), pods: ['web-1   0/1   Running   0   1h   10.244.1.5   n1'] },
    alike: { ...ran(noEnds), pods: ['web-1   1/1   Running   0   1h   10.244.1.5   n1'] },
  },
  {
    rule: 'rejects-a-service-with-endpoints',
    cause: 'dataplane-stale',
    weight: 'proves',
    seen: ran(ends, reject),
    alike: ran(noEnds, reject),
  },
  {
    rule: 'programmed-backends-differ',
    cause: 'dataplane-stale',
    weight: 'proves',
    seen: ran(ends, [
      'iptables-save -t nat',
      '-A KUBE-SEP-A -p tcp -m comment --comment "shop/web:http" -m tcp -j DNAT --to-destination 10.244.9.9:80',
    ]),
    alike: ran(ends, [
      'iptables-save -t nat',
      '-A KUBE-SEP-A -p tcp -m comment --comment "shop/web:http" -m tcp -j DNAT --to-destination 10.244.1.5:80',
    ]),
  },
  {
    rule: 'ipvs-drained-backend-in-use',
    cause: 'dataplane-stale',
    weight: 'supports',
    seen: ran(['ipvsadm -Ln', 'UDP  10.96.0.10:53 rr', '  -> 10.244.3.3:53   Masq    0      0          4']),
    alike: ran(['ipvsadm -Ln', 'UDP  10.96.0.10:53 rr', '  -> 10.244.3.3:53   Masq    1      0          4']),
  },
  {
    rule: 'stale-conntrack-entry',
    cause: 'dataplane-stale',
    weight: 'proves',
    seen: ran(ends, [
      'conntrack -L -p udp',
      'udp 17 27 src=10.244.7.2 dst=10.96.0.10 sport=1 dport=53 [UNREPLIED] src=10.244.8.8 dst=10.244.7.2 sport=53 dport=1',
    ]),
    alike: ran(ends, [
      'conntrack -L -p udp',
      'udp 17 27 src=10.244.7.2 dst=10.96.0.10 sport=1 dport=53 src=10.244.1.5 dst=10.244.7.2 sport=53 dport=1',
    ]),
  },
  {
    rule: 'pod-address-answers-service-does-not',
    cause: 'dataplane-stale',
    weight: 'supports',
    seen: ran(
      ends,
      [
        'kubectl get svc',
        'NAME   TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE',
        'web    ClusterIP   10.96.4.4    <none>        80/TCP    3d',
      ],
      ['curl -sS http://10.244.1.5:80/', 'hello'],
      ['curl -sS http://10.96.4.4/', 'curl: (7) Failed to connect to 10.96.4.4 port 80: Connection refused'],
    ),
    alike: ran(ends, ['curl -sS http://10.244.1.5:80/', 'hello']),
  },
]

export const staleRows: Row[] = [
  {
    rule: 'bridge-refuses-another-address',
    cause: 'dataplane-stale',
    weight: 'proves',
    seen: event('failed to set bridge addr: "cni0" already has an IP address different from 10.244.3.1/24'),
    alike: event('failed to set bridge addr: could not add IP address to "cni0": permission denied'),
  },
  {
    rule: 'bridge-carries-another-range',
    cause: 'dataplane-stale',
    weight: 'supports',
    seen: ran(
      ['ip -br addr', 'cni0   UP   10.244.9.1/24'],
      ['cat /run/flannel/subnet.env', 'FLANNEL_SUBNET=10.244.3.1/24'],
    ),
    alike: ran(
      ['ip -br addr', 'cni0   UP   10.244.3.1/24'],
      ['cat /run/flannel/subnet.env', 'FLANNEL_SUBNET=10.244.3.1/24'],
    ),
  },
  {
    rule: 'proxy-cannot-set-rules',
    cause: 'dataplane-stale',
    weight: 'supports',
    seen: log('E0101 proxier.go] "Failed to execute iptables-restore" err="exit status 4"'),
    alike: log('I0101 proxier.go] "Syncing iptables rules"'),
  },
  {
    rule: 'proxy-not-running',
    cause: 'dataplane-stale',
    weight: 'supports',
    seen: {
      pods: ['kube-proxy-x1   0/1   CrashLoopBackOff   9   1h   10.0.0.4   n1'],
      ...log('dial tcp 10.96.0.1:443: i/o timeout'),
    },
    alike: {
      pods: ['kube-proxy-x1   1/1   Running   0   1h   10.0.0.4   n1'],
      ...log('dial tcp 10.96.0.1:443: i/o timeout'),
    },
  },
  {
    rule: 'iptables-legacy-beside-nft',
    cause: 'dataplane-stale',
    weight: 'supports',
    seen: ran([
      'iptables-save',
      '# Warning: iptables-legacy tables present, use iptables-legacy-save to see them',
    ]),
    alike: ran(['iptables-save', '# Generated by iptables-save v1.8.7']),
  },
  {
    rule: 'pod-link-not-on-the-bridge',
    cause: 'dataplane-stale',
    weight: 'supports',
    seen: ran([
      'ip link',
      '5: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UP',
      '9: veth12ab@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UP',
    ]),
    alike: ran([
      'ip link',
      '5: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UP',
      '9: veth12ab@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue master cni0 state UP',
    ]),
  },
  {
    rule: 'bpf-maps-behind-the-api',
    cause: 'dataplane-stale',
    weight: 'supports',
    seen: log('xx drop (Service backend not found) flow 0x0 to endpoint 0'),
    alike: log('xx drop (Policy denied) flow 0x0 to endpoint 0'),
  },
  {
    rule: 'agent-cannot-apply-rules',
    cause: 'dataplane-stale',
    weight: 'supports',
    seen: log('[WARNING] felix/table.go: Failed to program iptables, will retry'),
    alike: log('[INFO] felix/int_dataplane.go: Applying dataplane updates'),
  },
  {
    rule: 'bridged-packets-skip-iptables',
    cause: 'dataplane-stale',
    weight: 'supports',
    seen: ran(['sysctl net.bridge.bridge-nf-call-iptables', 'net.bridge.bridge-nf-call-iptables = 0']),
    alike: ran(['sysctl net.bridge.bridge-nf-call-iptables', 'net.bridge.bridge-nf-call-iptables = 1']),
  },
  {
    rule: 'tunnel-end-has-another-mac',
    cause: 'dataplane-stale',
    weight: 'proves',
    seen: ran(
      [
        'ip a s flannel.1',
        '4: flannel.1: <UP> mtu 1450',
        '    link/ether 9a:41:d7:0e:52:c8',
        '    inet 10.244.9.0/32 scope global',
      ],
      ['arp -na', '? (10.244.9.0) at 3e:b0:14:97:c1:26 [ether] PERM on flannel.1'],
    ),
    alike: ran(
      [
        'ip a s flannel.1',
        '4: flannel.1: <UP> mtu 1450',
        '    link/ether 9a:41:d7:0e:52:c8',
        '    inet 10.244.9.0/32 scope global',
      ],
      ['arp -na', '? (10.244.9.0) at 9a:41:d7:0e:52:c8 [ether] PERM on flannel.1'],
    ),
  },
]

export const listeningRows: Row[] = [
  {
    rule: 'listens-on-loopback-only',
    cause: 'app-not-listening',
    weight: 'proves',
    seen: { ...refusedProbe, ...ran([inPod, 'LISTEN 0 4096 127.0.0.1:8080 0.0.0.0:*']) },
    alike: { ...refusedProbe, ...ran([inPod, 'LISTEN 0 4096 *:8080 *:*']) },
  },
  {
    rule: 'listens-on-one-family-only',
    cause: 'app-not-listening',
    weight: 'proves',
    seen: {
      ...event('Liveness probe failed: dial tcp [fd00:1::5]:8080: connect: connection refused'),
      ...ran([inPod, 'LISTEN 0 4096 0.0.0.0:8080 0.0.0.0:*']),
    },
    alike: {
      ...event('Liveness probe failed: dial tcp [fd00:1::5]:8080: connect: connection refused'),
      ...ran([inPod, 'LISTEN 0 4096 [::]:8080 [::]:*']),
    },
  },
  {
    rule: 'nothing-listens-on-the-port',
    cause: 'app-not-listening',
    weight: 'proves',
    seen: { ...refusedProbe, ...ran([inPod, 'LISTEN 0 4096 0.0.0.0:9090 0.0.0.0:*']) },
    alike: { ...refusedProbe, ...ran([inPod, 'LISTEN 0 4096 0.0.0.0:8080 0.0.0.0:*']) },
  },
  {
    rule: 'pod-refuses-connections',
    cause: 'app-not-listening',
    weight: 'supports',
    seen: refusedProbe,
    alike: event('Readiness probe failed: Get "http://10.244.1.5:8080/ready": context deadline exceeded'),
  },
  {
    rule: 'application-says-where-it-listens',
    cause: 'app-not-listening',
    weight: 'supports',
    seen: { ...refusedProbe, ...ran(['kubectl logs web-1', 'server listening on 127.0.0.1:8080']) },
    alike: { ...refusedProbe, ...ran(['kubectl logs web-1', 'server listening on 0.0.0.0:8080']) },
  },
  {
    rule: 'probe-asks-a-loopback-port',
    cause: 'app-not-listening',
    weight: 'proves',
    seen: ran(
      ['kubectl get pod web-1 -o json', '"livenessProbe":{"httpGet":{"path":"/","port":9942}}'],
      ['kubectl logs web-1', 'listening on 127.0.0.1:9942'],
    ),
    alike: ran(
      [
        'kubectl get pod web-1 -o json',
        '"livenessProbe":{"httpGet":{"host":"127.0.0.1","path":"/","port":9942}}',
      ],
      ['kubectl logs web-1', 'listening on 127.0.0.1:9942'],
    ),
  },
  {
    rule: 'target-port-differs-from-container-port',
    cause: 'app-not-listening',
    weight: 'supports',
    seen: ran(
      ['kubectl get svc,deploy -o yaml', 'targetPort: 80', 'containerPort: 8080'],
      ['curl 10.96.4.4', 'curl: (7) Failed to connect to 10.96.4.4 port 80: Connection refused'],
    ),
    alike: ran(
      ['kubectl get svc,deploy -o yaml', 'targetPort: 8080', 'containerPort: 8080'],
      ['curl 10.96.4.4', 'curl: (7) Failed to connect to 10.96.4.4 port 80: Connection refused'],
    ),
  },
  {
    rule: 'told-that-the-application-is-not-bound',
    cause: 'app-not-listening',
    weight: 'hints',
    seen: { symptom: 'exec + curl localhost works' },
    alike: { symptom: 'everything hangs' },
  },
]
