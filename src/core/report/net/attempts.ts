import { once } from '../once.js'
import type { CommandSeen, Line, Report } from '../report.js'
import { ipsIn } from './cidr.js'
import { insidePod } from './links.js'

export type Outcome =
  | 'open'
  | 'refused'
  | 'timeout'
  | 'no-route'
  | 'no-network'
  | 'prohibited'
  | 'reset'
  | 'no-name'

/** One try to reach something, with how it ended. */
export interface Attempt {
  outcome: Outcome
  ip: string | undefined
  port: number | undefined
  /** The text names localhost or 127.0.0.1 as its target. */
  loopback: boolean
  inPod: boolean
  /** The command, or what kind of line said it. */
  by: string
  text: string
  probe: boolean
}

const outcomes: [Outcome, RegExp][] = [
  [
    'prohibited',
    /administratively prohibited|packet filtered|communication prohibited|host prohibited|(?:sendmsg|sendto|connect|ping)\b.{0,60}operation not permitted/i,
  ],
  ['no-network', /network is unreachable|destination net unreachable|ENETUNREACH/i],
  [
    'no-route',
    /no route to host|host is unreachable|(?:destination )?host unreachable|EHOSTUNREACH|host_unreachable/i,
  ],
  ['refused', /connection refused|ECONNREFUSED|port unreachable|connection was refused|actively refused/i],
  [
    'no-name',
    /could not resolve host|bad address|no such host|name resolution|NXDOMAIN|SERVFAIL|can't resolve/i,
  ],
  [
    'timeout',
    /timed[ -]?out|timeout(?! \d)|deadline exceeded|100% packet loss|no servers could be reached|ETIMEDOUT|timeout exceeded/i,
  ],
  ['reset', /connection reset|ECONNRESET|empty reply from server/i],
  [
    'open',
    /\bsucceeded\b|\bopen\b|\bHTTP\/\d(?:\.\d)? \d{3}|\b200 OK\b|(?<![\d.])0% packet loss|status: NOERROR|\bbytes from \d|^connected to |^pong$|^ok$|^\s*[23]\d\d\s*$/i,
  ],
]

export const outcomeOf = (text: string): Outcome | undefined =>
  outcomes.find(([, pattern]) => pattern.test(text.slice(0, 4_096)))?.[0]

const tool =
  /\b(?:curl|wget|nc|ncat|netcat|telnet|ping6?|dig|nslookup|host|traceroute|tracepath|nmap|grpcurl|openssl s_client|redis-cli|psql|mysql|kcat|arping|iperf3?|socat)\b/
const localhost = /\blocalhost\b|(?<![\d.])127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\]/

/** `10.1.2.3:80`, `10.1.2.3 80`, `10.1.2.3) port 80`: the first one that is no mask and no server of DNS alone. */
const portAfter = (text: string, ip: string | undefined): number | undefined => {
  if (ip === undefined) return undefined
  const after = text.slice(text.indexOf(ip) + ip.length, text.indexOf(ip) + ip.length + 24)
  const [, port] = /^\)?\]?(?::|\s{1,3}(?:port\s)?|#)(\d{1,5})(?![.\d%])/.exec(after) ?? []
  return port === undefined ? undefined : Number(port)
}

const localPort = (text: string): number | undefined => {
  const [, port] = /(?:localhost|127\.0\.0\.1|\[::1\])(?::|\s{1,3})(\d{1,5})\b/.exec(text) ?? []
  return port === undefined ? undefined : Number(port)
}

const ofLine = (text: string, cmd: string): Omit<Attempt, 'inPod' | 'by'> | undefined => {
  const outcome = outcomeOf(text)
  if (outcome === undefined) return undefined
  const own = targetIn(text)
  const asked = targetIn(cmd)
  const ip = own ?? asked
  const loopback =
    (own === undefined || own.startsWith('127.')) && localhost.test(own ? text : `${text} ${cmd}`)
  const port = own === undefined ? portAfter(cmd, asked) : (portAfter(text, own) ?? portAfter(cmd, own))
  return {
    outcome,
    ip: loopback ? undefined : ip,
    port: loopback ? (localPort(text) ?? localPort(cmd)) : port,
    loopback,
    text,
    probe: /\bprobe\b/i.test(text),
  }
}

/** In `read udp A:1->B:53` the second one is meant, in `lookup X on B:53` the server. */
const targetIn = (text: string): string | undefined => {
  const [, after] = /->(\d{1,3}(?:\.\d{1,3}){3})/.exec(text) ?? []
  return after ?? ipsIn(text)[0]
}

const ofCommand = ({ cmd, output }: CommandSeen): Attempt[] => {
  if (!tool.test(cmd.slice(0, 2_000))) return []
  const found = output.slice(0, 500).flatMap(line => ofLine(line, cmd) ?? [])
  const said = output.some(line => line.trim() !== '')
  const quiet = found.length === 0 && said && /\b(?:curl|wget|dig|nslookup)\b/.test(cmd)
  const all = quiet ? (ofLine('succeeded', cmd) ?? []) : found
  return [all].flat().map(each => ({
    ...each,
    text: quiet ? (output.find(line => line.trim() !== '') ?? '') : each.text,
    inPod: insidePod(cmd),
    by: cmd,
  }))
}

const dialled =
  /\bdial (?:tcp|udp)\b|\bprobe (?:failed|errored)|\bconnect(?:ing|ion)?\b|\b(?:Get|Post|Put|Head) \\*"?https?:|upstream/i

const ofMessage = ({ from, source, text }: Line): Attempt | undefined => {
  if (from === 'command' || !dialled.test(text.slice(0, 4_096)) || /unix \S{1,200}\.sock/.test(text))
    return undefined
  const read = ofLine(text.slice(0, 4_096), '')
  return read && read.outcome !== 'open' ? { ...read, inPod: false, by: source || from } : undefined
}

export const attemptsSeen = once((report: Report): Attempt[] => [
  ...report.commands.flatMap(ofCommand),
  ...report.lines.flatMap(line => ofMessage(line) ?? []),
])

export const failed = ({ outcome }: Attempt): boolean => outcome !== 'open'
