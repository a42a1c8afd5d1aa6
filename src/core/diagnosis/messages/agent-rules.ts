import type { MessageRule } from './message-rule.js'

const refused = '(?:connection refused|no such file|i/o timeout|deadline exceeded|connection reset|eof)'

/** An agent that does not answer at a teardown is one code, whoever made it: what is done about it is the same. */
const agentGone: Pick<MessageRule, 'kind' | 'causes' | 'onDel'> = {
  kind: 'agent-down',
  causes: ['cni-agent-down'],
  onDel: ['cni-agent-down', 'cni-del-failing'],
}

/** What plugins say when the agent or API they need is not there, does not answer, or refuses them. */
export const agentRules: MessageRule[] = [
  {
    ...agentGone,
    code: 'CNI_AGENT_DOWN',
    only: 'del',
    when: /unable to connect to cilium|subnet\.env: no such file|multus\.sock|:6784\b|:50051\b|cilium\.sock|antrea\S{0,40}\.sock|delnetwork grpc call: rpc error: code = unavailable/,
    says: 'The agent that the plugin needs for the teardown does not answer.',
  },
  {
    ...agentGone,
    code: 'CNI_AGENT_DOWN_FLANNEL',
    when: /subnet\.env: no such file/,
    causes: ['cni-agent-down', 'cni-config-wrong'],
    says: 'Flannel has not written its subnet file: its agent is not up on this node.',
  },
  {
    ...agentGone,
    code: 'CNI_AGENT_DOWN_CILIUM',
    when: /unable to connect to cilium (?:agent|daemon)|cilium\.sock|cilium api client timeout exceeded/,
    says: 'The Cilium agent on this node does not answer.',
  },
  {
    ...agentGone,
    code: 'CNI_AGENT_DOWN_WEAVE',
    when: /(?:127\.0\.0\.1|localhost|\[?::1\]?):6784\b/,
    says: 'The Weave agent on this node does not answer.',
  },
  {
    ...agentGone,
    code: 'CNI_AGENT_DOWN_AWS',
    when: /(?:127\.0\.0\.1|localhost|\[?::1\]?):50051\b|addnetwork grpc call: rpc error: code = unavailable/,
    says: 'The AWS node agent does not answer.',
  },
  {
    ...agentGone,
    code: 'CNI_AGENT_DOWN_OVNK',
    when: /failed to get pod annotation|timed out waiting for (?:ovs port binding|annotations)/,
    says: 'The OVN-Kubernetes agent has not set this Pod up.',
  },
  {
    ...agentGone,
    code: 'CNI_AGENT_DOWN_MULTUS',
    when: /readinessindicatorfile/,
    operation: 'add',
    says: 'Multus waits for the default network to become ready.',
  },
  {
    ...agentGone,
    code: 'CNI_AGENT_DOWN_MULTUS',
    when: new RegExp(
      `multus\\.sock|multus-cni[^\\n]{0,200}dial (?:unix|tcp)[^\\n]{0,200}${refused}|//dummy/cni[^\\n]{0,200}${refused}|failed to send cni request`,
    ),
    says: 'The Multus daemon on this node does not answer.',
  },
  {
    ...agentGone,
    code: 'CNI_AGENT_DOWN',
    when: /nodename: no such file|stat \/var\/lib\/calico\/nodename|antrea\S{0,40}\.sock|calico\/node container is running and has mounted/,
    says: 'The network agent has not written what the plugin needs from it: it is not up on this node.',
  },
  {
    code: 'CNI_AGENT_NOT_READY',
    kind: 'agent-down',
    when: /calico\/node is not ready|(?:bird|felix|confd) is not (?:ready|live)|bgp not established with|cilium(?:-agent)? (?:agent )?is not ready|failed to read status from daemon/,
    causes: ['cni-agent-down', 'route-missing'],
    says: "The network agent's own check says that it is not ready.",
  },
  {
    code: 'CNI_AGENT_CRASHING',
    kind: 'agent-down',
    when: /back-?off restarting failed container[^\n]{0,120}\b(?:cilium|calico|kube-flannel|aws-node|weave|antrea|ovnkube|kube-router|multus|canal|kindnet|azure-cns|netd|kube-ovn|aws-vpc-cni)/,
    causes: ['cni-agent-down'],
    says: 'A container of the network agent crashes again and again.',
  },
  {
    code: 'CNI_AGENT_AUTH',
    kind: 'agent-refused',
    when: /connection is unauthorized/,
    causes: ['cni-auth'],
    onDel: ['cni-auth', 'cni-del-failing'],
    says: "The plugin's credential is refused.",
  },
  {
    code: 'CNI_AGENT_AUTH',
    kind: 'agent-refused',
    only: 'cni',
    when: /\bunauthorized\b|\bforbidden\b|x509: certificate|you must be logged in|provide credentials|token (?:has )?expired/,
    causes: ['cni-auth'],
    onDel: ['cni-auth', 'cni-del-failing'],
    says: "The plugin's credential is refused.",
  },
  {
    code: 'CNI_AGENT_ERROR',
    kind: 'agent-error',
    when: /del cmd: failed to process delete request|add cmd: failed to process|an error on the server \(.{0,200}\) has prevented the request from succeeding \(get clusterinformations/,
    causes: ['cni-agent-down'],
    onDel: ['cni-del-failing', 'cni-agent-down'],
    says: 'The agent or API behind the plugin answered with an error of its own.',
  },
  {
    code: 'CNI_AGENT_ERROR',
    kind: 'agent-error',
    only: 'cni',
    when: /an error on the server \(.{0,200}\) has prevented the request from succeeding|the server is currently unable to handle the request|etcdserver: /,
    causes: ['cni-agent-down'],
    onDel: ['cni-del-failing', 'cni-agent-down'],
    says: 'The API server behind the plugin answered with an error of its own.',
  },
]

/** A plugin cannot reach the API server or its store: after the agents that have an address of their own. */
export const agentConnectionRules: MessageRule[] = [
  {
    code: 'CNI_API_UNREACHABLE',
    kind: 'agent-down',
    only: 'cni',
    when: /\/api(?:s)?\/[^\n]{0,200}(?:i\/o timeout|no route to host|network is unreachable|connection refused|deadline exceeded|handshake timeout|server misbehaving|no such host)/,
    causes: ['dataplane-stale', 'route-missing', 'network-filtered', 'cni-agent-down'],
    onDel: ['dataplane-stale', 'route-missing', 'network-filtered', 'cni-del-failing'],
    says: 'The plugin cannot reach the API server from this node.',
  },
  {
    ...agentGone,
    code: 'CNI_AGENT_DOWN',
    only: 'cni',
    when: /dial (?:tcp|unix) \S{1,120}:? (?:getsockopt|connect|i\/o timeout|connection)|(?:connect|getsockopt): connection refused/,
    says: 'What the plugin has to ask does not answer: its agent or its store.',
  },
]
