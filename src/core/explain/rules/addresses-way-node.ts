import { linesWith, messagesWith, quoted, told } from '../../report/ask.js'
import type { CauseRule, Clue } from '../rule.js'
import { leak, onLeak } from './addresses-on-leak.js'

const forks =
  /resource temporarily unavailable|cannot allocate memory|pthread_create failed|can(?:not|'t) fork|too many (?:open files|processes)/i

/** The kernel's own refusal to start a plugin. */
const fork = /fork\/exec \S{1,300}: (?:resource temporarily unavailable|cannot allocate memory)/i

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
      {
        cause: 'runtime-error',
        for: [{ says, weight: fork.test(line.text) ? 'proves' : 'supports' }],
        missing,
      },
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
    const text = `${(report.symptom ?? '').slice(0, 2_000)} ${told(report, 'history', 'change', 'changes', 'recent_change').slice(0, 2_000)}`
    return line.test(text)
      ? [
          leak('runtime-restart', [
            { says: 'the runtime was changed or restarted under running Pods', weight: 'hints' },
          ]),
        ]
      : []
  },
)

/** How a leak came about on the node: boots, missing tools, no process to run a plugin with. */
export const nodeWayRules: CauseRule[] = [exhaustedNode, swallowed, reboots, cameBack, engineSwap]
