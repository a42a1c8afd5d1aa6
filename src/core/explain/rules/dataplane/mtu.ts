import { linesWith, quoted } from '../../../report/ask.js'
import { insidePod, type LinkSeen, linksSeen } from '../../../report/net/links.js'
import { halfTransfers, sizedPings, tooBig } from '../../../report/net/sizes.js'
import type { Report } from '../../../report/report.js'
import { type CauseRule, type Clue, clue } from '../../rule.js'
import { clueAt, clueOf, first, suspect, symptomSays } from './suspect.js'

/** What a tunnel adds to each packet, in bytes (IPv4 underlay): the least that its kind needs. */
const overheads: [RegExp, number][] = [
  [/^(?:wg\d|wireguard|wg-v6|cilium_wg|flannel-wg)/, 60],
  [/^(?:tunl|ipip)/, 20],
  [/^gre/, 24],
  [/^(?:flannel(?!-wg)|vxlan|vx-|kube-vxlan)/, 50],
  [/^(?:genev_sys|cilium_geneve)/, 50],
]

/** Cilium leaves its devices at the size of the underlay and cuts by routes: their number says nothing. */
const cutByRoutes = (name: string): boolean =>
  /^(?:cilium_|lxc|antrea-|genev_sys|vxlan_sys|vxlan-6784)/.test(name)

/** Docker's links and such that are down take no part. */
const sized = (report: Report): (LinkSeen & { mtu: number })[] =>
  linksSeen(report).flatMap(link =>
    link.mtu === undefined || link.mtu > 20_000 || link.up === false ? [] : [{ ...link, mtu: link.mtu }],
  )

const large =
  /(?:large|big|real|bigger)\b.{0,40}(?:packet|payload|request|response|download|file|bod(?:y|ies)|transfer|upload).{0,80}(?:hang|fail|stall|time|stuck|freez|drop|never|lost)|(?:small|short|tiny|ping)\b.{0,60}\b(?:ok|fine|work|pass).{0,80}(?:hang|large|big|stall|freez|tls|payload)|hangs? after (?:client hello|banner|handshake)|tls handshake.{0,40}(?:hang|timeout|times? out)|(?:stuck|hang\w*|stall\w*|fail\w*) (?:on|at|with|for) (?:the )?(?:big|large)|\bmtu\b|banner ok|anything (?:with a )?(?:real|big)/i

/** Something beside the numbers shows that size decides. */
const sizeDecides = (report: Report): boolean =>
  symptomSays(report, large) ||
  sizedPings(report).length > 0 ||
  halfTransfers(report).length > 0 ||
  tooBig(report).length > 0

const linkNumbers: CauseRule = {
  name: 'link-sizes-do-not-fit',
  source:
    'Arithmetic of tunnels: VXLAN 50, IPIP 20, WireGuard 60 to 80, Geneve 50 and more, GRE 24; microk8s#4142, flannel#1614',
  read: report => {
    const links = sized(report)
    const under = links.filter(({ kind }) => kind === 'underlay').map(({ mtu }) => mtu)
    const least = under.length > 0 ? Math.min(...under) : undefined
    const tunnels = links.filter(({ kind, name }) => kind === 'overlay' && !cutByRoutes(name))
    const ends = links.filter(
      ({ kind, name }) =>
        (kind === 'pod' || kind === 'bridge') && !cutByRoutes(name) && name !== 'nodelocaldns',
    )
    const tunnel = tunnels.length > 0 ? tunnels.reduce((a, b) => (b.mtu < a.mtu ? b : a)) : undefined
    const weight = sizeDecides(report) ? 'proves' : 'supports'
    const tooWide = tunnels.filter(({ name, mtu }) => least !== undefined && mtu > least - overheadOf(name))
    const over = ends.filter(({ mtu }) => mtu > Math.min(tunnel?.mtu ?? Infinity, least ?? Infinity))
    return suspect(
      'mtu-mismatch',
      tooWide.length > 0 ? 'tunnel' : 'pods',
      [
        ...first(tooWide).map(({ name, mtu }) =>
          clue(
            `${quoted(name, 40)} lets ${mtu} bytes in, the link below carries ${least}, less ${overheadOf(name)} of the tunnel`,
            weight,
          ),
        ),
        ...first(over).map(({ name, mtu }) =>
          clue(
            `${quoted(name, 40)} sends ${mtu} bytes, the way out takes ${Math.min(tunnel?.mtu ?? Infinity, least ?? Infinity)}`,
            weight,
          ),
        ),
      ],
      { missing: ['a ping that may not be split, at the limit and one byte above it'] },
    )
  },
}

const overheadOf = (name: string): number => overheads.find(([pattern]) => pattern.test(name))?.[1] ?? 0

const configured: CauseRule = {
  name: 'configured-size-does-not-fit',
  source: "flannel's FLANNEL_MTU, Calico's veth_mtu and a conflist's mtu against the links that are there",
  read: report => {
    const [line] = linesWith(report, /FLANNEL_MTU=\d{3,5}/, 'command')
    const told = Number(/FLANNEL_MTU=(\d{3,5})/.exec(line?.text ?? '')?.[1] ?? Number.NaN)
    const set = linesWith(
      report,
      /(?:"?veth_mtu"?|"mtu"|CNI_MTU|AWS_VPC_ENI_MTU)\s{0,3}[:=]\s{0,3}"?\d{3,5}/,
      'command',
    )
    const value = Number(/[:=]\s{0,3}"?(\d{3,5})/.exec(set[0]?.text ?? '')?.[1] ?? Number.NaN)
    const under = sized(report)
      .filter(({ kind }) => kind === 'underlay')
      .map(({ mtu }) => mtu)
    const ends = sized(report).filter(({ kind }) => kind === 'pod' || kind === 'bridge')
    const weight = sizeDecides(report) ? 'proves' : 'supports'
    const over = ends.filter(({ mtu }) => mtu > told)
    return suspect('mtu-mismatch', 'pods', [
      ...first(over).map(({ name, mtu }) =>
        clue(`${quoted(name, 40)} sends ${mtu} bytes, the agent's file says ${told}`, weight),
      ),
      ...(under.length > 0 && value > Math.min(...under)
        ? [clue(`the setting is ${value} bytes, the link below carries ${Math.min(...under)}`, weight)]
        : []),
    ])
  },
}

const pings: CauseRule = {
  name: 'only-large-pings-fail',
  source: 'ping -M do -s: the payload and 28 bytes of headers have to fit every link of the way',
  read: report => {
    const lost = sizedPings(report)
    const way = lost.filter(({ ownLink }) => !ownLink)
    return suspect('mtu-mismatch', undefined, [
      ...first(way).map(each =>
        clueAt(each, `a ping of ${each.bytes} bytes is lost, a smaller one passes`, 'proves'),
      ),
      ...first(way.length > 0 ? [] : lost).map(each =>
        clueAt(each, 'the sender itself refuses the larger ping', 'supports'),
      ),
    ])
  },
}

const icmp: CauseRule = {
  name: 'path-asks-for-smaller-packets',
  source: 'RFC 1191: a router that cannot pass a packet on says which size it takes',
  read: report =>
    suspect(
      'mtu-mismatch',
      undefined,
      first(tooBig(report)).map(each =>
        clueAt(each, 'something on the way takes smaller packets only', 'supports'),
      ),
      {
        missing: ['the sizes of the Pod link, bridge, tunnel and underlay of both nodes'],
      },
    ),
}

const halves: CauseRule = {
  name: 'transfer-starts-and-stops',
  source:
    'cni facts: connect and ping work, the TLS handshake and large answers hang (flannel#1614, amazon-vpc-cni#356)',
  read: report => {
    const clues: Clue[] = first(halfTransfers(report)).map(each =>
      clueAt(each, 'a connection opens, and what is large does not arrive', 'supports'),
    )
    return suspect('mtu-mismatch', undefined, clues, {
      missing: [
        'the sizes of the Pod link, bridge, tunnel and underlay (ip -d link)',
        'a ping that may not be split',
      ],
    })
  },
}

const spoken: CauseRule = {
  name: 'told-that-only-large-ones-fail',
  source: 'What people say of a size that does not fit',
  read: report =>
    suspect('mtu-mismatch', undefined, [
      ...(symptomSays(report, large) ? [clue('the report says that size decides', 'hints')] : []),
      ...clueOf(
        report,
        /\bmtu\b[^\n]{0,60}(?:mismatch|too (?:large|big|high)|exceed|larger than|greater than)/i,
        'a program says that the size does not fit',
        'supports',
        'agent-log',
        'journal',
        'event',
      ),
    ]),
}

/** Links of one kind that have different sizes on different nodes. */
const unequal: CauseRule = {
  name: 'nodes-have-different-sizes',
  source:
    'The smallest link of all nodes decides: jumbo frames on some nodes alone lose large packets between them',
  read: report => {
    const under = sized(report).filter(({ kind, cmd }) => kind === 'underlay' && !insidePod(cmd))
    const byName = [...new Set(under.map(({ name }) => name))].map(name =>
      under.filter(each => each.name === name),
    )
    const many = (all: readonly unknown[]): boolean => new Set(all).size > 1
    const differ = byName.find(all => many(all.map(({ mtu }) => mtu)) && many(all.map(({ cmd }) => cmd)))
    return suspect(
      'mtu-mismatch',
      'underlay',
      differ
        ? [
            clue(
              `${quoted(differ[0]?.name ?? '', 40)} has ${differ
                .map(({ mtu }) => mtu)
                .slice(0, 4)
                .join(' and ')} bytes on different nodes`,
              'supports',
            ),
          ]
        : [],
    )
  },
}

export const mtuRules: CauseRule[] = [linkNumbers, configured, pings, icmp, halves, spoken, unequal]
