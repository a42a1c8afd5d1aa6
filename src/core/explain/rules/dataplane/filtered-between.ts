import { linesWith, quoted } from '../../../report/ask.js'
import { attemptsSeen } from '../../../report/net/attempts.js'
import { type CauseRule, clue } from '../../rule.js'
import { stopped } from './filtered.js'
import { clueAt, clueOf, first, suspect, symptomSays } from './suspect.js'

const policyDrop =
  /policy denied|denied by (?:network ?policy|policy)|DROPPED \(?policy|verdict[^\n]{0,20}DROPPED[^\n]{0,80}policy|acl[^\n]{0,60}action=drop|verdict=drop|\bdropped\b[^\n]{0,60}\bpolicy\b|NetworkPolicy[^\n]{0,60}(?:deny|drop|denied|block)/i

const policyDenies: CauseRule = {
  name: 'network-policy-denies',
  source:
    'Kubernetes, NetworkPolicy: a selected Pod takes only what is allowed; Cilium, OVN and Calico say so for each packet',
  read: report => {
    const policies = report.commands.filter(
      ({ cmd, output }) =>
        /\b(?:netpol|networkpolic(?:y|ies)|cnp|ccnp|gnp|globalnetworkpolic(?:y|ies)|ciliumnetworkpolic\w*)\b/i.test(
          cmd,
        ) && output.some(line => line.trim() !== '' && !/^No resources found|not found|^NAME/i.test(line)),
    )
    const silent = attemptsSeen(report).some(({ outcome }) => outcome === 'timeout')
    const denyAll = policies.some(({ output }) =>
      output.some(line => /default-?deny|deny-?all|podSelector:\s{0,3}\{\}|<none>/i.test(line)),
    )
    return suspect(
      'network-filtered',
      'policy',
      [
        ...clueOf(report, policyDrop, 'the network says that a policy stops the packet', 'proves'),
        ...first(policies).map(({ output }) =>
          clue(
            `there are network policies: ${quoted(output.filter(line => !line.startsWith('NAME')).join(' '))}`,
            silent || stopped(report) ? 'supports' : 'hints',
          ),
        ),
        ...(denyAll && silent
          ? [clue('one of them lets nothing in or out that others do not allow', 'supports')]
          : []),
      ],
      { missing: ["the policies that select either Pod, and the namespaces' labels"] },
    )
  },
}

const ports = '(?:8472|4789|6081|51820|51821|179|10250|6443|2379|8285|5473|6784)'
const closed = new RegExp(
  `\\b${ports}/(?:udp|tcp)\\s{1,8}(?:filtered|closed)|(?:udp|tcp|port)[ :]{1,3}${ports}\\b[^\\n]{0,60}(?:block|drop|filter|denied|not allowed|closed)|(?:security ?group|\\bnsg\\b|\\bacl\\b|firewall)[^\\n]{0,120}\\b${ports}\\b`,
  'i',
)

const tunnelPort: CauseRule = {
  name: 'port-between-nodes-is-closed',
  source:
    'flannel 8472/8285, VXLAN 4789, Geneve 6081, WireGuard 51820, BGP 179, Typha 5473: each has to be open between all nodes',
  read: report => {
    const between = attemptsSeen(report).filter(
      ({ outcome, port }) =>
        ['timeout', 'no-route', 'prohibited'].includes(outcome) &&
        port !== undefined &&
        new RegExp(`^${ports}$`).test(String(port)),
    )
    return suspect(
      'network-filtered',
      'nodes',
      [
        ...clueOf(
          report,
          closed,
          'a port that nodes need between each other is closed',
          'supports',
          'command',
          'agent-log',
          'journal',
        ),
        ...first(between).map(each =>
          clueAt(each, 'another node does not answer on a port that nodes need', 'supports'),
        ),
      ],
      { missing: ['tcpdump of the tunnel on both nodes at the same time'] },
    )
  },
}

const captured = /\b(?:8472|4789|6081|OTV|VXLAN|Geneve|ipip|proto IPIP|51820)\b/i

/** Sent by one node, not seen on the other. */
const oneSided: CauseRule = {
  name: 'tunnel-packets-leave-and-do-not-arrive',
  source: 'tcpdump on both ends: what leaves one node and never arrives is stopped between them',
  read: report => {
    const dumps = report.commands.filter(({ cmd }) => /\b(?:tcpdump|tshark)\b/.test(cmd))
    const sent = dumps.find(({ output }) =>
      output.some(line => captured.test(line) || /^\s*\d{1,2}:\d{2}:\d{2}\.\d+ IP/.test(line)),
    )
    const none = dumps.find(each => each !== sent && each.output.every(line => !/ IP6? /.test(line)))
    const tunnel = sent && (captured.test(sent.cmd) || sent.output.some(line => captured.test(line)))
    const handshake = linesWith(report, /transfer: 0 B received, [1-9]/i, 'command')
    return suspect('network-filtered', 'nodes', [
      ...(sent && none
        ? [
            clue(
              `packets leave (${quoted(sent.cmd, 60)}) and are not seen at the other end (${quoted(none.cmd, 60)})`,
              tunnel ? 'proves' : 'supports',
            ),
          ]
        : []),
      ...first(handshake).map(line => clueAt(line, 'the tunnel sends and gets nothing back', 'supports')),
    ])
  },
}

const kernelOff: CauseRule = {
  name: 'kernel-does-not-forward',
  source: 'Kubernetes, container runtimes: net.ipv4.ip_forward has to be 1; flannel and kubeadm check it',
  read: report =>
    suspect(
      'network-filtered',
      'forwarding',
      clueOf(
        report,
        /(?:ip_forward|\.forwarding)["']?\s{0,3}(?:=|:|is|contents are)\s{0,3}(?:not set to 1|0\b)|ip_forward contents are not set to 1/i,
        'the kernel of the node does not forward packets',
        'proves',
      ),
    ),
}

const forwardFile: CauseRule = {
  name: 'forwarding-file-says-no',
  source: 'cat /proc/sys/net/ipv4/ip_forward prints one number',
  read: report => {
    const found = report.commands.filter(
      ({ cmd, output }) =>
        /ip_forward\b|\.forwarding\b/.test(cmd) && output.some(line => line.trim() === '0'),
    )
    return suspect(
      'network-filtered',
      'forwarding',
      first(found).map(({ cmd }) =>
        clue(`the kernel of the node does not forward packets (${quoted(cmd, 80)}: 0)`, 'proves'),
      ),
    )
  },
}

const reversePath: CauseRule = {
  name: 'reverse-path-filter-drops',
  source:
    'ip-sysctl, rp_filter: strict mode drops what comes by another link than the answer would take; logged as a martian',
  read: report => {
    const strict = linesWith(report, /rp_filter\s{0,3}[=:]\s{0,3}1\b/, 'command')
    const martian = linesWith(
      report,
      /martian (?:source|destination)|IPReversePathFilter\s{1,20}[1-9]|TcpExtIPReversePathFilter/i,
    )
    return suspect('network-filtered', 'rp-filter', [
      ...first(martian).map(line =>
        clueAt(
          line,
          'the kernel drops packets that come by an unexpected link',
          strict.length > 0 ? 'proves' : 'supports',
        ),
      ),
      ...first(strict).map(line =>
        clueAt(line, 'the reverse path filter is strict', stopped(report) ? 'hints' : 'hints'),
      ),
    ])
  },
}

const nodesAnswer: CauseRule = {
  name: 'node-answers-its-pods-do-not',
  source:
    'Tunnels between nodes use a port of their own: a filter may pass ping and ssh and stop it (flannel#2388)',
  read: report => {
    const pings = attemptsSeen(report).filter(({ by, ip }) => /\bping\b/.test(by) && ip !== undefined)
    const good = pings.some(({ outcome }) => outcome === 'open')
    const bad = pings.filter(
      ({ outcome, ip }) =>
        outcome === 'timeout' && !pings.some(each => each.ip === ip && each.outcome === 'open'),
    )
    if (!good) return []
    return [
      ...suspect(
        'network-filtered',
        'nodes',
        first(bad).flatMap(each => [
          clueAt(each, 'this address does not answer, while another one of the same way does', 'hints'),
          ...(symptomSays(
            report,
            /node.{0,20}node.{0,40}(?:fine|ok|work)|security group|across nodes|other nodes?|never/i,
          )
            ? [clue('the nodes themselves reach each other', 'hints')]
            : []),
        ]),
        {
          missing: [
            'tcpdump of the tunnel on both nodes at the same time',
            'the rules between the two groups of nodes',
            'the route tables of both nodes',
          ],
        },
      ),
      ...suspect(
        'route-missing',
        undefined,
        first(bad).map(each => clueAt(each, 'an address of a Pod does not answer', 'hints')),
      ),
    ]
  },
}

export const filteredBetweenRules: CauseRule[] = [
  policyDenies,
  tunnelPort,
  oneSided,
  nodesAnswer,
  kernelOff,
  forwardFile,
  reversePath,
]
