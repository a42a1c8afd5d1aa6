import { linesWith, quoted } from '../../../report/ask.js'
import { type Cidr, cidrOf, cidrsIn, holdsIp } from '../../../report/net/cidr.js'
import { linksSeen } from '../../../report/net/links.js'
import { subnetsIn } from '../../../report/range-sets.js'
import type { Report } from '../../../report/report.js'
import { type CauseRule, type Clue, clue } from '../../rule.js'
import { clueAt, clueOf, first, suspect } from './suspect.js'

/** The range that the node has now, by the agent's file, the API or what was told. */
export const nodeRange = (report: Report): Cidr | undefined => {
  const [line] = linesWith(report, /^\s*(?:export )?FLANNEL_SUBNET=/, 'command')
  const told = line ? cidrsIn(line.text)[0] : undefined
  const asked = report.commands.find(({ cmd }) => /podCIDR/i.test(cmd))
  const api = cidrsIn(asked?.output.slice(0, 5).join(' ') ?? '')
  const tunnel = linksSeen(report)
    .filter(({ name }) => name.startsWith('flannel.'))
    .flatMap(({ addresses = [] }) => addresses)
    .flatMap(each => cidrOf(each.replace('/32', '/24')) ?? [])
  const environment = subnetsIn(report.environment.get('pod_cidr') ?? '')[0]?.subnet
  const small = [told, api.length === 1 ? api[0] : undefined, tunnel[0], cidrOf(environment ?? '')]
  return small.find(each => each !== undefined && each.bits >= 20)
}

const bridgeMessage: CauseRule = {
  name: 'bridge-refuses-another-address',
  source:
    'CNI bridge plugin: ensureAddr refuses when the bridge carries another address and forceAddress is off; flannel#1155',
  read: report =>
    suspect('dataplane-stale', 'bridge', [
      ...clueOf(
        report,
        /already has an IP address different from/i,
        'the plugin finds an address of another range on the bridge',
        'proves',
      ),
    ]),
}

const bridgeRange: CauseRule = {
  name: 'bridge-carries-another-range',
  source:
    "The bridge's address is the gateway of the node's range; another network there is left from an earlier lease",
  read: report => {
    const range = nodeRange(report)
    const bridges = linksSeen(report).filter(({ kind }) => kind === 'bridge')
    const addresses = bridges.flatMap(({ name, addresses: all = [] }) =>
      all.flatMap(each => (cidrOf(each)?.address.kind() === 'ipv4' ? [{ name, each }] : [])),
    )
    const own = addresses.some(({ each }) => range && holdsIp(range, each.split('/')[0] ?? ''))
    const wrong = range && !own ? addresses : []
    return suspect(
      'dataplane-stale',
      'bridge',
      first(wrong).map(({ name, each }) =>
        clue(
          `the bridge ${quoted(name)} has ${quoted(each)}, the range of the node is ${quoted(range?.text ?? '')}`,
          'supports',
        ),
      ),
    )
  },
}

const proxyFails =
  /(?:failed|error|unable|couldn't|can't)[^\n]{0,120}(?:ip6?tables-restore|sync(?:ing)? (?:proxy )?rules|ipvs (?:virtual|real) server|nft(?:ables)? transaction)|(?:failed to )?(?:execute )?ip6?tables-restore[^\n]{0,80}(?:failed|exit status)|sync failed[^\n]{0,80}retry|syncProxyRules[^\n]{0,120}(?:fail|error)|failed to (?:ensure|sync|apply) [^\n]{0,80}(?:chain|rule)s?\b/i
const watchFails =
  /(?:failed to (?:watch|list)|watch of)[^\n]{0,60}\*?(?:v1(?:beta1)?|core|discovery)?\.?(?:endpoints|endpointslices?|services?)\b/i

const proxyLog: CauseRule = {
  name: 'proxy-cannot-set-rules',
  source:
    "kube-proxy's log: rules that cannot be written or a watch that fails leave the node at an old state",
  read: report =>
    suspect(
      'dataplane-stale',
      'proxy',
      [
        ...clueOf(report, proxyFails, 'rules of services cannot be written on the node', 'supports'),
        ...clueOf(report, watchFails, 'the watch for services and their backends fails', 'supports'),
      ],
      { missing: ["the node's rules beside those of another node"] },
    ),
}

const proxyPods: CauseRule = {
  name: 'proxy-not-running',
  source: 'Kubernetes, Debug Services: "Is kube-proxy running?"',
  read: report => {
    const ill = report.pods.filter(
      ({ name, status, ready }) =>
        name.startsWith('kube-proxy') &&
        (ready === 0 || /CrashLoop|Error|Pending|ContainerCreating|BackOff/.test(status)),
    )
    const serviceFails = linesWith(report, /cluster ?ip|10\.96\.0\.1|10\.43\.0\.1|service/i).length > 0
    return suspect(
      'dataplane-stale',
      'proxy-down',
      first(ill).map(each =>
        clueAt(each, 'kube-proxy does not run on the node', serviceFails ? 'supports' : 'hints'),
      ),
    )
  },
}

const twoBackends: CauseRule = {
  name: 'iptables-legacy-beside-nft',
  source:
    'kubernetes#71305, iptables-nft: rules in both tables; a program that writes to one does not see the other',
  read: report =>
    suspect(
      'dataplane-stale',
      'two-tables',
      clueOf(
        report,
        /iptables-legacy tables present|iptables-nft and iptables-legacy|both (?:nft|legacy) and (?:nft|legacy)/i,
        'both kinds of iptables tables are in use on the node',
        'supports',
        'command',
        'agent-log',
        'journal',
      ),
      { missing: ['which of the two kube-proxy and the network agent write to'] },
    ),
}

const looseEnds: CauseRule = {
  name: 'pod-link-not-on-the-bridge',
  source:
    'CNI bridge plugin: every host end of a Pod is a port of the bridge; one without master reaches nothing',
  read: report => {
    const links = linksSeen(report)
    const bridge = links.find(({ kind }) => kind === 'bridge')
    const ends = links.filter(
      ({ name, up, cmd }) => name.startsWith('veth') && up !== undefined && !/grep|-br\b/.test(cmd),
    )
    const loose = bridge ? ends.filter(({ master }) => master === undefined) : []
    const clues: Clue[] = first(loose).map(each =>
      clue(
        `${quoted(each.name, 40)}, the host end of a Pod, is not attached to ${quoted(bridge?.name ?? '', 40)}`,
        'supports',
      ),
    )
    const stopped = links.filter(
      ({ kind, up, carrier, cmd }) =>
        kind === 'bridge' && (up === false || (carrier === false && !/-br\b/.test(cmd))),
    )
    return suspect('dataplane-stale', 'bridge', [
      ...clues,
      ...first(report.pods.some(({ status }) => status === 'Running') ? stopped : []).map(({ name }) =>
        clue(`the bridge ${quoted(name, 40)} is down although Pods run`, 'supports'),
      ),
    ])
  },
}

const bpf =
  /(?:unable to|failed to|error while) (?:update|insert|upsert|delete|sync)[^\n]{0,120}\b(?:bpf|lb|service|backend|ipcache)\b[^\n]{0,120}|map (?:is )?full|ct: map insertion failed|no matching local container found|service backend not found|stale or unroutable ip|regenerat(?:ion|ing|e)[^\n]{0,60}endpoint[^\n]{0,40}fail|(?:error|fail)[^\n]{0,60}regenerating endpoint/i

const ciliumMaps: CauseRule = {
  name: 'bpf-maps-behind-the-api',
  source:
    'Cilium troubleshooting: drop reasons "Service backend not found" and "CT: Map insertion failed", endpoint regeneration failures, full maps',
  read: report =>
    suspect(
      'dataplane-stale',
      'maps',
      clueOf(report, bpf, "the agent's maps in the kernel do not hold what the API says", 'supports'),
      { missing: ['cilium status --verbose and the list of services in the map, beside the API'] },
    ),
}

const felix =
  /felix[^\n]{0,200}(?:failed to|error)[^\n]{0,80}(?:program|iptables|apply|resync|dataplane)|failed to (?:program|apply) (?:the )?dataplane/i

const agentApply: CauseRule = {
  name: 'agent-cannot-apply-rules',
  source: 'Calico, Antrea and flannel log what they cannot program; the rules stay at an earlier state',
  read: report =>
    suspect(
      'dataplane-stale',
      'proxy',
      clueOf(report, felix, 'the network agent cannot apply its rules', 'supports', 'agent-log', 'journal'),
    ),
}

const bridgeCalls: CauseRule = {
  name: 'bridged-packets-skip-iptables',
  source:
    'Kubernetes, network plugin requirements: without br_netfilter answers over one bridge are not translated back',
  read: report =>
    suspect(
      'dataplane-stale',
      'bridge-nf',
      clueOf(
        report,
        /bridge-nf-call-iptables\s{0,3}[=:]\s{0,3}0\b|bridge-nf-call-iptables[^\n]{0,40}no such file/i,
        'packets over a bridge do not pass iptables',
        'supports',
      ),
    ),
}

export const staleNodeRules: CauseRule[] = [
  bridgeMessage,
  bridgeRange,
  proxyLog,
  proxyPods,
  twoBackends,
  looseEnds,
  ciliumMaps,
  agentApply,
  bridgeCalls,
]
