import { event, exhausted, type Row, sandboxes, store } from './addresses-rows.js'

const living = { inputs: { events: [exhausted()], ipam: store(253), crictl: sandboxes(255) } }
const leaked = { inputs: { events: [exhausted()], ipam: store(253), crictl: sandboxes(43, 1) } }
const pool = (total: number, taken: number): string =>
  `IP address pool stats: total: ${total}, assigned ${taken}`
const aws = event('add cmd: failed to assign an IP address to container')
const checked = (found: number): Record<string, unknown>[] => [
  { cmd: 'calicoctl ipam show', output: ['| IP Pool | 10.1.0.0/24 | 256 | 256 (100%) | 0 (0%) |'] },
  {
    cmd: 'calicoctl ipam check',
    output: [`Found ${found} IPs that are allocated in IPAM but not actually in use.`],
  },
]

export const heldRows: Row[] = [
  {
    rule: 'addresses-without-owner',
    id: 'P-R3',
    cause: 'ipam-leak',
    weight: 'proves',
    seen: leaked,
    alike: living,
  },
  {
    rule: 'full-of-living',
    id: 'P-R3',
    cause: 'ipam-full-no-leak',
    weight: 'proves',
    seen: living,
    alike: { inputs: { events: [exhausted()], ipam: store(253), crictl: sandboxes(30, 226) } },
  },
  {
    rule: 'full-and-checked',
    id: 'P-R3',
    cause: 'ipam-full-no-leak',
    weight: 'proves',
    seen: {
      inputs: { events: [event('Assigned 0 out of 1 requested IPv4 addresses')], commands: checked(0) },
    },
    alike: {
      inputs: { events: [event('Assigned 0 out of 1 requested IPv4 addresses')], commands: checked(90) },
    },
  },
  {
    rule: 'range-below-pod-limit',
    id: 'P-P5',
    cause: 'ipam-full-no-leak',
    weight: 'supports',
    seen: { inputs: { events: [exhausted('10.60.9.65-10.60.9.126')], node: { max_pods: 225 } } },
    alike: { inputs: { events: [exhausted()], node: { max_pods: 110 } } },
  },
  {
    rule: 'full-above-pod-limit',
    id: 'P-P5',
    cause: 'ipam-leak',
    weight: 'supports',
    seen: { inputs: { events: [exhausted()], node: { max_pods: 110 } } },
    alike: { inputs: { events: [exhausted('10.60.9.65-10.60.9.126')], node: { max_pods: 110 } } },
  },
  {
    rule: 'exhausted-not-counted',
    id: 'P-R3',
    cause: 'ipam-full-no-leak',
    weight: 'supports',
    seen: { inputs: { events: [exhausted()] } },
    alike: leaked,
  },
  {
    rule: 'exhausted-with-room',
    id: 'P-R3',
    cause: 'ipam-leak',
    weight: 'supports',
    way: 'aws',
    seen: { inputs: { events: [aws], agent_logs: [pool(58, 58)], crictl: sandboxes(36) } },
    alike: { inputs: { events: [aws], agent_logs: [pool(15, 15)], crictl: sandboxes(17) } },
  },
  {
    rule: 'cloud-subnet-empty',
    id: 'P-R3',
    cause: 'ipam-full-no-leak',
    weight: 'proves',
    way: 'subnet',
    seen: { inputs: { events: [aws], agent_logs: ['InsufficientFreeAddressesInSubnet: not enough'] } },
    alike: { inputs: { events: [aws], agent_logs: ['DataStore has no available IP addresses'] } },
  },
  {
    rule: 'files-without-content',
    id: 'P-R3',
    cause: 'ipam-leak',
    weight: 'supports',
    way: 'empty-files',
    seen: {
      inputs: {
        events: [exhausted()],
        commands: [
          { cmd: "find /var/lib/cni/networks/podnet -name '10.*' -size 0 | wc -l", output: ['190'] },
        ],
      },
    },
    alike: {
      inputs: {
        events: [exhausted()],
        commands: [{ cmd: "find /var/lib/cni/networks/podnet -name '10.*' | wc -l", output: ['253'] }],
      },
    },
  },
  {
    rule: 'two-addresses-one-pod',
    id: 'P-R3',
    cause: 'ipam-leak',
    weight: 'proves',
    way: 'calico',
    seen: {
      inputs: {
        pods: ['logs shipper-m8 1/1 Running 2 40d 10.61.8.31 n4'],
        commands: ['10.61.8.5', '10.61.8.31'].map(ip => ({
          cmd: `calicoctl ipam show --ip=${ip}`,
          output: [`IP ${ip} is in use`, 'Attributes:', '  pod: shipper-m8'],
        })),
      },
    },
    alike: {
      inputs: {
        commands: ['10.61.8.5', '10.61.8.31'].map((ip, n) => ({
          cmd: `calicoctl ipam show --ip=${ip}`,
          output: [`IP ${ip} is in use`, 'Attributes:', `  pod: shipper-${n}`],
        })),
      },
    },
  },
  {
    rule: 'collector-names-leak',
    id: 'P-R3',
    cause: 'ipam-leak',
    weight: 'supports',
    way: 'calico',
    seen: {
      environment: { cni: 'calico 3.26, calico-ipam' },
      inputs: {
        agent_logs: ['[INFO][1] Candidate IP leak handle="k8s-pod-network.0b8e" ip="10.140.33.7" node="n-9"'],
      },
    },
    alike: {
      environment: { cni: 'calico 3.26, calico-ipam' },
      inputs: { agent_logs: ['[INFO][1] No candidate for garbage collection, no IP released'] },
    },
  },
  {
    rule: 'waiting-pod-holds-address',
    id: 'P-R3',
    cause: 'ipam-leak',
    weight: 'proves',
    way: 'whereabouts',
    seen: {
      inputs: {
        events: [
          event('Error at storage engine: Could not allocate IP in range: ip: 10.7.5.32 / - 10.7.5.34'),
        ],
        commands: [
          {
            cmd: 'kubectl get ippools -o json',
            output: ['["32","default/api-0"]', '["33","default/api-1"]'],
          },
        ],
      },
    },
    alike: {
      inputs: {
        events: [
          event('Error at storage engine: Could not allocate IP in range: ip: 10.7.5.32 / - 10.7.5.34'),
        ],
        commands: [
          {
            cmd: 'kubectl get ippools -o json',
            output: ['["32","default/web-0"]', '["33","default/web-1"]'],
          },
        ],
      },
    },
  },
  {
    rule: 'addresses-in-symptom',
    id: 'P-R3',
    cause: 'ipam-leak',
    weight: 'hints',
    seen: { inputs: { symptom: 'ips are never released on this node' } },
    alike: { inputs: { symptom: 'the page is slow on this node' } },
  },
]
