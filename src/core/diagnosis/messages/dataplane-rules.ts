import type { MessageRule } from './message-rule.js'

/** Links, addresses and rules on the node, as the plugins that set them report. */
export const dataplaneRules: MessageRule[] = [
  {
    code: 'NETNS_GONE',
    kind: 'runtime-error',
    when: /cannot find network namespace for the terminated container|cni failed to retrieve network namespace path/,
    causes: ['runtime-error', 'ipam-leak'],
    operation: 'none',
    says: "The sandbox's process ended before its network was taken down.",
  },
  {
    code: 'NETNS_GONE',
    kind: 'runtime-error',
    when: /failed to statfs ["'`][^"'`]{0,200}["'`]: no such file|failed to open netns [^\n]{0,200}no such file|unknown fs magic|netns \S{1,200} no longer exists/,
    causes: ['runtime-error'],
    onDel: ['cni-del-failing', 'runtime-error'],
    says: "The sandbox's process ended while its network was being made or taken down.",
  },
  {
    // Kubelets up to 1.8 give no reason in these two lines; the plugin had lost the ended container's namespace.
    code: 'NETNS_GONE',
    kind: 'runtime-error',
    when: /failed to teardown network for pod [^\n]{0,120} using network plugins ["'`]?\w{1,20}["'`]?: no such file|failed to stop sandbox \{["'`]?docker["'`]?/,
    causes: ['cni-del-failing', 'runtime-error'],
    operation: 'del',
    says: 'An old kubelet could not take the network of an ended container down.',
  },
  {
    code: 'BRIDGE_ADDR_MISMATCH',
    kind: 'dataplane',
    when: /already has an ip address different from/,
    causes: ['dataplane-stale', 'cni-config-wrong'],
    says: 'The bridge still carries an address of an earlier range.',
  },
  {
    code: 'BRIDGE_RACE',
    kind: 'dataplane',
    when: /could not add ip address to [^\n]{1,80}: file exists/,
    causes: ['other'],
    says: 'Two ADDs set the bridge up at once (plugins before 0.8.2).',
  },
  {
    code: 'IPTABLES_FAIL',
    kind: 'dataplane',
    when: /ip6?tables[^\n]{0,400}exit status \d|couldn't load (?:target|match)|no chain\/target\/match by that name|currently holding the xtables lock|ip6?tables-restore: line \d{1,6} failed/,
    causes: ['dataplane-stale', 'other'],
    onDel: ['cni-del-failing', 'dataplane-stale'],
    says: 'iptables failed on the node.',
  },
  {
    code: 'KERNEL_PERMISSION',
    kind: 'dataplane',
    when: /could not add ip address to [^\n]{1,80}permission denied/,
    causes: ['other'],
    says: 'The kernel refused to set the address: permission denied.',
  },
  {
    code: 'LINK_FAIL',
    kind: 'dataplane',
    only: 'cni',
    when: /operation not supported|failed to (?:create|make|move|rename) (?:veth|vxlan|bridge|link)|(?:container )?veth name provided \([^)]{0,40}\) already exists|failed to del rule table/,
    causes: ['other'],
    onDel: ['cni-del-failing'],
    says: 'The kernel refused to make or remove a link or rule.',
  },
  {
    code: 'ROUTE_NOT_SET',
    kind: 'dataplane',
    when: /could not create route \S{1,80} |noroutecreated|failed to add route|failed to (?:ensure|set up) routes?\b/,
    causes: ['route-missing'],
    says: 'A route that Pods need could not be set.',
  },
  {
    code: 'PACKET_TOO_BIG',
    kind: 'dataplane',
    when: /message too long|frag(?:mentation)? needed|packet too big|mtu (?:mismatch|exceed)/,
    causes: ['mtu-mismatch'],
    says: 'A packet was larger than the path takes.',
  },
  {
    code: 'NO_ENDPOINTS',
    kind: 'no-endpoints',
    when: /no endpoints available for service|does not have any active endpoint|has no (?:active )?endpoints\b|no endpoints found for/,
    causes: ['service-no-endpoints', 'dataplane-stale'],
    says: 'The service has no backend that is ready.',
  },
]
