import { once } from '../once.js'
import type { Report } from '../report.js'
import { ipsIn } from './cidr.js'

/** A rule of kube-proxy that refuses a service for want of backends. */
export interface ServiceReject {
  /** namespace/name as the comment says it. */
  service: string
  ip: string | undefined
  /** Only backends on this node count (externalTrafficPolicy or internalTrafficPolicy Local). */
  local: boolean
  by: string
  text: string
}

/** Where the node's rules send a service. */
export interface Backend {
  service: string
  ip: string
  port: number | undefined
  /** IPVS weight; undefined elsewhere. */
  weight: number | undefined
  by: string
  text: string
}

const rejecting =
  /(?:^|["'\s*])([\w./-]{1,253}?)(?::[\w.-]{0,63})? has no (local )?(?:active |ready )?endpoints/i
const isRule = /\b(?:REJECT|DROP|KUBE-MARK-DROP)\b|reject-chain|\breject\b|has no (?:local )?endpoints \*\//

/** iptables-save, `iptables -L` and nft, of every command; lines of logs are none. */
export const serviceRejects = once((report: Report): ServiceReject[] =>
  report.lines.flatMap(({ from, source, text }) => {
    if (from !== 'command') return []
    const line = text.slice(0, 1_000)
    const [, service, local] = rejecting.exec(line) ?? []
    const [, ip, nft] =
      /^\s*([\d.]{7,15}) \. (?:tcp|udp|sctp) \. \d+ comment "([^"]{1,300})" : goto reject/.exec(line) ?? []
    if (nft !== undefined)
      return [{ service: nft.split(':')[0] ?? nft, ip, local: false, by: source, text: line }]
    if (service === undefined || !isRule.test(line)) return []
    const [, to] = /-d ([\d.]{7,15})/.exec(line) ?? []
    return [
      {
        service,
        ip: to ?? ipsIn(line).find(each => each !== '0.0.0.0'),
        local: local !== undefined,
        by: source,
        text: line,
      },
    ]
  }),
)

const jump =
  /"?([\w./-]{1,253}?)(?::[\w.-]{0,63})? (?:cluster IP|external IP|loadbalancer IP)"?.{0,200}\bKUBE-(?:SVC|EXT|XLB)-\w+|\bservice-[0-9A-Z]{8}-([\w.-]{1,120}\/[\w.-]{1,120})\//

/** Services that the node's rules send somewhere. */
export const serviceJumps = once((report: Report): { service: string; by: string; text: string }[] =>
  report.lines.flatMap(({ from, source, text }) => {
    if (from !== 'command') return []
    const [, iptables, nft] = jump.exec(text.slice(0, 1_000)) ?? []
    const service = iptables ?? nft
    return service === undefined ? [] : [{ service, by: source, text }]
  }),
)

const dnat = /(?:\bto-destination |\bto:|dnat (?:ip )?to )([\d.]{7,15}):(\d{1,5})/
const commented = /(?:--comment "?|\/\* )([\w.-]{1,120}\/[\w.-]{1,120})/

const dnatOf = (source: string, text: string): Backend | undefined => {
  const [, ip, port] = dnat.exec(text) ?? []
  const [, service] = commented.exec(text) ?? []
  return ip === undefined || /CNI-HOSTPORT|CNI-DN-|DOCKER/.test(text)
    ? undefined
    : { service: service ?? '', ip, port: Number(port), weight: undefined, by: source, text }
}

const virtual = /^\s*(?:TCP|UDP|SCTP)\s{1,8}([\d.]{7,15}):(\d{1,5})\b/
const real = /^\s*->\s{1,8}([\d.]{7,15}):(\d{1,5})\s{1,40}(?:Masq|Route|Tunnel|Local)\s{1,20}(\d{1,6})/

/** `ipvsadm -Ln`: virtual servers with their real ones. */
export const virtualServers = once(
  (report: Report): { ip: string; port: number; real: Backend[]; by: string }[] =>
    report.commands.flatMap(({ cmd, output }) => {
      const servers: { ip: string; port: number; real: Backend[]; by: string }[] = []
      for (const line of output.slice(0, 5_000)) {
        const [, ip, port] = virtual.exec(line) ?? []
        if (ip !== undefined) servers.push({ ip, port: Number(port), real: [], by: cmd })
        const [, to, toPort, weight] = real.exec(line) ?? []
        const last = servers.at(-1)
        if (last && to !== undefined)
          last.real.push({
            service: '',
            ip: to,
            port: Number(toPort),
            weight: Number(weight),
            by: cmd,
            text: line,
          })
      }
      return servers
    }),
)

/** Destinations of DNAT rules with the service that their comment names; '' where none stands there. */
export const natBackends = once((report: Report): Backend[] =>
  report.lines.flatMap(({ from, source, text }) =>
    from === 'command' ? (dnatOf(source, text.slice(0, 1_000)) ?? []) : [],
  ),
)

/** A host's own rule that stops packets: none of kube-proxy, CNI, Docker's isolation or of broken connections. */
export interface HostStop {
  kind: 'policy' | 'rule'
  chain: string
  /** Packets that it stopped; undefined where no counters were printed. */
  packets: number | undefined
  text: string
}

const policies = [
  /^:(FORWARD|INPUT|OUTPUT) (?:DROP|REJECT) \[(\d{1,15}):/,
  /^-P (FORWARD|INPUT|OUTPUT) (?:DROP|REJECT)\b()/,
  /^Chain (FORWARD|INPUT|OUTPUT) \(policy (?:DROP|REJECT)(?: (\d{1,12}[KMG]?) packets)?/,
  /hook (forward|input|output) .{0,60}policy drop()/,
]
const theirs =
  /KUBE-|\bcali[-:]|CILIUM|ctstate INVALID|--state INVALID|ct state invalid|f2b|DOCKER|CNI-|LIBVIRT|! ?-s 127|WEAVE|ANTREA|OVN|FLANNEL|AWS-|! ?--ctstate DNAT|169\.254\.169\.254|mark match|--mark|martian/i

const counted = (text: string | undefined): number | undefined => {
  if (text === undefined || text === '') return undefined
  const times = { K: 1_000, M: 1_000_000, G: 1_000_000_000 }[text.at(-1) ?? ''] ?? 1
  return Number.parseInt(text, 10) * times
}

const policyOf = (line: string): HostStop | undefined => {
  for (const pattern of policies) {
    const [, chain, packets] = pattern.exec(line) ?? []
    if (chain !== undefined)
      return { kind: 'policy', chain: chain.toUpperCase(), packets: counted(packets), text: line }
  }
  return undefined
}

const saved = /^(?:\[(\d{1,15}):\d{1,18}\] )?-A ([\w.-]{1,60}) .{0,600}-j (?:DROP|REJECT)\b/
const listed = /^\s*(?:\d{1,6}\s{1,8})?(\d{1,12}[KMG]?)\s{1,8}\d{1,12}[KMG]?\s{1,8}(?:DROP|REJECT)\s/
const plain = /^(?:DROP|REJECT)\s{1,12}(?:all|tcp|udp|icmp|ipv4|ipencap|0|4|6|17)\s/
const nftRule = /^\s*(?!type)[^#]{0,300}\b(?:drop|reject(?: with [\w -]{1,40})?)\s*(?:comment .*|#.*)?$/

const ruleOf = (line: string, cmd: string): HostStop | undefined => {
  if (theirs.test(line)) return undefined
  const [, savedCount, chain] = saved.exec(line) ?? []
  if (chain !== undefined) return { kind: 'rule', chain, packets: counted(savedCount), text: line }
  const [, count] = listed.exec(line) ?? []
  if (count !== undefined || plain.test(line))
    return { kind: 'rule', chain: '', packets: counted(count), text: line }
  return /\bnft\b/.test(cmd) && nftRule.test(line)
    ? { kind: 'rule', chain: '', packets: undefined, text: line }
    : undefined
}

export const hostStops = once((report: Report): HostStop[] =>
  report.commands
    .filter(({ cmd }) => /iptables|nft\b|firewall|ip6tables|xtables|ufw|grep/.test(cmd.slice(0, 1_000)))
    .flatMap(({ cmd, output }) =>
      output.slice(0, 5_000).flatMap(each => {
        const line = each.slice(0, 1_000)
        return policyOf(line) ?? ruleOf(line, cmd) ?? []
      }),
    ),
)
