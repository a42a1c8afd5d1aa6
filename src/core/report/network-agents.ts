import { told } from './ask.js'
import { once } from './once.js'
import { readPodRow } from './pod-row.js'
import type { PodRow, Report } from './report.js'

/** Network solutions that run an agent on every node. */
export type Network =
  | 'antrea'
  | 'aws'
  | 'azure'
  | 'calico'
  | 'cilium'
  | 'flannel'
  | 'kindnet'
  | 'kube-ovn'
  | 'kube-router'
  | 'multus'
  | 'openshift-sdn'
  | 'ovn'
  | 'terway'
  | 'weave'

/** Names of the agents' Pods and DaemonSets, plugin types, and how people and files name the solution. */
const networks: Record<Network, { agent: RegExp; plugin: RegExp; word: RegExp }> = {
  antrea: { agent: /^antrea-agent/, plugin: /^antrea/, word: /antrea/ },
  aws: { agent: /^aws-node/, plugin: /^(?:aws-cni|egress-cni|egress-v\d-cni)/, word: /aws|vpc.cni|\beks\b/ },
  azure: { agent: /^azure-(?:cni|cns|ip-masq)/, plugin: /^azure-/, word: /azure/ },
  calico: { agent: /^(?:calico-node|canal)/, plugin: /^calico/, word: /calico|canal|tigera/ },
  cilium: {
    agent: /^cilium(?:-agent)?(?:-[a-z0-9]{5})?$|^cilium-agent/,
    plugin: /^cilium/,
    word: /cilium/,
  },
  flannel: { agent: /^(?:kube-)?flannel|^canal/, plugin: /^flannel/, word: /flannel|canal/ },
  kindnet: { agent: /^kindnet/, plugin: /^kindnet/, word: /kindnet/ },
  'kube-ovn': { agent: /^kube-ovn-cni|^ovs-ovn/, plugin: /^kube-ovn/, word: /kube-?ovn/ },
  'kube-router': { agent: /^kube-router/, plugin: /^kube-router/, word: /kube-?router/ },
  multus: { agent: /^(?:kube-)?multus/, plugin: /^multus/, word: /multus/ },
  'openshift-sdn': { agent: /^sdn-(?!controller)/, plugin: /^openshift-sdn/, word: /openshift.sdn/ },
  ovn: { agent: /^ovnkube/, plugin: /^ovn-k8s/, word: /\bovn-?k|ovnkube/ },
  terway: { agent: /^terway/, plugin: /^terway/, word: /terway/ },
  weave: { agent: /^weave-net/, plugin: /^weave/, word: /weave/ },
}
const entries = Object.entries(networks) as [Network, (typeof networks)[Network]][]

/** Which networks' agent has this name, a Pod's or a DaemonSet's, a namespace before it or not. */
export const agentOf = (name: string): Network[] => {
  const bare = name.slice(0, 260).split('/').at(-1) ?? ''
  return entries.filter(([, { agent }]) => agent.test(bare)).map(([network]) => network)
}

/** Which network a plugin's type belongs to; undefined for those that any network may use: bridge, host-local, portmap. */
export const networkOfPlugin = (plugin: string | undefined): Network | undefined =>
  plugin === undefined ? undefined : entries.find(([, each]) => each.plugin.test(plugin))?.[0]

/** Which networks a file's name or a person's words name. */
export const networksNamed = (text: string): Network[] =>
  entries.filter(([, { word }]) => word.test(text.slice(0, 2_000).toLowerCase())).map(([network]) => network)

const printsPods = /\bget\s+(?:[\w,]{0,40},)?(?:pods?|po|all)\b/

/** Pods that were told, and those that a command printed. */
export const podRowsOf = once((report: Report): PodRow[] => [
  ...report.pods,
  ...report.commands
    .filter(({ cmd }) => printsPods.test(cmd.slice(0, 2_000)))
    .flatMap(({ output }) => output.slice(0, 2_000).flatMap(line => readPodRow(line) ?? []))
    .filter(({ ready }) => ready !== undefined),
])

export interface AgentPod extends PodRow {
  networks: Network[]
  state: 'ready' | 'crashing' | 'waiting' | 'image' | 'evicted' | 'unready'
}

const states: [AgentPod['state'], RegExp][] = [
  [
    'image',
    /ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull|ImageInspectError|RegistryUnavailable/,
  ],
  ['crashing', /CrashLoop|Error$|OOMKilled|ContainerCannotRun|ExitCode|Signal:|DeadlineExceeded/],
  ['evicted', /Evicted|OutOf|Preempt|Shutdown|^Failed/],
  ['waiting', /^Init:|PodInitializing|ContainerCreating|Pending|Terminating|Unknown/],
]

export const stateOf = ({ status, ready, containers }: PodRow): AgentPod['state'] => {
  const named = states.find(([, pattern]) => pattern.test(status.slice(0, 200)))?.[0]
  if (named) return named
  return ready !== undefined && containers !== undefined && ready < containers ? 'unready' : 'ready'
}

/** Pods of network agents; on the node that the report is about, where both name one. */
export const agentPodsOf = (report: Report): AgentPod[] => {
  const here = report.node?.name ?? report.rollout?.missingNode
  return podRowsOf(report)
    .map(row => ({ ...row, networks: agentOf(row.name), state: stateOf(row) }))
    .filter(({ networks: of }) => of.length > 0)
    .filter(
      ({ node, state }) => here === undefined || node === undefined || node === here || state !== 'ready',
    )
}

const gone =
  /\b(?:removed|uninstalled|deleted|replaced|former(?:ly)?|old|previous(?:ly)?|earlier|migrated|was|no longer|left ?over|instead of)\b/

/** Networks that the environment names, without those it tells are gone. */
const toldNetworks = (report: Report): Network[] =>
  told(report, 'cni', 'network', 'cni_plugin')
    .slice(0, 2_000)
    .split(/[;,()]/)
    .filter(part => !gone.test(part))
    .flatMap(networksNamed)

const listsAgents =
  /\bget\s+(?:[\w,]{0,40},)?(?:ds|daemonsets?(?:\.apps)?|pods?|po|all)\b(?=.{0,200}(?:-A\b|--all-namespaces|kube-system))/

/** Names of what runs in the agents' namespaces, where a command listed all of it. */
const listedAgents = ({ commands }: Report): string[] | undefined => {
  const lists = commands.filter(
    ({ cmd }) =>
      listsAgents.test(cmd.slice(0, 2_000)) && !/\bgrep\b|\s-l\s|--selector/.test(cmd.slice(0, 2_000)),
  )
  const rows = lists.flatMap(({ output }) => output.slice(0, 2_000))
  return rows.length < 2
    ? undefined
    : rows.flatMap(line => line.slice(0, 400).trim().split(/\s+/).slice(0, 2))
}

/** What this cluster runs, as far as its agents and the environment tell; empty where nothing does. */
export const networksOf = once((report: Report): Set<Network> => {
  const listed = listedAgents(report)
  const seen = [
    ...podRowsOf(report).map(({ name }) => name),
    ...(listed ?? []),
    report.rollout?.name ?? '',
  ].flatMap(agentOf)
  // A list that has an agent of the network has that of a second one too, if there is one.
  const complete = listed?.some(name => agentOf(name).length > 0) === true
  return new Set([...(complete ? [] : toldNetworks(report)), ...seen])
})

/** A plugin of a network that this cluster does not run, as far as it is known what it runs. */
export const isForeign = (report: Report, network: Network | undefined): boolean => {
  if (network === undefined) return false
  const own = networksOf(report)
  const main = [...own].filter(each => each !== 'multus')
  return main.length > 0 && !own.has(network)
}
