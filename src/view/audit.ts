import type { AuditVerdict } from '../core/audit/chain.js'
import { many } from './text.js'

const time = (at: number | undefined): string => (at === undefined ? '?' : new Date(at).toISOString())

/** One line for a terminal: what the chain holds, or where it breaks first. Times are in UTC, as in an export. */
export const auditLine = (verdict: AuditVerdict): string => {
  if (!verdict.whole) return `broken at entry ${verdict.n}: ${verdict.says}`
  const { entries, from, to, head, plans } = verdict
  if (entries === 0) return '0 entries: nothing is on the record yet'
  return [
    `${many(entries, 'entry', 'entries')}, whole, from ${time(from)} to ${time(to)}, head ${head.slice(0, 8)}`,
    ...(plans > 0 ? [`; ${many(plans, 'plan gives its digest', 'plans give their digests')} again`] : []),
  ].join('')
}
