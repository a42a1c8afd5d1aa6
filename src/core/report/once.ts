import type { Report } from './report.js'

/** Many rules ask the same of one report: it is read once. Pure, since a report is never changed. */
export const once = <T>(read: (report: Report) => T): ((report: Report) => T) => {
  const known = new WeakMap<Report, { value: T }>()
  return report => {
    const found = known.get(report) ?? { value: read(report) }
    known.set(report, found)
    return found.value
  }
}
