import { once } from '../once.js'
import type { Report } from '../report.js'
import { type Cidr, cidrOf, holds, holdsIp } from './cidr.js'
import { insidePod } from './links.js'

export type RouteType = 'unicast' | 'blackhole' | 'unreachable' | 'prohibit' | 'throw'

export interface RouteSeen {
  to: Cidr
  type: RouteType
  via: string | undefined
  dev: string | undefined
  proto: string | undefined
  source: string | undefined
  /** The kernel says that the link or the next hop is gone. */
  dead: boolean
  text: string
}

export interface RoutesSeen {
  /** A node's name, or the command that printed them. */
  place: string
  inPod: boolean
  routes: RouteSeen[]
  /** Only some of the lines: nothing may be concluded from what is absent. */
  partial: boolean
}

const types = new Set<string>(['blackhole', 'unreachable', 'prohibit', 'throw', 'unicast'])

const wordAfter = (words: readonly string[], key: string): string | undefined => {
  const at = words.indexOf(key)
  return at === -1 ? undefined : words[at + 1]
}

/** One line of `ip route`. */
export const readRoute = (line: string): RouteSeen | undefined => {
  const words = line.slice(0, 500).trim().split(/\s+/)
  const typed = types.has(words[0] ?? '')
  const to = cidrOf((typed ? words[1] : words[0]) ?? '')
  const dev = wordAfter(words, 'dev')
  const via = wordAfter(words, 'via')
  if (to === undefined || (!typed && dev === undefined && via === undefined)) return undefined
  return {
    to,
    type: typed ? (words[0] as RouteType) : 'unicast',
    via,
    dev,
    proto: wordAfter(words, 'proto'),
    source: wordAfter(words, 'src'),
    dead: /\b(?:linkdown|dead)\b/.test(line),
    text: line,
  }
}

/** One line of `route -n` or `netstat -rn`: destination, gateway, mask, flags, …, interface. */
const readOld = (line: string): RouteSeen | undefined => {
  const words = line.slice(0, 500).trim().split(/\s+/)
  const [to = '', via = '', mask = '', flags = ''] = words
  if (words.length < 7 || !/^[UHGRDMACnr!]{1,6}$/.test(flags)) return undefined
  const bits = cidrOf(mask)?.address.prefixLengthFromSubnetMask()
  const network = cidrOf(`${to}/${bits ?? 'x'}`)
  return (
    network && {
      to: network,
      type: flags.includes('!') ? 'unreachable' : 'unicast',
      via: flags.includes('G') ? via : undefined,
      dev: words.at(-1),
      proto: undefined,
      source: undefined,
      dead: false,
      text: line,
    }
  )
}

const readAll = (lines: readonly string[]): RouteSeen[] =>
  lines.slice(0, 5_000).flatMap(line => readRoute(line) ?? readOld(line) ?? [])

const prints = /\bip\b.{0,30}\br(?:o|ou|out|oute)?\b|\broute\b(?!\s+get)|netstat\s+-\w{0,4}r/
const gets = /\bro?u?t?e?\s+get\b/

/** Routing tables by node, from their own part of the report and from commands. `ip route get` is none. */
export const routesSeen = once((report: Report): RoutesSeen[] => [
  ...report.routes.map(({ node, lines }) => ({
    place: node,
    inPod: false,
    routes: readAll(lines),
    partial: false,
  })),
  ...report.commands
    .filter(({ cmd }) => prints.test(cmd.slice(0, 500)) && !gets.test(cmd.slice(0, 500)))
    .map(({ cmd, output }) => ({
      place: cmd,
      inPod: insidePod(cmd),
      routes: readAll(output),
      partial: /\b(?:grep|head|tail|awk|sed|dev|table|proto|match|exact)\b|\|/.test(cmd),
    }))
    .filter(({ routes, partial }) => routes.length > 0 || !partial),
])

/** Answers of `ip route get ADDRESS`. */
export const routeAnswers = once((report: Report): { ip: string; route: RouteSeen }[] =>
  report.commands
    .filter(({ cmd }) => gets.test(cmd.slice(0, 500)))
    .flatMap(({ output }) =>
      output.slice(0, 100).flatMap(line => {
        const route = readRoute(line.replace(/^\s*local\s/, '').replace(/\sfrom\s\S+/, ''))
        return route === undefined ? [] : [{ ip: route.to.text, route }]
      }),
    ),
)

const isDefault = ({ to }: RouteSeen): boolean => to.bits === 0

/** The route that the kernel would take: the longest one that holds the address. */
export const routeFor = (routes: readonly RouteSeen[], ip: string): RouteSeen | undefined =>
  routes.filter(({ to }) => holdsIp(to, ip)).toSorted((a, b) => b.to.bits - a.to.bits)[0]

/** Like `routeFor`, for a whole network, and never the default route. */
export const coverOf = (routes: readonly RouteSeen[], network: Cidr): RouteSeen | undefined =>
  routes
    .filter(route => !isDefault(route) && holds(route.to, network))
    .toSorted((a, b) => b.to.bits - a.to.bits)[0]
