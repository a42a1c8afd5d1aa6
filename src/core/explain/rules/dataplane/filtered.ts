import { linesWith, quoted } from '../../../report/ask.js'
import { attemptsSeen } from '../../../report/net/attempts.js'
import { type HostStop, hostStops } from '../../../report/net/firewall.js'
import type { Report } from '../../../report/report.js'
import { type CauseRule, type Clue, clue } from '../../rule.js'
import { rightlyRouted } from './routes-own.js'
import { clueAt, clueOf, first, suspect, symptomSays } from './suspect.js'

/** Something did not get through, by any try: without it a rule that drops is only a rule. */
export const stopped = (report: Report): boolean =>
  attemptsSeen(report).some(({ outcome }) =>
    ['timeout', 'no-route', 'prohibited', 'reset'].includes(outcome),
  ) ||
  symptomSays(
    report,
    /time[sd]?[ -]?out|no route|unreachable|can(?:'|no)t reach|blocked|drops?|dropped|refused/i,
  )

/** The reject of a firewall is told as an unreachable host, whatever the routes say. */
const rejectedAsHost = (report: Report): boolean =>
  attemptsSeen(report).some(({ outcome }) => outcome === 'no-route' || outcome === 'prohibited')

const zones = (report: Report): { lacks: boolean; text: string } | undefined => {
  const asked = report.commands.find(({ cmd }) =>
    /firewall-cmd\b.{0,80}--(?:get-active-zones|list-all)/.test(cmd),
  )
  if (asked === undefined || asked.output.some(line => /not running/i.test(line))) return undefined
  const text = asked.output.join(' ').slice(0, 4_000)
  return { lacks: !/\b(?:cni\d|cbr\d|flannel|cali|vxlan|cilium|kube-bridge|weave|lxc|tunl)/.test(text), text }
}

const firewalld: CauseRule = {
  name: 'firewall-zone-lacks-the-pod-links',
  source:
    'k3s and kubesolo#146 on firewalld hosts: the bridge falls into the default zone, whose forward reject is told as an unreachable host',
  read: report => {
    const zone = zones(report)
    const routed = rightlyRouted(report)
    const rejected = rejectedAsHost(report)
    const clues: Clue[] = zone?.lacks
      ? [
          clue(
            `no zone of the host's firewall names the Pods' links: ${quoted(zone.text)}`,
            rejected && routed.length > 0 ? 'proves' : 'supports',
          ),
        ]
      : []
    return suspect('network-filtered', 'host', clues, { missing: ["the firewall's log of refused packets"] })
  },
}

const rightRoute: CauseRule = {
  name: 'unreachable-although-routed',
  source:
    'REJECT with icmp-host-unreachable or -prohibited makes "no route to host" where the route is right',
  read: report => {
    const bad = attemptsSeen(report).filter(({ outcome }) => outcome === 'no-route')
    const routed = rightlyRouted(report).filter(({ ip }) => bad.some(each => each.ip === ip))
    const silent = rightlyRouted(report).filter(({ ip }) =>
      attemptsSeen(report).some(each => each.ip === ip && each.outcome === 'timeout'),
    )
    return [
      ...suspect(
        'network-filtered',
        undefined,
        [
          ...first(routed).map(each =>
            clueAt(each, 'the address is told to be unreachable, and the route to it is right', 'supports'),
          ),
          ...first(silent).map(each =>
            clueAt(each, 'the address does not answer, and the route to it is right', 'hints'),
          ),
        ],
        {
          missing: [
            "the rules of the host's firewall with their counters",
            'where the packet is last seen (tcpdump on both nodes)',
          ],
        },
      ),
      ...(routed.length > 0
        ? [
            {
              cause: 'route-missing' as const,
              for: [],
              against: first(routed).map(each => clueAt(each, 'the route is there', 'supports')),
            },
          ]
        : []),
    ]
  },
}

const prohibited: CauseRule = {
  name: 'told-to-be-prohibited',
  source: 'RFC 1812: "administratively prohibited" is what filters send; EPERM is the own OUTPUT chain',
  read: report =>
    suspect(
      'network-filtered',
      'host',
      first(attemptsSeen(report).filter(({ outcome }) => outcome === 'prohibited')).map(each =>
        clueAt(each, 'a filter says that it stopped the packet', 'proves'),
      ),
    ),
}

/** A drop that counts packets, or a policy of FORWARD: what Pods send is forwarded. */
const stopWeight = (stop: HostStop, report: Report): Clue['weight'] => {
  if (!stopped(report)) return 'hints'
  return stop.packets !== undefined && stop.packets > 0 ? 'proves' : 'supports'
}

const accepts = (report: Report): boolean =>
  linesWith(
    report,
    /-A FORWARD .{0,200}-j ACCEPT|FLANNEL-FWD|cali-FORWARD|CILIUM_FORWARD|KUBE-ROUTER-FORWARD|ACCEPT .{0,60}(?:cni0|flannel|10\.\d{1,3}\.\d{1,3}\.0\/1)/,
    'command',
  ).some(({ text }) => !/docker|ctstate (?:RELATED|ESTABLISHED)|mark/i.test(text))

const hostRules: CauseRule = {
  name: 'host-rule-stops-packets',
  source:
    "kubernetes#39823, #108718: Docker's FORWARD DROP, a distribution's last REJECT, a rule of the host's own",
  read: report => {
    const stops = hostStops(report)
    const policy = stops.filter(
      ({ kind, chain, packets }) => kind === 'policy' && chain !== 'OUTPUT' && packets !== 0,
    )
    const forward = policy.filter(({ chain }) => chain === 'FORWARD')
    const rules = stops.filter(
      ({ kind, packets, chain }) => kind === 'rule' && packets !== 0 && !/^(?:DOCKER|KUBE|cali)/.test(chain),
    )
    const open = accepts(report)
    return suspect(
      'network-filtered',
      forward.length > 0 && rules.length === 0 ? 'forward' : 'host',
      [
        ...first(forward).map(each =>
          clueAt(
            each,
            "the node's policy for forwarded packets is to drop",
            open ? 'hints' : stopWeight(each, report),
          ),
        ),
        ...first(rules).map(each =>
          clueAt(each, "a rule of the host's own stops packets", stopWeight(each, report)),
        ),
        ...first(forward.length === 0 && rules.length === 0 ? policy : []).map(each =>
          clueAt(each, 'the node drops what no rule accepts', 'hints'),
        ),
      ],
      { missing: ['the counters of these rules while the failing request is repeated'] },
    )
  },
}

const logged =
  /\[?UFW BLOCK\]?|FINAL_REJECT|filter_(?:IN|FWD\w*)_\S{1,40}_(?:REJECT|DROP)|\b(?:iptables|nft|firewall)[^\n]{0,40}(?:denied|drop|reject)|(?:DROP|REJECT|BLOCK|DENY)\w*[:\]]?\s{0,4}IN=\S{0,16} OUT=|calico-drop|flow log[^\n]{0,80}\bREJECT\b|\bREJECT OK\b/i

const firewallLog: CauseRule = {
  name: 'firewall-log-names-the-packet',
  source: "ufw, firewalld, iptables LOG and a cloud's flow log write what they stopped",
  read: report =>
    suspect(
      'network-filtered',
      'host',
      clueOf(report, logged, 'a firewall wrote that it stopped a packet', 'proves'),
    ),
}

const activeFirewall: CauseRule = {
  name: 'host-firewall-is-active',
  source:
    'Distributions whose firewall is on: k3s, RKE2 and kubeadm ask to open or turn off ufw, firewalld, nftables',
  read: report => {
    const active = report.commands.filter(
      ({ cmd, output }) =>
        /\bufw\b|firewalld|firewall-cmd|nftables/.test(cmd) &&
        output.some(line => /^\s*(?:Status: active|active|running)\b|Active: active/i.test(line)),
    )
    const denies = linesWith(
      report,
      /deny \((?:incoming|routed)\)|, (?:deny|reject|disabled) \(routed\)|\(incoming\).{0,40}deny/i,
      'command',
    )
    return suspect('network-filtered', 'host', [
      ...first(active).map(({ cmd }) =>
        clue(`the host's firewall is on (${quoted(cmd, 60)})`, stopped(report) ? 'supports' : 'hints'),
      ),
      ...first(denies).map(line =>
        clueAt(line, 'it denies what it has no rule for', stopped(report) ? 'supports' : 'hints'),
      ),
      ...(symptomSays(
        report,
        /\b(?:firewalld|ufw|iptables policy|security group|nsg|network ?policy|netpol)\b/i,
      ) && !symptomSays(report, /no (?:network ?polic|netpol|firewall)/i)
        ? [clue('the report speaks of a firewall or a policy', 'hints')]
        : []),
    ])
  },
}

export const filteredRules: CauseRule[] = [
  firewalld,
  rightRoute,
  prohibited,
  hostRules,
  firewallLog,
  activeFirewall,
]
