import type { Answer } from '../../core/evidence/bundle.js'
import { isKnown } from '../../core/evidence/bundle.js'
import { code, oneLine, type Text, t } from '../text.js'

/** One thing to know about a node: what it is called and what is known of it, the weightiest line first. */
export interface Row {
  label: string
  lines: Text[]
  /** Set where there is no answer: why. */
  unknown?: string
}

export const row = (label: string, ...lines: (Text | undefined)[]): Row => ({
  label,
  lines: lines.filter(line => line !== undefined),
})

/** The row for an answer, or the reason in its place: what was not read is never shown as zero. */
export const rowOf = <T>(label: string, answer: Answer<T>, lines: (value: T) => (Text | undefined)[]): Row =>
  isKnown(answer) ? row(label, ...lines(answer.value)) : { label, lines: [], unknown: oneLine(answer.reason) }

/** `label, label`: not known, because …; rows with the same reason are told together, where the first one stands. */
export const withReasons = (rows: readonly Row[]): Row[] => {
  const told = new Set<string>()
  return rows.flatMap(each => {
    if (each.unknown === undefined) return [each]
    const reason = each.unknown
    if (told.has(reason)) return []
    told.add(reason)
    const labels = rows.filter(other => other.unknown === reason).map(other => other.label)
    return [{ label: labels.join(', '), lines: [t`not known: ${reason}`] }]
  })
}

/** First thirteen digits, as crictl's own table shows ids. */
export const shortId = (id: string): string => (id.length > 13 ? `${id.slice(0, 13)}…` : id)

export const quoted = (text: string, max: number) => {
  const line = oneLine(text)
  return code(line.length <= max ? line : `${line.slice(0, max - 1)}…`)
}
