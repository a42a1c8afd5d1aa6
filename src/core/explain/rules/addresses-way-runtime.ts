import { many } from '../../diagnosis/facts.js'
import { givesUpAfterOneDel, skipsDelUntil, trustsDamagedCache } from '../../diagnosis/runtime-version.js'
import { messagesWith, quoted } from '../../report/ask.js'
import { conflistsIn } from '../../report/range-sets.js'
import { runtimeSeen } from '../../report/runtime-seen.js'
import type { CauseRule, Clue } from '../rule.js'
import { leak, onLeak } from './addresses-on-leak.js'
import { failedTeardowns } from './addresses-teardown.js'

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

/** How a leak came about in the calls between runtime and plugins. */
export const runtimeWayRules: CauseRule[] = [
  skipped,
  givesUp,
  expired,
  unversioned,
  scratch,
  refused,
  anyFailure,
]
