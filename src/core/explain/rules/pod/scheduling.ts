import { commandsLike, quoted } from '../../../report/ask.js'
import { podRowsOf } from '../../../report/network-agents.js'
import { nodeRowsOf } from '../../../report/node-rows.js'
import type { Report } from '../../../report/report.js'
import { type Spoken, spokenIn } from '../../../report/spoken.js'
import { type CauseRule, clue, type Suspicion } from '../../rule.js'
import { ofKind, podOf, told } from '../plugin-clues.js'

const ways: [string, RegExp][] = [
  ['cordoned', /were unschedulable|node\.kubernetes\.io\/unschedulable/i],
  ['ports', /free ports|podfitshostports|host ?ports?/i],
  [
    'volume',
    /persistentvolumeclaim|volume node affinity|persistent volumes to bind|volume zone|max volume count/i,
  ],
  ['quota', /exceeded quota|is forbidden|podsecurity/i],
  ['taint', /taint/i],
  ['resources', /insufficient|enough resource|too many pods|outof/i],
  ['selector', /didn't (?:match|satisfy)|matchnodeselector|affinity/i],
]
const wayOf = (text: string): string | undefined =>
  ways.find(([, pattern]) => pattern.test(text.slice(0, 8_192)))?.[0]

/** A Pod that got a sandbox tried later has a node: its refusals of before are over. */
const boundLater = (report: Report, message: Spoken): boolean => {
  const name = podOf(message)
  return (
    name !== '' &&
    spokenIn(report).some(
      each =>
        podOf(each) === name &&
        /^(?:Scheduled|FailedCreatePodSandBox|FailedMount|Pulling|Pulled)$/.test(each.source),
    )
  )
}

const byCondition: [Suspicion['cause'], RegExp][] = [
  ['node-pressure', /(?:disk|memory|pid)-?pressure/i],
  ['node-not-ready', /kubernetes\.io\/(?:not-ready|unreachable)|were not ready/i],
]

const parts = (text: string): string[] =>
  (text.slice(0, 4_000).split(/nodes are available: ?/i)[1] ?? text.slice(0, 4_000))
    .split(/\.\s+(?:preemption|no new)/i)[0]
    ?.split(/,\s+(?=\d|had |Insuff)/i) ?? []

const refused: CauseRule = {
  name: 'no-node-takes-the-pod',
  source:
    'kube-scheduler: FailedScheduling counts nodes by reason; a taint by a condition points to that condition',
  read: report =>
    ofKind(report, 'scheduling')
      .filter(({ text, from }) => from !== 'agent-log' && !/forbidden: User /i.test(text.slice(0, 8_192)))
      .slice(0, 5)
      .flatMap((message): Suspicion[] => {
        if (boundLater(report, message))
          return [{ cause: 'scheduling-blocked', for: [clue('the Pod had no node for a while', 'hints')] }]
        const way = wayOf(message.text)
        const each = parts(message.text)
        const cause = byCondition.find(([, pattern]) => pattern.test(message.text.slice(0, 8_192)))
        const alone = cause !== undefined && each.every(part => cause[1].test(part))
        const weight =
          alone || way === 'volume' || message.reading.code === 'SCHEDULING_NETWORK_TAINT'
            ? 'supports'
            : 'proves'
        return [
          {
            cause: 'scheduling-blocked',
            ...(way === undefined ? {} : { way }),
            for: [clue(told(message), weight)],
            missing:
              way === 'volume' ? ["the claim, its volume's node affinity, and the labels of the nodes"] : [],
          },
          ...(cause === undefined
            ? []
            : [
                {
                  cause: cause[0],
                  for: [clue('nodes are tainted for that condition', alone ? 'supports' : 'hints')],
                } satisfies Suspicion,
              ]),
        ]
      }),
}

const fewerDesired: CauseRule = {
  name: 'daemonset-desires-fewer',
  source:
    'DaemonSet controller: a node whose taints or labels keep the Pod away is not counted as desired at all',
  read: ({ rollout }) => {
    const { desired, nodesTotal, ready, name } = rollout ?? {}
    if (desired === undefined || nodesTotal === undefined || desired >= nodesTotal) return []
    const satisfied = ready === undefined || ready >= desired
    const says = `${quoted(name ?? '', 80)} desires ${desired} Pods on ${nodesTotal} nodes`
    return [
      {
        cause: 'scheduling-blocked',
        way: 'daemonset',
        for: [clue(says, satisfied ? 'proves' : 'hints')],
        missing: [
          "the taints and labels of the nodes without one, and the DaemonSet's tolerations and selector",
        ],
      },
    ]
  },
}

const pendingRows: CauseRule = {
  name: 'pods-without-node',
  source: 'kubectl: Pending without a node was not placed; Pending with one was',
  read: report => {
    const row = podRowsOf(report).find(
      each =>
        each.status === 'Pending' && each.node === undefined && /<none>/.test(each.text.slice(0, 2_000)),
    )
    if (row === undefined) return []
    const cordoned =
      report.node?.unschedulable === true ||
      nodeRowsOf(report).some(({ status }) => status.includes('SchedulingDisabled'))
    const port =
      report.rollout?.hostPort !== undefined &&
      row.name.startsWith(report.rollout.name.split('/').at(-1) ?? ' ')
    const way = port ? 'ports' : cordoned ? 'cordoned' : undefined
    return [
      {
        cause: 'scheduling-blocked',
        ...(way === undefined ? {} : { way }),
        for: [
          clue(
            `${quoted(row.name, 80)} is Pending and has no node`,
            way === undefined ? 'hints' : 'supports',
          ),
        ],
        missing: ["the Pod's FailedScheduling event"],
      },
    ]
  },
}

const cordonedNodes: CauseRule = {
  name: 'nodes-cordoned',
  source: 'kubectl: SchedulingDisabled; a drain or upgrade that ended early leaves it',
  read: report => {
    const rows = nodeRowsOf(report).filter(({ status }) => status.includes('SchedulingDisabled'))
    const waiting =
      /\bpending\b/i.test(report.symptom?.slice(0, 4_000) ?? '') ||
      commandsLike(report, /\buncordon\b/).length > 0
    return rows[0] === undefined
      ? []
      : [
          {
            cause: 'scheduling-blocked',
            way: 'cordoned',
            for: [clue(`${rows.length} listed nodes are cordoned`, waiting ? 'supports' : 'hints')],
            missing: ['who cordoned them and why'],
          },
        ]
  },
}

export const schedulingRules: CauseRule[] = [refused, fewerDesired, pendingRows, cordonedNodes]
