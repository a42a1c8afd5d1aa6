import { quoted } from '../../../report/ask.js'
import { attemptsSeen } from '../../../report/net/attempts.js'
import { type Cidr, cidrOf, holds, sameNetwork } from '../../../report/net/cidr.js'
import { kindOfLink } from '../../../report/net/links.js'
import {
  coverOf,
  type RouteSeen,
  type RoutesSeen,
  routeAnswers,
  routeFor,
  routesSeen,
} from '../../../report/net/routes.js'
import { endpointsSeen } from '../../../report/net/backends.js'
import { subnetsIn } from '../../../report/range-sets.js'
import type { Report } from '../../../report/report.js'
import { type CauseRule, clue } from '../../rule.js'
import { clueAt, first, suspect } from './suspect.js'

export const wholeTables = (report: Report): RoutesSeen[] =>
  routesSeen(report).filter(({ inPod, partial }) => !inPod && !partial)

const isRange = ({ bits }: Cidr): boolean => bits >= 16 && bits <= 30

/** The node's own range: behind its bridge, or the block that Calico keeps. */
export const ownRanges = ({ routes }: RoutesSeen): Cidr[] =>
  routes
    .filter(
      ({ to, dev, via, type, proto }) =>
        isRange(to) &&
        via === undefined &&
        ((dev !== undefined && kindOfLink(dev) === 'bridge') ||
          (type === 'blackhole' && proto !== undefined)),
    )
    .map(({ to }) => to)

const viaTunnel = ({ to, dev, via, proto, type }: RouteSeen): boolean =>
  type === 'unicast' &&
  isRange(to) &&
  via !== undefined &&
  ((dev !== undefined && kindOfLink(dev) === 'overlay') || proto === 'bird' || proto === '80')

/** Ranges of Pods that are routed in this cluster, by the nodes' own tables. */
const podRanges = (tables: readonly RoutesSeen[]): Cidr[] => {
  const all = tables.flatMap(table => [
    ...ownRanges(table),
    ...table.routes.filter(viaTunnel).map(({ to }) => to),
  ])
  return all.filter((each, n) => all.findIndex(other => sameNetwork(each, other)) === n).slice(0, 500)
}

const lacking: CauseRule = {
  name: 'node-lacks-a-route-that-others-have',
  source:
    'flannel#1034, calico node-to-node mesh: each node has a route to the range of every other one; compare two tables',
  read: report => {
    const tables = wholeTables(report)
    const ranges = podRanges(tables)
    const holes = tables.flatMap(table =>
      ranges
        .filter(range => coverOf(table.routes, range) === undefined)
        .filter(range =>
          tables.some(other => other !== table && other.routes.some(each => sameNetwork(each.to, range))),
        )
        .map(range => ({ table, range })),
    )
    const routed = tables.some(({ routes }) =>
      routes.some(each => each.via !== undefined && ranges.some(range => sameNetwork(range, each.to))),
    )
    const [hole] = routed ? holes : []
    return suspect(
      'route-missing',
      hole && ownRanges(hole.table).some(range => sameNetwork(range, hole.range)) ? 'own' : 'remote',
      hole
        ? [
            clue(
              `${quoted(hole.table.place, 60)} has no route to ${quoted(hole.range.text, 50)}, another node has one`,
              'proves',
            ),
          ]
        : [],
      { missing: ['whether the network agent of both nodes runs and what it says of the other one'] },
    )
  },
}

const addressesOf = ({ routes }: RoutesSeen): Set<string> =>
  new Set(routes.flatMap(({ source }) => source ?? []))

const wrongHop: CauseRule = {
  name: 'route-to-a-wrong-next-hop',
  source:
    'The next hop to a range is an address of the node that holds it; another one is left from a node that is gone',
  read: report => {
    const tables = wholeTables(report)
    const wrong = tables.flatMap(owner =>
      ownRanges(owner).flatMap(range =>
        tables
          .filter(table => table !== owner)
          .flatMap(({ place, routes }) =>
            routes
              .filter(
                each =>
                  sameNetwork(each.to, range) &&
                  each.via !== undefined &&
                  !/^flannel\.|^vxlan/.test(each.dev ?? ''),
              )
              .filter(({ via }) => addressesOf(owner).size > 0 && !addressesOf(owner).has(via ?? ''))
              .map(route => ({ place, route })),
          ),
      ),
    )
    return suspect(
      'route-missing',
      'wrong',
      first(wrong).map(({ place, route }) =>
        clue(
          `${quoted(place, 60)} sends a range to a next hop that is not its node: ${quoted(route.text)}`,
          'proves',
        ),
      ),
    )
  },
}

/** Networks that Pods or services use here, as far as anything tells. */
export const wanted = (report: Report): Cidr[] => [
  ...report.pods.flatMap(({ ip }) => cidrOf(ip ?? '') ?? []),
  ...endpointsSeen(report).flatMap(({ addresses }) => addresses.flatMap(ip => cidrOf(ip) ?? [])),
  ...subnetsIn(
    [report.environment.get('pod_cidr'), report.environment.get('service_cidr')].join(' '),
  ).flatMap(({ subnet }) => cidrOf(subnet) ?? []),
  ...podRanges(wholeTables(report)),
]

const strangers =
  /^(?:docker\d|br-[0-9a-f]{12}|virbr\d|tun\d|tap\d|ppp\d|utun\d|lxdbr\d|podman\d|zt\w+|tailscale\d)/

const shadowed: CauseRule = {
  name: 'range-shadowed-by-another-network',
  source:
    'The longest prefix wins: a container, virtual or VPN network in the range of Pods or services takes their packets',
  read: report => {
    const all = wanted(report)
    const routes = routesSeen(report).flatMap(table => table.routes)
    const bad = [...routes, ...routeAnswers(report).map(({ route }) => route)].filter(
      ({ dev, to }) =>
        dev !== undefined &&
        strangers.test(dev) &&
        to.bits > 0 &&
        all.some(each => holds(to, each) || holds(each, to)),
    )
    return suspect(
      'route-missing',
      'shadowed',
      first(bad).map(each => clueAt(each, 'another network on the node takes the packets', 'proves')),
    )
  },
}

const refusing: CauseRule = {
  name: 'route-that-refuses',
  source:
    "calicoctl#1822, calico#2457: BIRD's unreachable routes, and blackholes that cover what is asked for",
  read: report => {
    const tables = routesSeen(report)
    const dead = tables.flatMap(({ routes }) =>
      routes.filter(({ type }) => type === 'unreachable' || type === 'prohibit'),
    )
    const tried = attemptsSeen(report).filter(({ outcome, ip }) => outcome !== 'open' && ip !== undefined)
    const covered = tables.flatMap(({ routes }) =>
      tried.flatMap(({ ip }) => {
        const route = routeFor(routes, ip ?? '')
        return route?.type === 'blackhole' || route?.type === 'throw' ? [route] : []
      }),
    )
    const cut = tables.flatMap(({ routes }) =>
      routes.filter(each => each.dead && wanted(report).some(range => holds(each.to, range))),
    )
    return suspect('route-missing', 'refusing', [
      ...first(dead).map(each => clueAt(each, 'the node has a route that refuses', 'proves')),
      ...first(covered).map(each =>
        clueAt(each, 'what is asked for falls into a route that drops', 'proves'),
      ),
      ...first(cut).map(each => clueAt(each, 'the link behind the route is down', 'supports')),
    ])
  },
}

const siblings: CauseRule = {
  name: 'pod-of-another-node-without-a-route',
  source:
    'One table is enough where Pods of other nodes are routed and one of them would leave by the default route',
  read: report => {
    const tables = wholeTables(report)
    const found = tables.flatMap(table => {
      const tunnels = table.routes.filter(viaTunnel)
      const far = report.pods.flatMap(({ ip, node, name }) => {
        const to = cidrOf(ip ?? '')
        return to && ip && node !== undefined && node !== table.place ? [{ to, ip, node, name }] : []
      })
      const near = tunnels.filter(({ to }) => far.some(each => holds(to, each.to))).length
      const lost = far.filter(
        ({ to }) =>
          coverOf(table.routes, to) === undefined &&
          tunnels.some(each => each.to.bits >= 20 && alike(each.to, to)),
      )
      return near > 0 ? lost.map(each => ({ ...each, place: table.place })) : []
    })
    const tried = found.some(({ ip }) =>
      attemptsSeen(report).some(each => each.ip === ip && each.outcome !== 'open'),
    )
    return suspect(
      'route-missing',
      'remote',
      first(found).map(({ place, name, node }) =>
        clue(
          `${quoted(place, 60)} has routes to Pods of other nodes and none to ${quoted(name, 60)} on ${quoted(node, 60)}`,
          tried ? 'proves' : 'supports',
        ),
      ),
    )
  },
}

/** In the same /16 as ranges that are routed: not an address of the hosts. */
const alike = (range: Cidr, ip: Cidr): boolean =>
  range.address.kind() === ip.address.kind() && ip.address.match(range.address, Math.min(16, range.bits))

export const routeTableRules: CauseRule[] = [lacking, siblings, wrongHop, shadowed, refusing]
