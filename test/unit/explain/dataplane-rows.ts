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
export const event = (message: string): Inputs => ({ events: [{ object: 'pod/web-1', message }] })
export const log = (...agent_logs: string[]): Inputs => ({ agent_logs })

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
export const refusedProbe = event(
  'Readiness probe failed: Get "http://10.244.1.5:8080/ready": dial tcp 10.244.1.5:8080: connect: connection refused',
)
export const inPod = 'kubectl exec web-1 -- ss -ltn'

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
