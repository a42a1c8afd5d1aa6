import { once } from './once.js'
import { commandsLike } from './ask.js'
import type { Report } from './report.js'
import { readTable } from './table.js'

/** One line of `kubectl get nodes`. */
export interface NodeRow {
  name: string
  /** Ready, NotReady, Ready,SchedulingDisabled, Unknown */
  status: string
}

const printsNodes = /\bget\s+(?:nodes?|no)\b/

/** Nodes as kubectl printed them; also of several tables. */
export const nodeRowsOf = once((report: Report): NodeRow[] =>
  commandsLike(report, printsNodes)
    .flatMap(({ output }) => readTable(output))
    .flatMap(row => {
      const name = row['NAME'] ?? ''
      const status = row['STATUS'] ?? ''
      return name !== '' && /^(?:Not)?Ready\b|^Unknown\b/.test(status) ? [{ name, status }] : []
    }),
)
