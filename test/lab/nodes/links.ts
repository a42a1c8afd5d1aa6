import { createHash } from 'node:crypto'
import type { PodNetwork } from './model.js'

export interface HostLinks {
  podCidr: string
  gateway: string
  prefix: number
  /** The node's own address on eth0, for show: the lab reaches it on the loopback. */
  address: string
}

/** The node's own side of its Pod range: the bridge has the first address, eth0 one of another network. */
export const hostLinks = (podCidr: string): HostLinks => {
  const [base = '', prefix = '24'] = podCidr.split('/')
  return {
    podCidr,
    gateway: base.replace(/\.\d+$/, '.1'),
    prefix: Number(prefix),
    address: `10.250.0.${base.split('.')[2] ?? '1'}`,
  }
}

const up = ['BROADCAST', 'MULTICAST', 'UP', 'LOWER_UP']
const forever = { valid_life_time: 4294967295, preferred_life_time: 4294967295 }
const inet = (local: string, prefixlen: number, label: string) => ({
  family: 'inet',
  local,
  prefixlen,
  scope: 'global',
  label,
  ...forever,
})

const ethernet = (ifindex: number, ifname: string, address: string) => ({
  ifindex,
  ifname,
  flags: up,
  mtu: 1500,
  qdisc: 'noqueue',
  operstate: 'UP',
  linkmode: 'DEFAULT',
  group: 'default',
  txqlen: 1000,
  link_type: 'ether',
  address,
  broadcast: 'ff:ff:ff:ff:ff:ff',
})

const loopback = {
  ifindex: 1,
  ifname: 'lo',
  flags: ['LOOPBACK', 'UP', 'LOWER_UP'],
  mtu: 65536,
  qdisc: 'noqueue',
  operstate: 'UNKNOWN',
  linkmode: 'DEFAULT',
  group: 'default',
  txqlen: 1000,
  link_type: 'loopback',
  address: '00:00:00:00:00:00',
  broadcast: '00:00:00:00:00:00',
}

const kernelLinks = (pods: PodNetwork[]) => [
  loopback,
  { ...ethernet(2, 'eth0', 'd2:c8:29:53:74:b3'), link_index: 3, link_netnsid: 0 },
  ethernet(3, 'cni0', 'd6:74:75:7a:0b:4a'),
  ...pods.map((pod, index) => ({
    ...ethernet(pod.ifindex, pod.veth, pod.mac),
    link_index: 2,
    master: 'cni0',
    link_netnsid: index + 1,
  })),
]

const line = (value: unknown): string => `${JSON.stringify(value)}\n`

/** The files behind `ip` and `bridge` for a node with these Pods attached. */
export const linkFiles = (host: HostLinks, pods: PodNetwork[]): Record<string, string> => {
  const own = (ifname: string) => {
    if (ifname === 'lo') return [{ ...inet('127.0.0.1', 8, 'lo'), scope: 'host' }]
    if (ifname === 'eth0') return [inet(host.address, 24, 'eth0')]
    return ifname === 'cni0' ? [inet(host.gateway, host.prefix, 'cni0')] : []
  }
  const links = kernelLinks(pods)
  const bridged = pods.map(pod => ({
    ifindex: pod.ifindex,
    link: 'eth0',
    ifname: pod.veth,
    flags: up,
    mtu: 1500,
    master: 'cni0',
    state: 'forwarding',
    priority: 32,
    cost: 2,
  }))
  const uplink = host.address.replace(/\.\d+$/, '')
  return {
    'ip/link.json': line(links),
    // `ip addr` prints a link without its mode.
    'ip/addr.json': line(links.map(link => ({ ...link, addr_info: own(link.ifname) }))).replaceAll(
      '"linkmode":"DEFAULT",',
      '',
    ),
    'ip/route.json': line([
      { dst: 'default', gateway: `${uplink}.1`, dev: 'eth0', flags: [] },
      route(host.podCidr, 'cni0', host.gateway),
      route(`${uplink}.0/24`, 'eth0', host.address),
    ]),
    'ip/neigh.json': line([
      { dst: `${uplink}.1`, dev: 'eth0', lladdr: '0a:e5:2d:94:8d:c3', state: ['REACHABLE'] },
      ...pods.map(pod => ({ dst: pod.address, dev: 'cni0', lladdr: pod.mac, state: ['REACHABLE'] })),
    ]),
    'bridge-link.json': line(bridged),
    'bridge-link.txt': bridged
      .map(
        link =>
          `${link.ifindex}: ${link.ifname}@eth0: <${up.join(',')}> mtu 1500 master cni0 state forwarding priority 32 cost 2 \n`,
      )
      .join(''),
    'netns.txt': pods.map((pod, index) => `${pod.netns} (id: ${index + 1})\n`).join(''),
  }
}

const route = (dst: string, dev: string, prefsrc: string) => ({
  dst,
  dev,
  protocol: 'kernel',
  scope: 'link',
  prefsrc,
  flags: [],
})

/** `ip -n NETNS -j addr` of one Pod. */
export const netnsAddr = (pod: PodNetwork): string =>
  line([
    { ...loopback, addr_info: [{ ...inet('127.0.0.1', 8, 'lo'), scope: 'host' }] },
    {
      ...ethernet(2, 'eth0', pod.mac),
      link_index: pod.ifindex,
      link_netnsid: 0,
      addr_info: [inet(pod.address, pod.prefix, 'eth0')],
    },
  ])

/** One masquerading chain for each ADD; a sandbox that is forgotten leaves its chain behind. */
export interface NatChain {
  address: string
  network: string
  owner: string
  podCidr: string
}

/** `iptables -t nat -S`. */
export const natRules = (chains: NatChain[]): string => {
  const named = chains
    .map(chain => ({ ...chain, name: chainName(chain) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const note = (chain: NatChain) =>
    `-m comment --comment "name: \\"${chain.network}\\" id: \\"${chain.owner}\\""`
  return [
    ...['PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING'].map(name => `-P ${name} ACCEPT`),
    ...named.map(chain => `-N ${chain.name}`),
    '-N KUBE-KUBELET-CANARY',
    ...named.map(chain => `-A POSTROUTING -s ${chain.address}/32 ${note(chain)} -j ${chain.name}`),
    ...named.flatMap(chain => [
      `-A ${chain.name} -d ${chain.podCidr} ${note(chain)} -j ACCEPT`,
      `-A ${chain.name} ! -d 224.0.0.0/4 ${note(chain)} -j MASQUERADE`,
    ]),
    '',
  ].join('\n')
}

const chainNames = new WeakMap<NatChain, string>()
const chainName = (chain: NatChain): string => {
  const known = chainNames.get(chain) ?? nameOf(chain)
  chainNames.set(chain, known)
  return known
}

/** Derived from network and owner, as the bridge plugin does it. */
const nameOf = ({ network, owner }: NatChain): string =>
  `CNI-${createHash('sha512').update(`${network}${owner}`).digest('hex').slice(0, 24)}`
