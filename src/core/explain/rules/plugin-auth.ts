import { linesWith, quoted, told as environment } from '../../report/ask.js'
import { agentPodsOf, isForeign, networkOfPlugin, podRowsOf } from '../../report/network-agents.js'
import type { Report } from '../../report/report.js'
import { type Spoken, spokenIn } from '../../report/spoken.js'
import { type CauseRule, type Clue, clue, type Suspicion } from '../rule.js'
import { ofKind, told } from './plugin-clues.js'

/** What is refused decides what is done: another cluster's CA, a clock, a permission, or a credential whose time is over. */
const kinds: [way: string, RegExp][] = [
  [
    'clock',
    /not (?:yet )?valid[^\n]{0,80}is before|token (?:is )?(?:used before issued|not valid yet)|issued in the future|clock (?:skew|is off)/i,
  ],
  [
    'other-cluster',
    /unknown authority|verification error|signed by unknown|certificate is (?:not )?valid for|certificate is not trusted/i,
  ],
  [
    'permission',
    /forbidden|cannot (?:get|list|watch|create|update|patch|delete) resource|not authorized to perform|UnauthorizedOperation|AccessDenied|AuthorizationFailed|does not have authorization/i,
  ],
  ['expired', /expired|ExpiredToken/i],
]
const wayOf = (text: string): string =>
  kinds.find(([, pattern]) => pattern.test(text.slice(0, 8_192)))?.[0] ?? 'token'

/** Nothing of a network agent where all Pods were listed: the credential cannot be of something that runs. */
const noAgent = (report: Report): boolean => {
  const asked = report.commands.find(
    ({ cmd }) =>
      /\bget\s+(?:pods?|po|ds|daemonsets?|all)\b/.test(cmd.slice(0, 400)) &&
      /grep|-n |--namespace|-A|--all-namespaces/.test(cmd.slice(0, 400)),
  )
  const network = /calico|cilium|flannel|weave|multus|antrea|tigera|kube-system|-A|--all/i
  const empty =
    asked !== undefined && network.test(asked.cmd.slice(0, 400)) && asked.output.join('').trim() === ''
  return (
    empty ||
    (podRowsOf(report).length > 5 && agentPodsOf(report).length === 0 && report.rollout === undefined)
  )
}

const leftover = (report: Report): Suspicion => {
  const says = noAgent(report)
    ? 'no network agent runs here: the files are left over from an earlier network or cluster'
    : 'a certificate of another authority is what a kubeconfig of an earlier cluster has'
  return {
    cause: 'cni-config-wrong',
    way: 'leftover',
    for: [clue(says, noAgent(report) ? 'supports' : 'hints')],
  }
}

const refused: CauseRule = {
  name: 'plugin-credential-refused',
  source:
    'Kubernetes API: 401 for a credential that is not (any more) known, 403 for a permission, x509 for certificates; projectcalico/calico#4857, #6546',
  read: report => {
    const messages = ofKind(report, 'agent-refused')
    const [message] = messages
    if (message === undefined) return []
    const way = wayOf(message.text)
    const called = [message.reading.plugin, ...message.reading.delegates]
    const foreign = called.some(each => isForeign(report, networkOfPlugin(each)))
    const weight: Clue['weight'] = foreign
      ? 'hints'
      : way === 'token' || way === 'expired'
        ? 'proves'
        : 'supports'
    const clues = [clue(told(message), weight)]
    if (way === 'other-cluster' && noAgent(report))
      clues.push(clue("no agent runs that would keep the plugin's credential up to date", 'supports'))
    if (
      messages.some(({ reading }) => reading.operation === 'del') &&
      messages.some(({ reading }) => reading.operation === 'add')
    )
      clues.push(clue('both making and removing a sandbox are refused', 'hints'))
    return [
      {
        cause: 'cni-auth',
        way,
        for: clues,
        missing: [
          "the token or certificate in the plugin's kubeconfig: expiry, issuer, audience",
          "the node's clock against the API server's",
        ],
      },
      ...(way === 'other-cluster' ? [leftover(report)] : []),
    ]
  },
}

const apiRefusal =
  /\bunauthorized\b|\bforbidden\b|x509: |must be logged in|token (?:has )?expired|certificate has expired|unable to create token|invalid bearer token/i
const toPull = /image|registry|manifest|pull/i

/** Lines of the agent itself; of kube-proxy and the kubelet where the same source was used for them, so: not sure. */
const agentRefused: CauseRule = {
  name: 'agent-credential-refused',
  source:
    "an agent's own service account or cloud role is refused: projectcalico/calico#8368, amazon-vpc-cni UnauthorizedOperation",
  read: report => {
    const lines = spokenIn(report).filter(
      ({ from, text, reading }) =>
        from === 'agent-log' && reading.kind !== 'image' && apiRefusal.test(text.slice(0, 8_192)),
    )
    const [line] = lines.filter(({ text }) => !toPull.test(text.slice(0, 2_000)))
    if (line === undefined) return []
    return [
      {
        cause: 'cni-auth',
        way: wayOf(line.text),
        for: [clue(`the agent is refused: ${quoted(line.text)}`, 'supports')],
        missing: ["the agent's service account token and its permissions"],
      },
    ]
  },
}

const cloud =
  /UnauthorizedOperation|not authorized to perform|AccessDenied(?:Exception)?\b|NoCredentialProviders|failed to refresh cached credentials|ExpiredToken|AuthorizationFailed|no EC2 IMDS role found|AssumeRoleWithWebIdentity/
const cloudNetwork = /aws-node|vpc.cni|ipamd|aws-cni|azure|\bENI\b|NetworkInterface|PrivateIp/i

const cloudRefused: CauseRule = {
  name: 'cloud-role-refused',
  source: "EC2 and Azure APIs: the network agent's own role may not create interfaces or addresses",
  read: report => {
    const stack = environment(report, 'cni', 'network', 'distro')
    const [line] = linesWith(report, cloud).filter(
      ({ text }) => cloudNetwork.test(`${text.slice(0, 4_000)} ${stack}`) && !toPull.test(text.slice(0, 300)),
    )
    if (line === undefined) return []
    return [
      {
        cause: 'cni-auth',
        way: 'permission',
        for: [clue(`the cloud refuses the network agent: ${quoted(line.text)}`, 'supports')],
        missing: ['the role that the agent uses on this node'],
      },
    ]
  },
}

const clockNote = (spoken: Spoken): Clue =>
  clue(`a clock or a date is part of it: ${quoted(spoken.text)}`, 'hints')

const oldFiles: CauseRule = {
  name: 'clock-differs',
  source: 'x509 and JWT: validity is judged by the clock of the one who checks',
  read: report => {
    const refusals = ofKind(report, 'agent-refused')
    const [spoken] = spokenIn(report).filter(({ text }) =>
      /time (?:has been )?(?:changed|jumped)|clock (?:unsynchroni[sz]ed|skew)|System clock synchronized: no|NTP (?:service: inactive|synchronized: no)/i.test(
        text.slice(0, 2_000),
      ),
    )
    return refusals.length === 0 || spoken === undefined
      ? []
      : [{ cause: 'cni-auth', way: 'clock', for: [clockNote(spoken)] }]
  },
}

export const authRules: CauseRule[] = [refused, agentRefused, cloudRefused, oldFiles]
