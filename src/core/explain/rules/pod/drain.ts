import { commandsLike, linesWith, quoted } from '../../../report/ask.js'
import { once } from '../../../report/once.js'
import type { Report } from '../../../report/report.js'
import { readTable } from '../../../report/table.js'
import { type CauseRule, clue } from '../../rule.js'

const refused =
  /violate the pod'?s? disruption budget|disruption budget[^\n]{0,160}(?:needs|does not allow|still being processed)|more than one poddisruptionbudget|not enough pod disruption budget|pdb[^\n]{0,60}prevents? pod evictions?|NotEnoughPdb|DisruptionBudgetViolated/i
const evictionRefused = /\/eviction\b[^\n]{0,200}\b429\b|\bevict[^\n]{0,300}too many requests/i
const drains = /\bdrain(?:s|ed|ing)?\b|\bevict(?:s|ed|ing|ion)?\b/i

/** Budgets that allow nothing now, by name. */
export const closedBudgets = once((report: Report): string[] => {
  const tables = commandsLike(report, /\b(?:pdb|poddisruptionbudgets?)\b/).flatMap(({ output }) => {
    const rows = readTable(output).flatMap(row =>
      row['ALLOWED DISRUPTIONS'] === '0' || row['ALLOWED-DISRUPTIONS'] === '0' ? [row['NAME'] ?? ''] : [],
    )
    return output.some(line =>
      /disruptionsAllowed"?: ?0\b|Allowed disruptions: +0\b/i.test(line.slice(0, 2_000)),
    )
      ? [...rows, 'a budget']
      : rows
  })
  return tables.filter(name => name !== '')
})

const budget: CauseRule = {
  name: 'eviction-refused-by-budget',
  source: 'Kubernetes, API-initiated eviction: 429 where a disruption budget does not allow it',
  read: report => {
    const [line] = linesWith(report, refused)
    const [answer] = linesWith(report, evictionRefused)
    const closed = closedBudgets(report)
    const [first] = closed
    const said = line ?? answer
    const drained =
      linesWith(report, drains).length > 0 ||
      commandsLike(report, drains).length > 0 ||
      drains.test(report.symptom?.slice(0, 4_000) ?? '')
    if (said === undefined && (first === undefined || !drained)) return []
    const sure = line !== undefined || (answer !== undefined && first !== undefined)
    return [
      {
        cause: 'pdb-blocked',
        for: [
          ...(said === undefined
            ? []
            : [clue(`an eviction was refused: ${quoted(said.text, 140)}`, sure ? 'proves' : 'supports')]),
          ...(first === undefined
            ? []
            : [clue(`the budget ${quoted(first, 80)} allows no disruption now`, 'supports')]),
        ],
        missing: first === undefined ? ['kubectl get pdb in that namespace, and its Pods: ready or not'] : [],
      },
    ]
  },
}

const ways: [string, RegExp][] = [
  ['local-data', /with local storage|emptydir data|local data/i],
  [
    'unmanaged',
    /declare no controller|not managed by [^\n]{0,160}(?:use|--force|unmanaged|:)|unmanaged pods/i,
  ],
  ['daemonset', /daemonset-managed pods/i],
]
const refuses =
  /pods? with local storage|cannot delete (?:pods? )?(?:not managed by|(?:that )?declare no controller|daemonset-managed)|pods? not managed by [^\n]{1,160}\(use|daemonset-managed pods? \(use|pods? declare no controller|unable to drain node|failed to drain node/i
const goesOn = /^\s*warning: |\bignoring daemonset-managed|; deleting pods not managed/i

const refusals = once((report: Report) =>
  linesWith(report, refuses).filter(({ text }) => !goesOn.test(text.slice(0, 8_192))),
)

const drain: CauseRule = {
  name: 'drain-refuses',
  source:
    'kubectl drain: Pods with local storage, without a controller or of a DaemonSet need a flag of their own',
  read: report => {
    const lines = refusals(report)
    const told = lines.find(({ text }) => ways.some(([, pattern]) => pattern.test(text.slice(0, 8_192))))
    const line = told ?? lines[0]
    if (line === undefined) return []
    const way = ways.find(([, pattern]) => pattern.test(line.text.slice(0, 8_192)))?.[0]
    const byBudget = linesWith(report, refused).length > 0
    const left =
      report.node?.unschedulable === true || linesWith(report, /already cordoned|\bcordoned\b/).length > 0
    const weight = told !== undefined ? 'proves' : byBudget ? 'hints' : 'supports'
    return [
      {
        cause: 'drain-blocked',
        ...(way === undefined ? {} : { way }),
        for: [clue(`the drain stopped: ${quoted(line.text.slice(-400), 200)}`, weight)],
        missing:
          told === undefined ? ['the whole output of the drain: which Pods are in the way and why'] : [],
      },
      ...(left
        ? [
            {
              cause: 'scheduling-blocked' as const,
              way: 'cordoned',
              for: [clue('a drain that stops leaves the node cordoned', 'supports')],
            },
          ]
        : []),
    ]
  },
}

export const drainRules: CauseRule[] = [budget, drain]
