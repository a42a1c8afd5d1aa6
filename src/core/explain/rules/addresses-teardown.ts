import type { CniMessageKind } from '../../diagnosis/cni-message.js'
import { many } from '../../diagnosis/facts.js'
import { isDelFailure } from '../../evidence/parse/journal.js'
import { addressesOf, isMany } from '../../report/addresses.js'
import { quoted } from '../../report/ask.js'
import { once } from '../../report/once.js'
import type { Line, Report } from '../../report/report.js'
import type { CauseRule, Clue } from '../rule.js'

const bounded = (text: string): string => text.slice(0, 8_192)

/** CRI-O's and podman's library says this where it goes on all the same. */
const harmless = /falling back to loading from existing plugins/i
const teardown =
  /error (?:while )?(?:deleting|removing) .{0,300}network|error deleting network|delegateDel|conflistDel/i

/** Lines that say that a CNI DEL failed. The rollback of an ADD that failed is told in the same event: that is the ADD's trouble. */
export const failedTeardowns = once(({ lines }: Report): Line[] =>
  lines.filter(({ text, from, source }) => {
    const said = bounded(text)
    if (from === 'command' || harmless.test(said) || /FailedCreatePodSandBox|SandboxChanged/.test(source))
      return false
    return isDelFailure(said) || teardown.test(said)
  }),
)

/** What keeps the plugin from running at all: then teardown fails as everything else does. */
const elsewhere = new Set<CniMessageKind>([
  'agent-refused',
  'agent-down',
  'plugin-missing',
  'plugin-cannot-run',
  'config-missing',
  'config-invalid',
  'runtime-down',
  'disk-full',
])

const damagedNote =
  /cached result.{0,200}(?:unexpected end of JSON|decoding version|invalid character)|failed to (?:load|parse) netconf.{0,80}(?:unexpected end|invalid character)/i

/** What kind of teardown fails, for the advice. */
export const teardownWay = (lines: readonly Line[]): string | undefined => {
  const texts = lines.map(({ text }) => bounded(text))
  if (texts.some(text => damagedNote.test(text))) return 'damaged-cache'
  if (
    texts.some(text =>
      /convert major version|Atoi: parsing|no cniVersion|incompatible CNI versions/i.test(text),
    )
  )
    return 'no-cniversion'
  const kinds = new Set(lines.map(({ reading }) => reading?.kind))
  if (kinds.has('plugin-missing') || kinds.has('plugin-cannot-run')) return 'chained-plugin-missing'
  if (kinds.has('agent-refused') || kinds.has('agent-down')) return 'agent-refuses-del'
  return undefined
}

const stuckOf = ({ lines, pods, symptom }: Report): Clue[] => {
  const kills = lines.filter(
    ({ from, source }) => from === 'event' && /FailedKillPod|FailedPreStop/.test(source),
  )
  const terminating = pods.filter(({ status }) => status === 'Terminating')
  return [
    ...(kills.length > 0
      ? [
          {
            says: `${many(kills.length, 'Pod', 'Pods')} cannot be killed: the kubelet tries again and again`,
            weight: 'supports' as const,
          },
        ]
      : []),
    ...(terminating.length > 0
      ? [
          {
            says: `${many(terminating.length, 'Pod stays', 'Pods stay')} Terminating`,
            weight: 'supports' as const,
          },
        ]
      : []),
    ...(/terminat/i.test(symptom ?? '')
      ? [{ says: 'Pods are said to stay Terminating', weight: 'hints' as const }]
      : []),
  ]
}

const teardownFails: CauseRule = {
  name: 'teardown-fails',
  source:
    'kubelet FailedKillPod/KillPodSandboxError, containerd "failed to destroy network for sandbox", CRI-O "network teardown failed"',
  read: report => {
    const lines = failedTeardowns(report)
    const [first] = lines
    if (first === undefined) return []
    const stuck = stuckOf(report)
    const kept = addressesOf(report)
    const leaking = isMany(kept.unowned, kept.taken)
    const consequence = lines.every(({ reading }) => reading !== undefined && elsewhere.has(reading.kind))
    const held = stuck.some(({ weight }) => weight === 'supports')
    const way = teardownWay(lines)
    // Where the only effect is kept addresses, those are the trouble and this is how they came about.
    const weight = leaking && !held ? 'hints' : leaking || consequence || !held ? 'supports' : 'proves'
    return [
      {
        cause: 'cni-del-failing',
        ...(way === undefined ? {} : { way }),
        for: [
          { says: `teardown of a Pod's network fails: ${quoted(first.text, 220)}`, weight },
          ...stuck.map(clue => (consequence ? { ...clue, weight: 'hints' as const } : clue)),
        ],
        missing: held ? [] : ['whether Pods stay Terminating, and how many sandboxes are NotReady'],
      },
      ...(weight === 'proves'
        ? [
            {
              cause: 'ipam-leak' as const,
              for: [
                {
                  says: 'the address of each such sandbox stays taken until its teardown comes through',
                  weight: 'supports' as const,
                },
              ],
            },
          ]
        : []),
    ]
  },
}

const damagedCache: CauseRule = {
  name: 'damaged-result-cache',
  source:
    'containernetworking/cni#1055, containerd#8197: libcni up to 1.1.2 fails a DEL over an empty cache entry; the address stays until then',
  read: report => {
    const lines = failedTeardowns(report).filter(({ text }) => damagedNote.test(bounded(text)))
    const zero = report.commands.filter(
      ({ cmd, output }) =>
        /\/cni\/(?:cache\/)?results|\/cni\/flannel|\/cni\/multus/.test(cmd.slice(0, 2_000)) &&
        (/-size\s+-?0|-empty|\$5\s*==\s*0/.test(cmd) ||
          output.some(line => /^-\S{9,11}\s+\d+\s+\S+\s+\S+\s+0\s/.test(line))) &&
        output.some(line => line.trim() !== '' && line.trim() !== '0'),
    )
    if (lines.length === 0) return []
    return [
      {
        cause: 'cni-del-failing',
        way: 'damaged-cache',
        for: [
          {
            says: "the runtime's note about the network is empty or damaged, and teardown stops there before any plugin runs",
            weight: 'supports',
          },
          ...(zero.length > 0
            ? [{ says: 'notes of 0 bytes lie in the cache', weight: 'supports' as const }]
            : []),
        ],
        missing: zero.length > 0 ? [] : ['which cache entries have 0 bytes'],
      },
      {
        cause: 'ipam-leak',
        way: 'damaged-cache',
        for: [
          {
            says: 'the address of each such sandbox stays taken until its teardown comes through',
            weight: 'supports',
          },
        ],
      },
    ]
  },
}

const manyNotReady: CauseRule = {
  name: 'dead-sandboxes-kept',
  source:
    'containerd keeps a sandbox whose teardown failed as NotReady (containerd#5768), and its address with it',
  read: report => {
    const { ready = 0, notReady = 0 } = report.sandboxes ?? {}
    const sum = addressesOf(report)
    if (notReady < Math.max(10, ready / 2) || sum.by === 'ids') return []
    const says = `${notReady} NotReady sandboxes are still listed: each may keep its address until its teardown succeeds`
    const many = sum.full === true && !isMany(sum.unowned, sum.taken)
    return [
      {
        cause: 'cni-del-failing',
        for: [{ says, weight: many ? 'supports' : 'hints' }],
        missing: ["the runtime's lines about teardown of the NotReady sandboxes"],
      },
      { cause: 'ipam-leak', for: [{ says, weight: many ? 'supports' : 'hints' }] },
    ]
  },
}

export const teardownRules: CauseRule[] = [teardownFails, damagedCache, manyNotReady]
