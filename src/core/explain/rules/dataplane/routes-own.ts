import { quoted } from '../../../report/ask.js'
import { attemptsSeen } from '../../../report/net/attempts.js'
import { cidrOf, holds, ipsIn } from '../../../report/net/cidr.js'
import { kindOfLink, linksSeen } from '../../../report/net/links.js'
import { coverOf, type RouteSeen, routeAnswers, routeFor, routesSeen } from '../../../report/net/routes.js'
import type { Report } from '../../../report/report.js'
import { type CauseRule, clue } from '../../rule.js'
import { wanted, wholeTables } from './routes.js'
import { nodeRange } from './stale-node.js'
import { clueAt, first, suspect } from './suspect.js'

const addressAsked =
  /\bip\b.{0,40}\ba(?:d|dd|ddr|ddress)?\b.{0,40}\b(cni\d|cbr\d|kube-bridge|weave)\b|ifconfig (cni\d|cbr\d)/

/** A bridge that is there and has no address of IPv4. */
const bareBridge = (report: Report): string | undefined => {
  const asked = report.commands.find(
    ({ cmd, output }) =>
      addressAsked.test(cmd) && !output.some(line => /\binet\b|\d\.\d|does not exist|not found/.test(line)),
  )
  const link = linksSeen(report).find(
    ({ kind, addresses, up }) =>
      kind === 'bridge' &&
      up !== false &&
      addresses !== undefined &&
      !addresses.some(each => each.includes('.')),
  )
  const named = linksSeen(report).some(
    ({ kind, addresses }) => kind === 'bridge' && addresses?.some(each => each.includes('.')),
  )
  const words = addressAsked.exec(asked?.cmd ?? '')
  return named ? undefined : (words?.[1] ?? words?.[2] ?? link?.name)
}

const noBridgeAddress: CauseRule = {
  name: 'bridge-without-address',
  source:
    "kubernetes#67183: the bridge's address is the Pods' gateway and makes the route to the node's own range",
  read: report => {
    const bridge = bareBridge(report)
    if (bridge === undefined) return []
    const connected = routesSeen(report).some(({ routes }) => routes.some(({ dev }) => dev === bridge))
    return suspect('route-missing', 'own', [
      clue(
        `the bridge ${quoted(bridge, 40)} has no address, so the Pods' gateway does not exist`,
        connected ? 'supports' : 'proves',
      ),
    ])
  },
}

const ownMissing: CauseRule = {
  name: 'own-range-not-connected',
  source:
    'A node with Pods behind a bridge has a connected route to its own range; without it answers leave by the default route',
  read: report => {
    const range = nodeRange(report)
    const [only, ...more] = wholeTables(report)
    const pods = report.pods.filter(
      ({ ip, status }) => status === 'Running' && range && holds(range, cidrOf(ip ?? '') ?? range),
    )
    const lost =
      range && only && more.length === 0 && pods.length > 0 && coverOf(only.routes, range) === undefined
    const single = lost && only.routes.some(({ to }) => to.bits === 32)
    return suspect(
      'route-missing',
      'own',
      lost && !single
        ? [clue(`no route of the node leads to its own range ${quoted(range.text, 40)}`, 'supports')]
        : [],
    )
  },
}

const answers: CauseRule = {
  name: 'kernel-picks-the-default-route',
  source: 'ip route get: an address of a Pod that leaves by the default gateway has no route of its own',
  read: report => {
    const pods = wanted(report)
    const gateways = new Set(
      wholeTables(report).flatMap(({ routes }) =>
        routes.filter(({ to }) => to.bits === 0).flatMap(({ via }) => via ?? []),
      ),
    )
    const out = routeAnswers(report).filter(
      ({ ip, route }) =>
        route.via !== undefined &&
        (gateways.has(route.via) || kindOfLink(route.dev ?? '') === 'underlay') &&
        pods.some(each => holds(each, cidrOf(ip) ?? each)) &&
        !wholeTables(report).some(({ routes }) =>
          routes.some(each => each.via === route.via && each.to.bits > 0),
        ),
    )
    const none = report.commands.filter(
      ({ cmd, output }) =>
        /route get/.test(cmd) &&
        output.some(line => /network is unreachable|no route to host|host unreachable/i.test(line)),
    )
    return suspect('route-missing', 'remote', [
      ...first(out).map(({ route }) =>
        clueAt(route, 'the address of a Pod leaves by the default gateway', 'supports'),
      ),
      ...first(none).map(({ output }) =>
        clue(`the kernel knows no way: ${quoted(output.join(' '))}`, 'proves'),
      ),
    ])
  },
}

const noDefault: CauseRule = {
  name: 'no-default-route',
  source: 'A table without default route: everything beyond its own networks is unreachable at once',
  read: report => {
    const without = routesSeen(report).filter(
      ({ routes, partial }) => !partial && routes.length > 0 && !routes.some(({ to }) => to.bits === 0),
    )
    const failed = attemptsSeen(report).filter(
      ({ outcome, ip }) => outcome === 'no-network' && ip !== undefined,
    )
    return suspect('route-missing', 'default', [
      ...first(without).map(({ place }) =>
        clue(`there is no default route (${quoted(place, 80)})`, failed.length > 0 ? 'proves' : 'supports'),
      ),
      ...first(failed).map(each => clueAt(each, 'the sender itself has no route', 'supports')),
    ])
  },
}

export const routeOwnRules: CauseRule[] = [noBridgeAddress, ownMissing, answers, noDefault]

/** Every address in a report's failed tries that a table sends where Pods are. */
export const rightlyRouted = (report: Report): { ip: string; text: string }[] => {
  const tried = attemptsSeen(report).filter(({ outcome, ip }) => outcome !== 'open' && ip !== undefined)
  const good = (route: RouteSeen | undefined): route is RouteSeen =>
    route !== undefined &&
    route.type === 'unicast' &&
    !route.dead &&
    route.dev !== undefined &&
    (['bridge', 'overlay', 'pod'].includes(kindOfLink(route.dev)) ||
      (route.to.bits > 0 && route.to.bits < 32 && route.via !== undefined))
  return tried.flatMap(({ ip = '' }) => {
    const answer = routeAnswers(report).find(each => each.ip === ip)?.route
    const table = wholeTables(report)
      .map(({ routes }) => routeFor(routes, ip))
      .find(good)
    const route = good(answer) ? answer : table
    return route && ipsIn(ip).length > 0 ? [{ ip, text: route.text }] : []
  })
}
