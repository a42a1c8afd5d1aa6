import type { CauseCode } from '../core/diagnosis/cause.js'
import type { Answer } from '../core/explain/explain.js'
import { context, type Message, message, section } from './blocks.js'
import { asTerminal, indent, oneLine, strong, type Text, t } from './text.js'
import { sureness } from './verdict.js'

/** Each cause as a sentence: what is the matter. */
export const causeWords: Record<CauseCode, string> = {
  'ipam-leak': 'Addresses stay reserved although no live sandbox owns them.',
  'ipam-full-no-leak':
    'The address range is used up by Pods that live, or is smaller than what may run there.',
  'cni-config-missing': 'The runtime finds no network configuration.',
  'cni-config-wrong': 'A wrong network configuration is in effect.',
  'cni-agent-down': "The node's network agent is not running, or not ready yet.",
  'cni-plugin-missing': 'A network plugin, or a program it needs, is not installed.',
  'cni-auth': "The network plugin's credential is refused.",
  'cni-del-failing': "Tearing down Pods' networks fails, so Pods stay Terminating.",
  'runtime-error': 'The container runtime, or what it runs on, fails.',
  'sandbox-name-conflict': 'The name of an earlier attempt at this sandbox is still reserved.',
  'image-pull': 'An image cannot be pulled.',
  'volume-mount': 'A volume cannot be attached or mounted.',
  'secret-or-configmap-missing': 'A Secret or ConfigMap that the Pod names does not exist.',
  'node-not-ready': 'The node is NotReady: its kubelet or runtime is not well.',
  'node-pressure': 'The node is short of disk, memory or process ids.',
  'scheduling-blocked': 'The Pod is not placed on a node.',
  'route-missing': 'A route that is needed is missing, or shadowed by a wrong one.',
  'dataplane-stale': 'Rules, bridges or maps on a node do not match what the API says.',
  'network-filtered': 'A firewall or a policy rejects or drops the packets.',
  'mtu-mismatch': 'Only large packets fail: the MTU of the path is smaller than that of the Pod.',
  'service-no-endpoints': 'The Service has no backend.',
  'app-not-listening': 'The application does not listen on the address and port that is asked.',
  'duplicate-ip': 'Two live Pods have one address.',
  'pdb-blocked': 'A PodDisruptionBudget refuses the eviction.',
  'drain-blocked': 'The drain refuses because of Pods it may not evict.',
  other: 'What was read points at no known cause.',
}

/** What, why we think so, what to do first: enough for most readers. */
export const threeSentences = (answer: Answer): Text[] => {
  const [why] = answer.hypotheses.find(({ cause }) => cause === answer.cause)?.for ?? []
  const [first] = answer.actions
  return [
    t`${strong(causeWords[answer.cause])} · ${sureness[answer.confidence]}`,
    ...(why === undefined ? [] : [t`${strong('Why:')} ${oneLine(why)}`]),
    ...(first === undefined ? [] : [t`${strong('First:')} ${oneLine(first.why)}`]),
  ]
}

const list = (title: string, lines: readonly string[]): Text[] =>
  lines.map((line, n) => (n === 0 ? t`${strong(title)} ${oneLine(line)}` : t`${indent}${oneLine(line)}`))

const hypothesisLines = ({ cause, for: pro, against, missing }: Answer['hypotheses'][number]): Text[] => [
  t`${strong(cause)}`,
  ...pro.map(line => t`${indent}for: ${oneLine(line)}`),
  ...against.map(line => t`${indent}against: ${oneLine(line)}`),
  ...missing.map(line => t`${indent}not known: ${oneLine(line)}`),
]

/** The rest, group by group. */
const rest = (answer: Answer): Text[][] =>
  [
    list(
      'Then:',
      answer.actions.slice(1).map(({ why }) => why),
    ),
    list('Careful:', answer.warnings),
    list('To be sure, ask for:', answer.ask_for),
    answer.also.length === 0
      ? []
      : list(
          'Also:',
          answer.also.map(cause => `${cause}: ${causeWords[cause]}`),
        ),
    answer.escalate_to === null ? [] : [t`${strong('Call:')} ${oneLine(answer.escalate_to)}`],
    answer.hypotheses.slice(0, 5).flatMap(hypothesisLines),
  ].filter(group => group.length > 0)

/** At a terminal; ends with a newline. */
export const explainedText = (answer: Answer, colour: boolean): string =>
  `${[threeSentences(answer), ...rest(answer)]
    .map(group => group.map(line => asTerminal(line, colour)).join('\n'))
    .join('\n\n')}\n`

export const explainedMessage = (answer: Answer): Message => {
  const sentences = threeSentences(answer)
  return message(sentences[0] ?? t``, [
    section(sentences),
    ...rest(answer).map(group => section(group, 'shortened', 2_200)),
    context([t`From what was pasted alone: nothing was asked of the cluster, nothing changed.`]),
  ])
}
