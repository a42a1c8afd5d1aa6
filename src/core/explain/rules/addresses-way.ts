import { many } from '../../diagnosis/facts.js'
import { givesUpAfterOneDel, skipsDelUntil, trustsDamagedCache } from '../../diagnosis/runtime-version.js'
import { addressesOf } from '../../report/addresses.js'
import { linesWith, messagesWith, quoted, told } from '../../report/ask.js'
import { conflistsIn } from '../../report/range-sets.js'
import type { Report } from '../../report/report.js'
import { runtimeSeen } from '../../report/runtime-seen.js'
import type { CauseRule, Clue, Suspicion } from '../rule.js'
import { failedTeardowns } from './addresses-teardown.js'

/** Why addresses leak is only asked where some do, or may. */
const leaking = (report: Report): boolean => {
  const sum = addressesOf(report)
  return (
    sum.manager === 'host-local' &&
    !sum.outside &&
    ((sum.unowned ?? 0) >= 4 || (sum.said && sum.by === undefined) || sum.emptyFiles > 0)
  )
}

const leak = (way: string, clues: Clue[], missing: string[] = []): Suspicion => ({
  cause: 'ipam-leak',
  way,
  for: clues,
  missing,
})

/** A rule on how a leak came about; silent where nothing leaks. */
const onLeak = (name: string, source: string, read: (report: Report) => Suspicion[]): CauseRule => ({
  name,
  source,
  read: report => (leaking(report) ? read(report) : []),
})

const skipped = onLeak(
  'runtime-skips-del',
  'containerd#10744, fixed with #12923: no DEL is sent for a sandbox whose network setup left no result',
  report => {
    const runtime = runtimeSeen(report)
    const fixed = runtime && skipsDelUntil(runtime)
    if (!runtime || fixed === undefined) return []
    const says = `containerd ${runtime.version} sends no DEL for a sandbox whose setup was cut short, and logs nothing of it; fixed in ${fixed}`
    return [
      leak(
        'runtime-skips-del',
        [{ says, weight: 'hints' }],
        [
          `whether ${runtime.version} ran already when they leaked: the journal neither supports nor excludes it`,
        ],
      ),
    ]
  },
)

const givesUp = onLeak(
  'runtime-gives-up',
  'cri-o commit e1bf924809: one failed teardown ends it and the cache entry is deleted',
  report => {
    const runtime = runtimeSeen(report)
    if (!runtime || !givesUpAfterOneDel(runtime)) return []
    const says = `CRI-O ${runtime.version} gives a teardown up after one failure and forgets the network`
    return [leak('runtime-gives-up', [{ says, weight: 'hints' }])]
  },
)

const cut = /context (?:canceled|deadline exceeded)|DeadlineExceeded|signal: killed|operation timed? ?out/i
const unstarted =
  /failed to start sandbox (?:container )?task|failed to create (?:containerd|shim) task|OCI runtime (?:create|start) failed/i

const expired = onLeak(
  'cleanup-with-expired-context',
  'containerd#5438: after a timeout the cleanup runs with the context that has expired already, and no plugin is executed',
  report => {
    const lines = failedTeardowns(report).filter(({ text }) => cut.test(text.slice(0, 8_192)))
    const [first] = lines
    if (first === undefined) return []
    const runtime = runtimeSeen(report)
    const old =
      runtime?.name === 'containerd' &&
      /^1\.[0-4]\.|^1\.5\.([0-9]|1[0-4])$|^1\.6\.[0-8]$/.test(runtime.version)
    const fix = old
      ? `; containerd ${runtime.version} forgets such a sandbox, 1.5.15, 1.6.9 and 1.7.0 keep it listed and try again`
      : ''
    const [start] = messagesWith(report, unstarted)
    const says = `a teardown was cut off before any plugin ran${fix}: ${quoted(first.text)}`
    return [
      leak(
        'expired-context',
        [{ says, weight: 'supports' }],
        ['why sandboxes start so slowly that they are given up'],
      ),
      ...(start
        ? [
            {
              cause: 'runtime-error' as const,
              for: [
                {
                  says: `sandboxes are given up while the runtime starts them: ${quoted(start.text)}`,
                  weight: 'supports' as const,
                },
              ],
            },
          ]
        : []),
    ]
  },
)

const noVersion = /failed to convert major version part|Atoi: parsing \\*"\\*": invalid|no cniVersion/i

const unversioned = onLeak(
  'conflist-without-cniversion',
  'cri-o#2410: a configuration without cniVersion can be ADDed but not DELeted by some libcni releases',
  report => {
    const [line] = messagesWith(report, noVersion)
    const bare = conflistsIn(report).some(
      ({ cniVersion, plugins }) => cniVersion === undefined && plugins !== undefined,
    )
    const clues: Clue[] = [
      ...(line
        ? [
            {
              says: `teardown stops at the version of the configuration: ${quoted(line.text)}`,
              weight: 'supports' as const,
            },
          ]
        : []),
      ...(bare
        ? [
            {
              says: 'the configuration names no cniVersion',
              weight: line ? ('supports' as const) : ('hints' as const),
            },
          ]
        : []),
    ]
    return clues.length > 0 ? [leak('no-cniversion', clues)] : []
  },
)

const forks =
  /resource temporarily unavailable|cannot allocate memory|pthread_create failed|can(?:not|'t) fork|too many (?:open files|processes)/i

const exhaustedNode = onLeak(
  'no-process-for-teardown',
  'fork(2) EAGAIN: a node without free process ids runs no plugin, so a teardown frees nothing either',
  report => {
    const [line] = linesWith(report, forks)
    if (line === undefined) return []
    const says = `the node cannot start another process, so plugins do not run, in teardown either: ${quoted(line.text)}`
    const missing = ['how many threads each process has, against pid_max and the cgroup limits']
    return [
      leak('process-exhaustion', [{ says, weight: 'supports' }], missing),
      { cause: 'runtime-error', for: [{ says, weight: 'supports' }], missing },
    ]
  },
)

const tool = /executable file not found in \$PATH|failed to find plugin/i

const swallowed = onLeak(
  'teardown-without-tool',
  'go-cni Remove and dockershim take "not found" for done; containerd#12130: a chained plugin that is missing stops the rollback',
  report => {
    const [line] = messagesWith(report, tool)
    if (line === undefined) return []
    const says = `a plugin before host-local cannot run in teardown, and the runtime takes "not found" for done: ${quoted(line.text)}`
    return [leak('chained-plugin-missing', [{ says, weight: 'supports' }])]
  },
)

const scratch = onLeak(
  'damaged-note',
  'containernetworking/cni#1055, flannel-io/cni-plugin#43, multus-cni#948: a teardown stops at a note of 0 bytes, or skips the plugin silently',
  report => {
    const [line] = messagesWith(
      report,
      /cached result.{0,200}(?:unexpected end of JSON|decoding version)|failed to (?:parse|load) netconf/i,
    )
    if (line === undefined) return []
    const runtime = runtimeSeen(report)
    const trusts = runtime && trustsDamagedCache({ ...runtime, version: `${runtime.version}.0` })
    const fix =
      trusts === true && runtime
        ? `; ${runtime.name} ${runtime.version} is built with a libcni that stops there, containerd 2.0 and CRI-O 1.31 ignore it`
        : ''
    return [
      leak('damaged-cache', [
        { says: `a note about the network is damaged${fix}: ${quoted(line.text)}`, weight: 'supports' },
      ]),
    ]
  },
)

const refused = onLeak(
  'agent-refuses-teardown',
  'a plugin that needs its agent or the API cannot give an address back without it',
  report => {
    const line = failedTeardowns(report).find(
      ({ reading }) => reading?.kind === 'agent-down' || reading?.kind === 'agent-refused',
    )
    if (line === undefined) return []
    return [
      leak('agent-refuses-del', [
        { says: `teardown fails at the network agent: ${quoted(line.text)}`, weight: 'supports' },
      ]),
    ]
  },
)

const anyFailure = onLeak(
  'teardown-failures-told',
  'runtime and kubelet journals: DELs that failed',
  report => {
    const lines = failedTeardowns(report)
    const [first] = lines
    if (first === undefined) return []
    return [
      {
        cause: 'ipam-leak',
        for: [
          {
            says: `${many(lines.length, 'line')} of failed teardown, as ${quoted(first.text)}`,
            weight: 'supports',
          },
        ],
      },
    ]
  },
)

const rebooted =
  /\bsystem boot\b|^reboot\s|\breboot(?:s|ed|ing)?\b|power (?:loss|cut|outage|blip|cycle)|unclean shutdown|kernel panic|before boot|\bup [1-9]\d? min/i
const perDay = /^\s*(\d{1,6})\s+\d{4}-\d\d-\d\d/

const reboots = onLeak(
  'kept-over-reboot',
  'containernetworking/plugins#252, containerd/cri#948: the store survives on disk, the namespaces do not, and nobody sends a DEL for them',
  report => {
    const samples =
      report.store?.sample.filter(each => /before (?:the )?(?:last )?(?:re)?boot/i.test(each)) ?? []
    const [line] = linesWith(report, rebooted)
    const asked = rebooted.test((report.symptom ?? '').slice(0, 2_000))
    if (samples.length === 0 && line === undefined && !asked) return []
    const days = report.commands
      .filter(({ cmd }) => /\/cni\/networks|cni-ipam-state/.test(cmd.slice(0, 400)))
      .map(({ output }) => output.filter(each => perDay.test(each)).length)
    const { ready = 0, notReady = 0 } = report.sandboxes ?? {}
    const clues: Clue[] = [
      ...(samples.length > 0
        ? [{ says: 'address files are older than the boot', weight: 'supports' as const }]
        : []),
      ...(days.some(each => each > 1)
        ? [
            {
              says: 'the files were made in a few bursts, each as large as the node has Pods',
              weight: 'supports' as const,
            },
          ]
        : []),
      ...(line
        ? [
            {
              says: `the node was booted: ${quoted(line.text)}`,
              weight: samples.length > 0 ? ('supports' as const) : ('hints' as const),
            },
          ]
        : []),
      ...(asked ? [{ says: 'a reboot is told of', weight: 'hints' as const }] : []),
      ...(ready > 0 && notReady >= ready / 2
        ? [{ says: `${notReady} NotReady sandboxes are left from before`, weight: 'hints' as const }]
        : []),
    ]
    return [leak('reboot', clues, ['whether the files are older than the boot'])]
  },
)

const cameBack = onLeak(
  'leak-came-back',
  'a store that fills again after it was cleaned leaks still',
  report => {
    const text = (report.symptom ?? '').slice(0, 2_000)
    if (
      !/\b(?:again|came back|comes back|returns?|refill|every (?:few )?(?:day|week|night)|third time|second time|same thing)\b/i.test(
        text,
      )
    )
      return []
    return [
      {
        cause: 'ipam-leak',
        for: [
          {
            says: 'it is said to have come back after a clean-up: what leaks is still at work',
            weight: 'hints',
          },
        ],
        missing: ['the journal of the runtime and the kubelet about failed teardown'],
      },
    ]
  },
)

const engineSwap = onLeak(
  'engine-upgraded-in-place',
  'kubernetes#34278, kubenet with docker: sandboxes of an engine that was replaced under running Pods are never torn down',
  report => {
    const line =
      /(?:docker|containerd|engine|runtime|cri-?o)\b.{0,40}\b(?:upgrade|update|restart|replace|migrat|crash)/i
    const text = `${(report.symptom ?? '').slice(0, 2_000)} ${told(report, 'history', 'change', 'changes', 'recent_change')}`
    return line.test(text)
      ? [
          leak('runtime-restart', [
            { says: 'the runtime was changed or restarted under running Pods', weight: 'hints' },
          ]),
        ]
      : []
  },
)

export const wayRules: CauseRule[] = [
  skipped,
  givesUp,
  expired,
  unversioned,
  exhaustedNode,
  swallowed,
  scratch,
  refused,
  anyFailure,
  reboots,
  cameBack,
  engineSwap,
]
