import { quoted } from '../../report/ask.js'
import { readDuration } from '../../report/duration.js'
import { type AgentPod, agentOf, agentPodsOf, podRowsOf, stateOf } from '../../report/network-agents.js'
import type { Report } from '../../report/report.js'
import { type Spoken, spokenIn } from '../../report/spoken.js'
import { type CauseRule, type Clue, clue } from '../rule.js'
import { agentSigns } from './plugin-agent-signs.js'
import { isProbe, ofKind, podOf, told, unanswered } from './plugin-clues.js'

const minute = 60_000

/** Nothing that failed lasted long, or the node says that it has just come up. */
const isYoung = (report: Report): boolean => {
  const up = report.commands
    .filter(({ cmd }) => /\buptime\b|\bwho -b\b/.test(cmd.slice(0, 400)))
    .flatMap(({ output }) => output.slice(0, 5))
    .map(line => /\bup\s{1,3}(\d{1,5}) min(?!.*(?:day|hour|week))/.exec(line.slice(0, 400))?.[1])
    .find(each => each !== undefined)
  if (up !== undefined) return Number(up) <= 10
  const failing = spokenIn(report).filter(
    ({ from, reading }) => from === 'event' && reading.kind === 'agent-down',
  )
  const longest = Math.max(-1, ...failing.map(({ overMs }) => overMs ?? -1))
  const ages = agentPodsOf(report).map(({ text }) =>
    readDuration(/\s((?:\d{1,4}[dhms]){1,3})(?:\s|$)/.exec(text.slice(-400))?.[1] ?? ''),
  )
  return longest >= 0 && longest < 3 * minute && ages.every(age => age !== undefined && age < 5 * minute)
}

const agentIsSilent: CauseRule = {
  name: 'plugin-cannot-reach-agent',
  source:
    'flannel subnet.env, calico nodename, the sockets and ports of cilium, aws-node, weave, multus, antrea: what a plugin needs of its agent',
  read: report => {
    const [message] = unanswered(report).filter(each => !isProbe(each))
    if (message === undefined) return []
    const rows = agentPodsOf(report)
    const runs = rows.length > 0 && rows.every(({ state }) => state === 'ready')
    return [
      {
        cause: 'cni-agent-down',
        ...(isYoung(report) ? { way: 'starting' } : {}),
        for: [clue(told(message), 'supports')],
        against: runs ? [clue("the agent's Pod is shown as running and ready", 'hints')] : [],
        missing:
          rows.length > 0
            ? []
            : ["the state of the network agent's Pod on this node, and the end of its log"],
      },
    ]
  },
}

/** Pods on the host network need no plugin: when such a one crashes too, the agent's crash has a reason of its own. */
const otherVictims = (report: Report, agents: readonly AgentPod[]): string[] => {
  const nodes = new Set(agents.map(({ node }) => node))
  return podRowsOf(report)
    .filter(
      ({ name, node }) =>
        /^(?:kube-proxy|kube-apiserver|kube-scheduler|kube-controller|etcd|node-exporter)/.test(name) &&
        nodes.has(node),
    )
    .filter(row => stateOf(row) === 'crashing')
    .map(({ name }) => name)
}

const crashEvents = (report: Report): Spoken[] =>
  spokenIn(report).filter(
    spoken =>
      spoken.reading.code === 'CNI_AGENT_CRASHING' ||
      (spoken.from === 'event' &&
        agentOf(podOf(spoken)).length > 0 &&
        /back-?off restarting failed|OOMKill/i.test(spoken.text.slice(0, 2_000))),
  )

const agentCrashes: CauseRule = {
  name: 'agent-crashes',
  source: 'kubelet: CrashLoopBackOff, Error and BackOff of a Pod of the network agent',
  read: report => {
    const rows = agentPodsOf(report).filter(({ state }) => state === 'crashing' || state === 'evicted')
    const [row] = rows
    const [event] = crashEvents(report)
    if (row === undefined && event === undefined) return []
    const shared = otherVictims(report, rows)
    const fails =
      unanswered(report).some(each => !isProbe(each)) || ofKind(report, 'config-missing').length > 0
    const weight = fails && shared.length === 0 ? 'proves' : 'supports'
    const says = row
      ? `${quoted(row.name, 80)} is ${quoted(row.status, 40)}`
      : `a container of ${quoted(event ? podOf(event) : '', 80)} crashes again and again`
    const own = "the previous log of the agent's container, and its exit code"
    if (shared.length === 0)
      return [{ cause: 'cni-agent-down', way: 'crashing', for: [clue(says, weight)], missing: [own] }]
    const both = `${shared
      .map(name => quoted(name, 60))
      .slice(0, 3)
      .join(', ')} crashes on the same node and needs no plugin`
    const asked = [
      'the previous log of both Pods',
      "the runtime, its cgroup driver and the host's way to the API server",
    ]
    return [
      {
        cause: 'cni-agent-down',
        way: 'crashing',
        for: [clue(says, weight)],
        against: [clue(both, 'supports')],
        missing: [own, ...asked],
      },
      { cause: 'runtime-error', for: [clue(both, 'hints')] },
    ]
  },
}

const agentWaits: CauseRule = {
  name: 'agent-not-yet-up',
  source:
    "an agent's init containers write the configuration and the binaries, and the agent itself its state: until then every setup fails and is tried again",
  read: report => {
    const rows = agentPodsOf(report).filter(({ state }) => state === 'waiting' || state === 'unready')
    const [row] = rows
    if (row === undefined) return []
    const message = unanswered(report).find(each => !isProbe(each))
    const weight: Clue['weight'] = message
      ? 'proves'
      : row.state === 'unready' && ofKind(report, 'config-missing').length === 0
        ? 'supports'
        : 'hints'
    const says = `${quoted(row.name, 80)} is not up yet: ${quoted(row.status, 40)}`
    return [
      {
        cause: 'cni-agent-down',
        ...(isYoung(report) ? { way: 'starting' } : {}),
        for: [clue(says, weight)],
        missing: [`the log of the container that ${quoted(row.status, 40)} waits for`],
      },
    ]
  },
}

const agentMissing: CauseRule = {
  name: 'agent-not-on-node',
  source: "apps/v1 DaemonSet status: fewer ready than desired, this node's missing",
  read: report => {
    const { rollout, node } = report
    if (rollout === undefined || agentOf(rollout.name).length === 0) return []
    const { desired, ready, missingNode } = rollout
    if (desired === undefined || ready === undefined || ready >= desired) return []
    const here = missingNode !== undefined && (node?.name === undefined || node.name === missingNode)
    const fails = unanswered(report).length > 0
    const says = `${quoted(rollout.name, 80)} is ready on ${ready} of ${desired} nodes${here ? ', not on this one' : ''}`
    return [{ cause: 'cni-agent-down', for: [clue(says, fails && here ? 'supports' : 'hints')] }]
  },
}

export const agentRules: CauseRule[] = [agentIsSilent, agentCrashes, agentWaits, agentMissing, ...agentSigns]
