import { type CniMessageKind, messageRules } from './message-rules.js'

export type { CniMessageKind } from './message-rules.js'

interface Said {
  /** Finer than `kind`, in capitals: IPAM_EXHAUSTED_HOSTLOCAL, CNI_BIN_MISSING, … */
  code: string
  /** A plugin ran and gave a well-formed answer. Undefined where the text does not tell. */
  answers: boolean | undefined
  /** The Pod's network is not what failed. */
  notCni: boolean
  /** One sentence for people, without text from the cluster. */
  says: string
  text: string
}
export interface Exhausted extends Said {
  kind: 'exhausted'
  /** The plugin that libcni called, not the IPAM one behind it. */
  plugin: string | undefined
  /** Index of the range set: 1 is mostly the second address family. */
  rangeIndex: number | undefined
  /** As printed: `10.244.7.1-10.244.7.254`. Start to end, the gateway counted though it is never handed out. */
  ranges: string[]
  /** Plugins before 0.6 name the network instead of the ranges. */
  network: string | undefined
}
export type CniMessage = Exhausted | (Said & { kind: Exclude<CniMessageKind, 'exhausted'> })

/** Kinds in which a plugin ran far enough to answer. */
const answering = new Set<CniMessageKind>(['other-ipam', 'dataplane', 'disk-full', 'agent-refused'])
const silentPlugin = new Set<CniMessageKind>([
  'plugin-missing',
  'plugin-cannot-run',
  'config-missing',
  'config-invalid',
  'agent-down',
  'runtime-down',
  'cache-corrupt',
])
const elsewhere = new Set<CniMessageKind>(['image', 'runtime-error'])

const exhaustion =
  /no IP addresses available in (?:range set: ?([0-9a-f.:]+-[0-9a-f.:]+(?:, ?[0-9a-f.:]+-[0-9a-f.:]+)*)|range set\b|network: ?([\w.-]+))/i

/** The last plugin named before the words: multus and flannel name themselves first, then the one they call. */
const pluginBefore = (text: string): string | undefined =>
  [...text.matchAll(/plugin type=\\*["']([\w.-]+)\\*["']|invoking DelegateAdd - \\*["']([\w.-]+)\\*["']/g)]
    .map(match => match[1] ?? match[2])
    .at(-1)

const readExhaustion = (text: string): Exhausted | undefined => {
  const match = exhaustion.exec(text)
  if (match === null) return undefined
  const before = text.slice(0, match.index)
  const index = /failed to allocate for range (\d+): $/.exec(before)?.[1]
  const ranges = (match[1] ?? '').split(',').map(range => range.trim().replace(/[.:]$/, ''))
  return {
    kind: 'exhausted',
    code: 'IPAM_EXHAUSTED_HOSTLOCAL',
    plugin: pluginBefore(before),
    rangeIndex: index === undefined ? undefined : Number(index),
    ranges: ranges.filter(range => range !== ''),
    network: match[2],
    answers: true,
    notCni: false,
    says: 'The plugin runs and answers: it has no address left to give.',
    text,
  }
}

/**
 * Reads the message of a FailedCreatePodSandBox event, or a runtime's or the kubelet's line of the same content (P-E1),
 * and tells a plugin that answers from one that does not run (P-R1). Any text is taken; what is not known is `other`.
 */
export const readCniMessage = (text: string): CniMessage => {
  const exhausted = readExhaustion(text)
  if (exhausted) return exhausted
  const rule = messageRules.find(([fragment]) => fragment.test(text))
  if (rule === undefined)
    return {
      kind: 'other',
      code: 'OTHER',
      answers: undefined,
      notCni: false,
      says: 'The message is none that is known.',
      text,
    }
  const [, code, kind, says] = rule
  const answers = answering.has(kind) ? true : silentPlugin.has(kind) ? false : undefined
  return { kind, code, answers, notCni: elsewhere.has(kind), says, text }
}
