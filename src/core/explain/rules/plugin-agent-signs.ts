import { quoted } from '../../report/ask.js'
import { agentOf, agentPodsOf } from '../../report/network-agents.js'
import { spokenIn } from '../../report/spoken.js'
import { type CauseRule, clue } from '../rule.js'
import { podOf, saying, told, unanswered } from './plugin-clues.js'

const agentTaint: CauseRule = {
  name: 'agent-says-node-not-ready',
  source:
    'node.cilium.io/agent-not-ready is taken off by the agent; NetworkUnavailable is cleared by the agent or the cloud',
  read: report => {
    const taint = report.node?.taints.find(each =>
      /agent-not-ready|network-unavailable|cni.*not-?ready/.test(each.slice(0, 400)),
    )
    const condition = report.node?.conditions.get('NetworkUnavailable')
    if (taint === undefined && !/^true/i.test(condition ?? '')) return []
    const own = taint !== undefined && /agent-not-ready/.test(taint)
    const says =
      taint === undefined
        ? 'the node has the condition NetworkUnavailable'
        : `the node has the taint ${quoted(taint, 80)}`
    return [{ cause: 'cni-agent-down', for: [clue(says, own ? 'supports' : 'hints')] }]
  },
}

const fatal =
  /level=(?:fatal|panic)|\bpanic: |\[(?:FATAL|PANIC)\]|^F\d{4} \d\d:|"level":"(?:fatal|panic)"|exited with (?:code|status) [1-9]|\bCaught signal|segmentation violation/i

const agentDies: CauseRule = {
  name: 'agent-log-ends-fatally',
  source: 'logrus, klog, zap and Go: a fatal line or a panic ends the process',
  read: report => {
    const down = agentPodsOf(report).some(({ state }) => state !== 'ready') || unanswered(report).length > 0
    const line = report.lines.find(
      ({ from, text }) => from === 'agent-log' && fatal.test(text.slice(0, 4_000)),
    )
    if (line === undefined) return []
    const says = `the agent ends itself: ${quoted(line.text)}`
    return [{ cause: 'cni-agent-down', way: 'crashing', for: [clue(says, down ? 'supports' : 'hints')] }]
  },
}

const noRange: CauseRule = {
  name: 'node-has-no-pod-range',
  source:
    'flannel and others take the Pod range from the Node object and stop without one (kubeadm without --pod-network-cidr)',
  read: report => {
    const [message] = saying(
      report,
      /pod ?cidr (?:is )?not (?:assigned|available|set)|failed to acquire lease|no pod ?cidr|CIDRNotAvailable|waiting for (?:node|k8s) [^\n]{0,80}pod ?cidr/i,
    )
    if (message === undefined) return []
    const says = `the agent has no Pod range for this node: ${quoted(message.text)}`
    return [
      {
        cause: 'cni-agent-down',
        way: 'no-range',
        for: [clue(says, 'supports')],
        missing: ["the node's spec.podCIDR, and the controller manager's cluster-cidr"],
      },
    ]
  },
}

const probe: CauseRule = {
  name: 'agent-probe-fails',
  source: 'calico/node, cilium and others: their own readiness check',
  read: report => {
    const [message] = spokenIn(report).filter(
      spoken =>
        spoken.reading.code === 'CNI_AGENT_NOT_READY' ||
        (spoken.reading.code.startsWith('PROBE_') && agentOf(podOf(spoken)).length > 0),
    )
    if (message === undefined) return []
    return [
      {
        cause: 'cni-agent-down',
        for: [clue(told(message), 'supports')],
        missing: ["the agent's log around the failing check"],
      },
    ]
  },
}

/** What tells of an agent beside the plugin's own complaint and its Pod's state. */
export const agentSigns: CauseRule[] = [agentTaint, agentDies, noRange, probe]
