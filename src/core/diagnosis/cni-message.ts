import type { CauseCode } from './cause.js'
import { messageRules } from './message-rules.js'
import type { CniMessageKind, CniOperation, MessageRule } from './messages/message-rule.js'
import { isAboutCni, operationAt } from './messages/operation.js'
import { type Origin, originOf } from './messages/origin.js'
import { type MessageParts, partsOf } from './messages/parts.js'
import { type LogShape, type PlainText, plainText } from './messages/plain-text.js'

export type { CniMessageKind, CniOperation } from './messages/message-rule.js'
export type { Component, Era } from './messages/origin.js'
export type { LogShape } from './messages/plain-text.js'

/** One message, read. What it names (`MessageParts`, `matched`, `reason`) is text from the cluster; `says` is not. */
export interface CniMessage extends MessageParts, Origin {
  kind: CniMessageKind
  /** Finer than `kind`, in capitals: IPAM_EXHAUSTED_HOSTLOCAL, CNI_BIN_MISSING, …; OTHER where nothing is known. */
  code: string
  /** What the message points to, the likeliest first; none where it gives no reason or is not known. */
  causes: CauseCode[]
  /** What was being done. Where an ADD and its rollback are told together: the one whose failure decided. */
  operation: CniOperation
  /** A plugin ran and gave a well-formed answer. Undefined where the text does not tell. */
  answers: boolean | undefined
  /** The Pod's network is not what failed. */
  notCni: boolean
  /** One sentence for people, without text from the cluster. */
  says: string
  shape: LogShape
  /** How often the text was quoted: `\"` once, `\\\"` twice. */
  quoting: number
  /** The kubelet folded several events into this one: its sandbox is only the newest. */
  combined: boolean
  /** An event's reason, where a row of kubectl's table was read. */
  reason: string | undefined
  /** The words that decided, out of the plain text. */
  matched: string | undefined
  /** The text without prefixes and quoting, in one line; cut in the middle where it was very long. */
  plain: string
  /** As it came. */
  text: string
}

/** Kinds in which a plugin ran far enough to answer. */
const answering = new Set<CniMessageKind>([
  'exhausted',
  'other-ipam',
  'dataplane',
  'disk-full',
  'agent-refused',
  'agent-error',
])
const silentPlugin = new Set<CniMessageKind>([
  'plugin-missing',
  'plugin-cannot-run',
  'config-missing',
  'config-invalid',
  'agent-down',
  'runtime-down',
  'cache-corrupt',
])
const elsewhere = new Set<CniMessageKind>([
  'image',
  'runtime-error',
  'volume',
  'object-missing',
  'scheduling',
  'pressure',
  'node-health',
  'container',
  'disruption-budget',
  'drain-refused',
])

interface Decision {
  rule: MessageRule
  at: number
  matched: string
  operation: CniOperation
}

/** Where an ADD and its rollback failed at once, the rollback's part begins here (dockershim prints both in brackets). */
const rollback = ', failed to clean up sandbox container'

const tryRule = (rule: MessageRule, lower: string): Decision | undefined => {
  const match = rule.when.exec(lower)
  if (match === null) return undefined
  if (rule.only === 'cni' && !isAboutCni(lower)) return undefined
  if (rule.only === 'not-cni' && isAboutCni(lower)) return undefined
  const around = operationAt(lower, match.index)
  const operation = around === 'none' || rule.operation === 'none' ? (rule.operation ?? around) : around
  if ((rule.only === 'add' || rule.only === 'del') && operation !== rule.only) return undefined
  return { rule, at: match.index, matched: match[0], operation }
}

/** The rule that decides. The same reason told for an ADD and its rollback counts as the rollback's, which stays behind. */
const decide = ({ lower }: PlainText): Decision | undefined => {
  for (const rule of messageRules) {
    const decision = tryRule(rule, lower)
    if (decision === undefined) continue
    const cut = lower.indexOf(rollback)
    if (cut < 0 || decision.at > cut || rule.kind === 'exhausted') return decision
    const again = rule.when.exec(lower.slice(cut))
    return again === null
      ? decision
      : { ...decision, at: cut + again.index, matched: again[0], operation: 'del' }
  }
  return undefined
}

/** Only of a failure: other lines name the same calls in passing, and a journal is full of them. */
const operationOfUnknown = ({ lower }: PlainText): CniOperation =>
  lower.includes('fail') || lower.includes('error') ? operationAt(lower, lower.length) : 'none'

const unknownText = 'The message is none that is known.'

/**
 * Reads one message (P-E1, P-R1): an event's, a line of the journal, of an agent, of a plugin, of crictl, or what
 * somebody pasted of these. Any text is taken, and only its first and last few thousand characters are read; what is
 * not known is `other`, with the code OTHER and no causes.
 */
export const readCniMessage = (text: string): CniMessage => {
  const plain = plainText(text)
  const decision = decide(plain)
  const kind = decision?.rule.kind ?? 'other'
  const operation = decision?.operation ?? operationOfUnknown(plain)
  const { causes = [], onDel } = decision?.rule ?? {}
  return {
    ...partsOf(plain.text, decision?.at ?? plain.text.length),
    ...originOf(plain),
    kind,
    code: decision?.rule.code ?? 'OTHER',
    causes: operation === 'del' && onDel ? onDel : causes,
    operation,
    answers: answering.has(kind) ? true : silentPlugin.has(kind) ? false : undefined,
    notCni: elsewhere.has(kind),
    says: decision?.rule.says ?? unknownText,
    shape: plain.shape,
    quoting: plain.quoting,
    combined: plain.combined,
    reason: plain.reason,
    matched: decision && plain.text.slice(decision.at, decision.at + decision.matched.length),
    plain: plain.text,
    text,
  }
}

/** It names a failure, and not that addresses are used up. */
export const isOtherTrouble = ({ kind }: CniMessage): boolean =>
  kind !== 'exhausted' && kind !== 'symptom-only' && kind !== 'harmless'
