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

/** Rows without an answer because of the same reason are told together, in the place of the first of them. */
export const withReasons = (groups: readonly (readonly Row[])[]): Row[][] => {
  const all = groups.flat()
  const told = new Set<string>()
  const merged = ({ label, lines, unknown }: Row): Row[] => {
    if (unknown === undefined) return [{ label, lines }]
    if (told.has(unknown)) return []
    told.add(unknown)
    const labels = all.filter(other => other.unknown === unknown).map(other => other.label)
    return [{ label: labels.join(', '), lines: [t`not known: ${unknown}`] }]
  }
  return groups.map(group => group.flatMap(merged))
}

/** First thirteen digits, as crictl's own table shows ids. */
export const shortId = (id: string): string => (id.length > 13 ? `${id.slice(0, 13)}…` : id)

export const quoted = (text: string, max: number) => {
  const line = oneLine(text)
  return code(line.length <= max ? line : `${line.slice(0, max - 1)}…`)
}
