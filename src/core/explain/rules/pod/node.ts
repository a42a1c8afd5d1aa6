import { linesWith, quoted } from '../../../report/ask.js'
import { nodeRowsOf } from '../../../report/node-rows.js'
import type { Report } from '../../../report/report.js'
import { type Spoken, spokenIn } from '../../../report/spoken.js'
import { type CauseRule, type Clue, clue, type Suspicion } from '../../rule.js'
import { ofCode, told } from '../plugin-clues.js'

const networkOnly =
  /network (?:plugin )?(?:is )?not ready|NetworkPluginNotReady|NetworkReady=false|cni (?:config|plugin)[^\n]{0,40}(?:uninitialized|not initialized)/i
const hang =
  /pleg (?:is not healthy|was last seen|has yet to be)|context deadline exceeded|runtime status check/i
const posts = /stopped posting node status|NodeStatusUnknown|NodeStatusNeverUpdated|never posted node status/i

const asKubelet = (cause: Suspicion['cause'], way: string | undefined, clues: Clue[]): Suspicion => ({
  cause,
  ...(way === undefined ? {} : { way }),
  for: clues,
})

const condition: CauseRule = {
  name: 'ready-condition',
  source: 'Kubernetes, node status: Ready is False where the kubelet says so, Unknown where it is silent',
  read: ({ node }) => {
    const ready = node?.conditions.get('Ready')
    if (ready !== 'False' && ready !== 'Unknown') return []
    const said = `${node?.readyReason ?? ''} ${node?.readyMessage ?? ''}`.slice(0, 8_192)
    const shown = `Ready is ${ready}: ${quoted(said)}`
    if (networkOnly.test(said) && !hang.test(said)) return []
    if (hang.test(said)) return [asKubelet('node-not-ready', 'hang', [clue(shown, 'proves')])]
    if (ready === 'Unknown' || posts.test(said))
      return [asKubelet('node-not-ready', 'kubelet-stopped', [clue(shown, 'proves')])]
    return [asKubelet('node-not-ready', undefined, [clue(shown, 'supports')])]
  },
}

const listed: CauseRule = {
  name: 'node-listed-not-ready',
  source: 'kubectl get nodes: NotReady',
  read: report => {
    const row = nodeRowsOf(report).find(({ status }) => /^(?:NotReady|Unknown)/.test(status))
    if (row === undefined) return []
    const byNetwork = spokenIn(report).some(({ text }) => networkOnly.test(text.slice(0, 8_192)))
    return [
      {
        cause: 'node-not-ready',
        for: [clue(`${quoted(row.name, 80)} is ${quoted(row.status, 40)}`, byNetwork ? 'hints' : 'supports')],
        against: byNetwork ? [clue('the network is what the node names as not ready', 'supports')] : [],
        missing: ["the node's Ready condition with its message, and the kubelet's journal there"],
      },
    ]
  },
}

/** What keeps a kubelet from starting, the reason it gives. */
const startFailures: [string, RegExp][] = [
  ['swap', /running with swap on is not supported|disable swap/i],
  [
    'certificate',
    /(?:client )?certificate[^\n]{0,80}(?:has )?expired|x509: certificate has expired|bootstrap-kubelet\.conf: no such file/i,
  ],
  [
    'kubelet-stopped',
    /failed to run kubelet|kubelet(?:\.service)?: (?:main process exited|failed with result|start request repeated)|failed to load kubelet config|unknown (?:flag|shorthand flag)[^\n]{0,60}|failed to validate kubelet (?:configuration|flags)/i,
  ],
]
const kubeletUnit = /kubelet|k3s|rke2|k0s|microk8s/i

const ofKubelet = ({ from, source, text }: Spoken): boolean =>
  (from === 'journal' && kubeletUnit.test(source)) ||
  /\bkubelet\b|\bk3s\b|\brke2\b/i.test(text.slice(0, 2_000))

const kubeletLog: CauseRule = {
  name: 'kubelet-does-not-start',
  source:
    "kubelet's own log: fail-swap-on, configuration, client certificates (kubernetes.io, PKI certificates)",
  read: report => {
    const said = spokenIn(report).filter(
      each =>
        ofKubelet(each) && each.reading.kind !== 'runtime-error' && !each.reading.code.startsWith('IMAGE_'),
    )
    for (const [way, pattern] of startFailures) {
      const message = said.find(({ text }) => pattern.test(text.slice(0, 8_192)))
      if (message === undefined) continue
      const down = nodeDown(report)
      const cni = message.reading.causes[0] === 'cni-auth' || /\bcni\b/i.test(message.text.slice(0, 8_192))
      if (cni) continue
      return [
        asKubelet('node-not-ready', way, [
          clue(
            `the kubelet cannot work: ${quoted(message.text.slice(-600))}`,
            down || way === 'swap' ? 'proves' : 'supports',
          ),
        ]),
      ]
    }
    return []
  },
}

const nodeDown = (report: Report): boolean =>
  /^(?:False|Unknown)$/.test(report.node?.conditions.get('Ready') ?? '') ||
  nodeRowsOf(report).some(({ status }) => status.startsWith('NotReady')) ||
  /not ?ready/i.test(report.symptom?.slice(0, 4_000) ?? '')

const messages: CauseRule = {
  name: 'node-health-messages',
  source: 'kubelet: PLEG; node lifecycle controller: node status that was not posted',
  read: report => {
    const pleg = ofCode(report, 'PLEG_UNHEALTHY').slice(0, 3)
    const silent = spokenIn(report).filter(({ text }) => posts.test(text.slice(0, 8_192)))
    const other = ofCode(report, 'NODE_NOT_READY').filter(
      ({ text }) => !networkOnly.test(text.slice(0, 8_192)),
    )
    return [
      ...pleg.map(each =>
        asKubelet('node-not-ready', 'hang', [clue(told(each), nodeDown(report) ? 'proves' : 'supports')]),
      ),
      ...silent
        .slice(0, 2)
        .map(each => asKubelet('node-not-ready', 'kubelet-stopped', [clue(told(each), 'proves')])),
      ...other
        .slice(0, 2)
        .map(each =>
          asKubelet('node-not-ready', undefined, [clue(told(each), nodeDown(report) ? 'supports' : 'hints')]),
        ),
    ]
  },
}

const hungCall: CauseRule = {
  name: 'runtime-call-hangs',
  source: 'timeout(1): exit 124 where the command was still running; docker ps, crictl ps',
  read: report => {
    const [line] = linesWith(report, /\brc=124\b|exit(?:ed)?(?: code| status)? 124\b/, 'command').filter(
      ({ source }) => /\b(?:docker|crictl|ctr|nerdctl|podman)\b/.test(source.slice(0, 2_000)),
    )
    return line === undefined || !nodeDown(report)
      ? []
      : [
          asKubelet('node-not-ready', 'hang', [
            clue(`${quoted(line.source, 60)} did not come back`, 'supports'),
          ]),
        ]
  },
}

export const nodeRules: CauseRule[] = [condition, listed, kubeletLog, messages, hungCall]
