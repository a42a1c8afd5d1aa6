import { readCniMessage } from '../diagnosis/cni-message.js'
import { readPodRow } from './pod-row.js'
import type { Line, Report } from './report.js'

/** What somebody pastes is some lines; nobody reads more of it. */
const most = { lines: 400, letters: 64 * 1024 }

const lineOf = (text: string): Line => ({
  from: 'event',
  source: '',
  object: undefined,
  count: 1,
  overMs: undefined,
  warning: true,
  text,
  reading: readCniMessage(text),
})

const empty: Report = {
  symptom: undefined,
  environment: new Map(),
  lines: [],
  pods: [],
  node: undefined,
  store: undefined,
  sandboxes: undefined,
  rollout: undefined,
  routes: [],
  commands: [],
}

/**
 * Pasted text as a report: an event's message, lines of a log, what `kubectl describe` printed. Every line is read as a
 * message, lines of `kubectl get pods` as Pods too; the whole also as one line, since people paste messages that were
 * broken where their terminal ended.
 */
export const reportOfText = (pasted: string): Report => {
  const text = pasted.slice(0, most.letters)
  const lines = text
    .split(/\r?\n/)
    .map(line => line.trim())
    .filter(line => line !== '')
    .slice(0, most.lines)
  const whole = lines.length > 1 && lines.length <= 12 ? [lines.join(' ')] : []
  const pods = lines.flatMap(line => (/\s\d{1,4}\/\d{1,4}\s/.test(line) ? (readPodRow(line) ?? []) : []))
  return { ...empty, lines: [...lines, ...whole].map(lineOf), pods }
}
