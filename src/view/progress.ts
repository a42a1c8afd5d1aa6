import type { CheckName } from '../core/check-names.js'
import type { Plan } from '../core/runbook/plan.js'
import { changes, type Line, type RunState } from '../core/runbook/run.js'
import type { StepSpec } from '../core/runbook/schema.js'
import { farText } from './drain.js'
import { partlyText } from './decided.js'
import { namedInShort, oneLine, person, strong, type Text, t } from './text.js'
import { clock } from './time.js'
import { undoPreview } from './undo.js'

const checkWords: Record<CheckName, string> = {
  'allocations-match-sandboxes': 'addresses match sandboxes',
  'no-new-del-failures': 'no new DEL failures',
  'rollouts-complete': 'DaemonSets complete',
  'no-sandbox-failures': 'no new sandbox failures',
  'node-drained': 'node drained',
}

/** A step before anything is known of it. */
export const stepWords = (spec: StepSpec, node: string): string => {
  switch (spec.kind) {
    case 'confirm':
      return 'the prerequisites'
    case 'expect':
      return `${checkWords[spec.check]}${spec.on === 'every-node' ? ' on every node' : ''}`
    case 'cordon':
      return `cordon ${node}`
    case 'uncordon':
      return `uncordon ${node}`
    case 'drain':
      return `drain ${node}`
    case 'remove-orphans':
      return 'remove leaked addresses'
    case 'test-pod':
      return spec.via === 'pinned' ? `test Pod on ${node}` : 'test Pod through the scheduler'
  }
}

/** The plan's title says more than the step's kind, where there is a plan; what asks or checks is named the same throughout. */
export const lineWords = (line: Line, node: string): string =>
  line.plan && line.spec.kind !== 'confirm' && line.spec.kind !== 'expect'
    ? oneLine(line.plan.title)
    : stepWords(line.spec, node)

/** Whether people are asked about this line: changing steps that have something to do, and ticks. */
export const asks = (line: Line): boolean =>
  line.spec.kind === 'confirm' || (changes[line.spec.kind] && line.plan?.nothingToDo === false)

/** Without the runtime's own records a second reading must agree first: nothing is removed before this time. */
export const actFrom = (plan: Plan | undefined): number | undefined =>
  plan && 'actFrom' in plan.data ? plan.data.actFrom : undefined

const secondReading = (line: Line | undefined, timeZone: string): string => {
  const from = actFrom(line?.plan)
  return from === undefined ? '' : `, not before ${clock(from, timeZone)}: a second reading must agree`
}

/** One line of progress for the head and the card. Only the head names the approvers: one call for them is enough. */
export const progressText = (run: RunState, timeZone: string, approversNamed?: string): Text => {
  const index = Math.min(run.position, run.lines.length - 1)
  const line = run.lines[index]
  const step = `step ${index + 1} of ${run.lines.length}`
  const words = line ? lineWords(line, run.node) : ''
  switch (run.status) {
    case 'planning':
      return run.position >= run.lines.length
        ? t`${strong('Repairing')}: all ${run.lines.length} steps done, the run is being closed.`
        : t`${strong('Repairing')}, ${step} is being prepared: ${words}.`
    case 'awaiting': {
      const who = approversNamed === undefined ? t`` : t` (${namedInShort(approversNamed)})`
      const until = line?.expiresAt === undefined ? '' : ` until ${clock(line.expiresAt, timeZone)}`
      const partly = line && partlyText(line, timeZone)
      return t`${strong('Waiting for an approver')}${who}${until}, ${step}: ${words}.${partly ? t` ${partly}` : t``}`
    }
    case 'acting': {
      const far = line && farText(line, timeZone)
      return t`${strong('Repairing')}, ${step}: ${words}${secondReading(line, timeZone)}${far ? t`: ${far}` : t``}.`
    }
    case 'paused': {
      const undo = undoPreview(run) === undefined ? '' : 'undo, '
      const who = approversNamed === undefined ? t`` : t` (${namedInShort(approversNamed)})`
      return t`${strong('Paused')}, ${step} did not work: ${words}. ${strong('An approver')}${who} chooses on the card of the run: retry, ${undo}hold or escalate.`
    }
    case 'undoing':
      return t`${strong('Undoing')} what this run changed; its card shows how far it is.`
    case 'ended':
      return t`The run ended (${run.outcome ?? 'unknown'}), by ${person(run.endedBy ?? 'cnibot')}.`
  }
}
