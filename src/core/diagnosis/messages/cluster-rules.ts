import type { MessageRule } from './message-rule.js'

const none = String.raw`(?:\b0\/\d{1,5} nodes are available|no nodes are available|no preemption victims|preemption is not helpful)`

/** Why a Pod has no node, as the scheduler, the controllers and the kubelet's admission say it. */
export const schedulingRules: MessageRule[] = [
  {
    code: 'SCHEDULING_PRESSURE',
    kind: 'scheduling',
    when: new RegExp(
      `${none}[^\\n]{0,900}(?:disk|memory|pid)-?pressure|taint [^\\n]{0,80}(?:disk|memory|pid)-pressure`,
    ),
    causes: ['node-pressure', 'scheduling-blocked'],
    says: 'The scheduler avoids nodes that are short of disk, memory or processes.',
  },
  {
    code: 'SCHEDULING_NODE_DOWN',
    kind: 'scheduling',
    when: new RegExp(
      `${none}[^\\n]{0,900}(?:kubernetes\\.io/(?:not-ready|unreachable)|node\\(s\\) were not ready)`,
    ),
    causes: ['scheduling-blocked', 'node-not-ready'],
    says: 'The scheduler avoids nodes that are not ready.',
  },
  {
    code: 'SCHEDULING_NETWORK_TAINT',
    kind: 'scheduling',
    when: new RegExp(
      `${none}[^\\n]{0,900}(?:network-unavailable|agent-not-ready|startup-taint[^\\n]{0,40}cni|node\\(s\\) had network)`,
    ),
    causes: ['scheduling-blocked', 'cni-agent-down'],
    says: 'The scheduler avoids nodes whose network agent has not reported that it is ready.',
  },
  {
    code: 'SCHEDULING_VOLUME',
    kind: 'scheduling',
    when: /unbound (?:immediate )?persistentvolumeclaims|volume node affinity conflict|didn't find available persistent volumes|exceed max volume count|no available volume zone|persistentvolumeclaim ["'`][^"'`]{1,253}["'`] not found/,
    causes: ['scheduling-blocked', 'volume-mount'],
    says: 'No node can be chosen because of a volume claim of the Pod.',
  },
  {
    code: 'SCHEDULING_BLOCKED',
    kind: 'scheduling',
    when: new RegExp(
      `${none}|(?:had|untolerated) (?:un)?(?:tolerated )?taints?\\b|insufficient (?:cpu|memory|pods|ephemeral-storage|nvidia)|didn't (?:match|have free ports|satisfy)|node\\(s\\) were unschedulable|podtoleratesnodetaints|podfitshostports|nodes? didn't have enough resource|\\boutof(?:cpu|memory|pods|ephemeral-storage)\\b|predicate [a-z]{1,40} failed|exceeded quota|violates podsecurity|pods? ["'\`]?[^\\n]{0,120} is forbidden|failedscheduling`,
    ),
    causes: ['scheduling-blocked'],
    says: 'No node takes the Pod, or the Pod was not allowed to be made.',
  },
]

/** Evictions and drains that are refused. */
export const drainRules: MessageRule[] = [
  {
    code: 'PDB_BLOCKED',
    kind: 'disruption-budget',
    when: /would violate the pod'?s? disruption budget|the disruption budget [^\n]{1,260} (?:needs|is still being processed)|more than one poddisruptionbudget|disruption budget[^\n]{0,120}does not allow/,
    causes: ['pdb-blocked'],
    operation: 'none',
    says: 'A disruption budget refuses the eviction.',
  },
  {
    code: 'DRAIN_REFUSED',
    kind: 'drain-refused',
    when: /pods with local storage \(use|cannot delete pods? (?:with local storage|not managed by|(?:that )?declare no controller)|daemonset-managed pods \(use|cannot delete daemonset-managed pods|pods not managed by [^\n]{1,120}\(use|pods declare no controller|unable to drain node/,
    causes: ['drain-blocked'],
    operation: 'none',
    says: 'The drain refuses: Pods with local data, without a controller or of a DaemonSet are in the way.',
  },
]

/** The node as a whole: short of something, or without a healthy kubelet. */
export const nodeRules: MessageRule[] = [
  {
    code: 'NODE_PRESSURE',
    kind: 'pressure',
    when: /the node was low on resource|the node had condition: ?\[[a-z, ]{0,60}pressure|eviction manager: (?:attempting to reclaim|must evict|pods? [^\n]{1,200}evict)|evictionthresholdmet|attempting to reclaim (?:ephemeral-storage|memory|inodes|pids)|failed to garbage collect required amount|freediskspacefailed|imagegcfailed|\bnodehas(?:diskpressure|memorypressure|insufficientmemory|insufficientpid)\b|system oom encountered|kubelet has (?:disk pressure|insufficient)|out of memory: kill(?:ed)? process/,
    causes: ['node-pressure'],
    says: 'The node is short of disk, memory or processes.',
  },
  {
    code: 'POD_LIMIT_EXCEEDED',
    kind: 'pressure',
    when: /usage (?:of emptydir volume [^\n]{1,120} )?exceeds (?:the total limit|its (?:local )?ephemeral)|usage of emptydir volume [^\n]{1,120} exceeds the limit|exceeds its local ephemeral storage limit|memory cgroup out of memory|oomkilled/,
    causes: ['other'],
    says: 'A Pod has used more than its own limit.',
  },
  {
    code: 'PLEG_UNHEALTHY',
    kind: 'node-health',
    when: /pleg (?:is not healthy|was last seen active|has yet to be successful)|pleg: unable to retrieve pods/,
    causes: ['node-not-ready', 'runtime-error'],
    operation: 'none',
    says: 'The kubelet does not get a list of containers from the runtime in time.',
  },
  {
    code: 'NODE_NOT_READY',
    kind: 'node-health',
    when: /kubelet stopped posting node status|nodestatusunknown|nodestatusneverupdated|\bnodenotready\b|node is not ready$|node is not ready\.|skipping pod synchronization|failed to (?:ensure|update|get) (?:node )?lease|error updating node status|unable to update node status|node [^\n]{1,260} hasn't been updated for/,
    causes: ['node-not-ready'],
    operation: 'none',
    says: 'The node does not report that it is healthy.',
  },
]

/** The API's refusals, and connections that fail, where nothing else in the text says whose they are. */
export const accessRules: MessageRule[] = [
  {
    code: 'API_AUTH',
    kind: 'api-access',
    only: 'not-cni',
    when: /x509: certificate (?:has expired|signed by unknown authority|is (?:valid|not valid))|tls: (?:bad certificate|expired certificate|unknown certificate authority)|you must be logged in to the server|unable to authenticate the request|: unauthorized\b|^unauthorized\b|user ["'`][^"'`]{1,253}["'`] cannot \w{1,20} (?:resource|pods|nodes)|is forbidden: user|error: you are not authorized|bootstrap token [^\n]{0,60}expired/,
    causes: ['other', 'cni-auth', 'node-not-ready'],
    says: 'A certificate, token or permission was refused.',
  },
  {
    code: 'DNS_FAIL',
    kind: 'connection',
    when: /lookup \S{1,260}(?: on \S{1,60})?: (?:no such host|server misbehaving|i\/o timeout|read udp|dial udp)|temporary failure in name resolution|could not resolve host|connection timed out; no servers could be reached|\bservfail\b/,
    causes: ['dataplane-stale', 'network-filtered', 'route-missing'],
    says: 'A name could not be resolved.',
  },
  {
    code: 'NO_ROUTE',
    kind: 'connection',
    when: /no route to host|network is unreachable|destination host unreachable|host is unreachable/,
    causes: ['route-missing', 'network-filtered'],
    says: 'There is no way to the address, or a filter on the way says so.',
  },
  {
    code: 'CONNECTION_REFUSED',
    kind: 'connection',
    when: /connection refused/,
    causes: ['app-not-listening', 'dataplane-stale', 'network-filtered'],
    says: 'The address answers, and nothing listens on the port or a rule rejects it.',
  },
  {
    code: 'TLS_TIMEOUT',
    kind: 'connection',
    when: /tls handshake timeout/,
    causes: ['mtu-mismatch', 'network-filtered'],
    says: 'The connection opens, and the first large packets do not arrive.',
  },
  {
    code: 'CONNECTION_TIMEOUT',
    kind: 'connection',
    when: /i\/o timeout|connection timed out|connect: operation timed out|client\.timeout exceeded|request canceled while waiting for connection|dial tcp \S{1,120} [^\n]{0,40}timeout/,
    causes: ['network-filtered', 'route-missing', 'dataplane-stale'],
    says: 'The address does not answer.',
  },
]
