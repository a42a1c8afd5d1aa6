import { linesWith, messagesWith } from '../../../report/ask.js'
import { type CauseRule, clue } from '../../rule.js'
import { clueAt, clueOf, first, suspect } from './suspect.js'

const peerDown =
  /\|\s{0,20}(?:start|down|wait|idle)\s{0,20}\|[^|]{0,40}\|\s{0,20}(?:connect|passive|active|idle|opensent|openconfirm|bgp error)|\bBGP\s{1,20}\S{1,30}\s{1,20}(?:start|down)\b|bgp not established with|\bnot established\b.{0,60}\bpeer|peer.{0,80}\b(?:not|never) established/i
const sessions =
  /^\s*\S{1,60}\s{1,40}\d{1,10}\s{1,40}\d{1,10}\s{1,40}\S{1,60}\s{1,40}(?:idle|active|connect|opensent)\b/i
const established = /\bestablished\b/i

const bgpDown: CauseRule = {
  name: 'bgp-peer-not-established',
  source: 'Calico troubleshooting, calico#2905, #5128, cni-plugin#314: no session, no routes of that peer',
  read: report => {
    const down = linesWith(report, peerDown).filter(({ text }) => !/[|]\s{0,20}Established/.test(text))
    const cilium = linesWith(report, sessions, 'command').filter(({ source }) => /bgp/i.test(source))
    const none = down.length + cilium.length > 0 && linesWith(report, established, 'command').length === 0
    return suspect(
      'route-missing',
      'bgp',
      [
        ...first([...down, ...cilium]).map(line =>
          clueAt(line, 'a routing session is not established', 'supports'),
        ),
        ...(none && down.some(({ from }) => from === 'command')
          ? [clue('not one session is established', 'hints')]
          : []),
      ],
      {
        missing: [
          'whether TCP 179 is open between the nodes',
          'which address the agent chose for each node',
          'the route tables of both nodes',
        ],
      },
    )
  },
}

const cloud =
  /NoRouteCreated|could not create route|RouteLimitExceeded|(?:route|routes) (?:table )?(?:limit|quota)[^\n]{0,40}(?:exceed|reached)|"?State"?:\s{0,3}"blackhole"|route controller[^\n]{0,60}(?:fail|error)|failed to create (?:a )?route/i

const cloudRoutes: CauseRule = {
  name: 'cloud-route-not-created',
  source:
    "Kubernetes route controller: NetworkUnavailable with NoRouteCreated; a cloud's route table is full or points to an instance that is gone",
  read: report => {
    const unavailable = [...(report.node?.conditions ?? [])].some(
      ([key, value]) => key === 'NetworkUnavailable' && /^true/i.test(value),
    )
    const found = linesWith(report, cloud)
    return suspect('route-missing', 'cloud', [
      ...first(found).map(line =>
        clueAt(
          line,
          "the cloud's route to the node's range is missing or dead",
          unavailable ? 'proves' : 'supports',
        ),
      ),
      ...(unavailable
        ? [
            clue(
              'the node is marked as without network by the route controller',
              found.length > 0 ? 'supports' : 'hints',
            ),
          ]
        : []),
    ])
  },
}

const agentRoutes: CauseRule = {
  name: 'agent-cannot-set-a-route',
  source: 'flannel, kube-router and Cilium log the route that the kernel or a missing neighbour link refused',
  read: report =>
    suspect('route-missing', 'remote', [
      ...first(
        messagesWith(
          report,
          /(?:failed to|error|couldn't|unable to|cannot) (?:add|adding|install|ensure|replace|set|inject)[^\n]{0,60}\broutes?\b|route (?:add|replace)[^\n]{0,60}(?:fail|error)|direct routing[^\n]{0,80}(?:no|not|without)[^\n]{0,40}(?:adjacen|l2|neighbor|on-link)/i,
        ),
      ).map(line => clueAt(line, 'the agent could not set a route', 'supports')),
      ...first(
        messagesWith(
          report,
          /(?:removing|removed|withdraw\w*|deleting|deleted|lost)[^\n]{0,60}\broutes?\b[^\n]{0,80}\d\/\d{1,2}/i,
        ),
      ).map(line => clueAt(line, 'a route was withdrawn', 'supports')),
    ]),
}

const allowedIps: CauseRule = {
  name: 'tunnel-peer-without-range',
  source: 'WireGuard, cryptokey routing: packets to a range that no peer is allowed are not sent',
  read: report =>
    suspect(
      'route-missing',
      'remote',
      clueOf(
        report,
        /allowed ips:\s{1,8}\(none\)|required key not available/i,
        'the tunnel has no peer for the range',
        'supports',
      ),
    ),
}

export const routePeerRules: CauseRule[] = [bgpDown, cloudRoutes, agentRoutes, allowedIps]
