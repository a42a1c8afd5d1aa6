import type { Bundle } from '../core/evidence/bundle.js'
import { isKnown } from '../core/evidence/bundle.js'
import type { RunSummary } from '../core/incident/incident.js'
import { cordonMark, theirs } from '../core/runbook/cordon-mark.js'
import { type Line, type RunState, toUndo } from '../core/runbook/run.js'
import { oneLine } from './text.js'
import { mayHaveActed } from './undo.js'

/** What is known of a node's cordon. Anybody may cordon and uncordon a node beside us, so a newer reading outweighs a run. */
export interface Cordon {
  whose: 'ours' | 'theirs' | 'nobody'
  /** Whose, where the node says so: `prod-eu1/node-07.1`. */
  by?: string | undefined
  /** When a run of this incident set it, or lifted it where it is nobody's. */
  since?: number | undefined
  /** When it was read from the node; undefined where only a run's record says so. */
  readAt?: number | undefined
  /** A step that sets or lifts it began, and how that ended is not on record. */
  unsure?: boolean
}

type Recorded = Cordon & { at: number }

const dataOf = (line: Line): Record<string, unknown> => ({ ...line.done?.data })

/** What one line of a run left behind; undefined where it says nothing of the cordon. */
const after = (line: Line, at: number, before: Recorded | undefined): Recorded | undefined => {
  const since = (from: number) => (before?.whose === 'ours' ? before.since : from)
  const unsure = toUndo(line) || line.status === 'undo-failed'
  if (line.spec.kind === 'cordon') {
    if (line.status === 'undone') return { whose: 'nobody', at }
    // A node that somebody else had cordoned already stays theirs.
    if (line.status === 'done')
      return dataOf(line).changed === true ? { whose: 'ours', since: since(at), at } : { whose: 'theirs', at }
    return unsure && (line.done || mayHaveActed(line))
      ? { whose: 'ours', since: since(line.startedAt ?? at), at, unsure }
      : before
  }
  if (line.spec.kind !== 'uncordon') return before
  if (line.status === 'undone') return { whose: 'ours', since: at, at }
  if (line.status === 'done') return line.done?.changed ? { whose: 'nobody', since: at, at } : undefined
  return before && unsure ? { ...before, at, unsure } : before
}

/** From what the runs of one incident wrote down; undefined where none of them touched it. */
export const recordedCordon = (runs: readonly RunState[]): Recorded | undefined =>
  runs
    .flatMap(run =>
      run.lines.map(line => ({ line, at: line.endedAt ?? line.startedAt ?? line.plannedAt ?? run.openedAt })),
    )
    .toSorted((a, b) => a.at - b.at)
    .reduce<Recorded | undefined>((before, { line, at }) => after(line, at, before), undefined)

export interface CordonInput {
  cluster: string
  incident: { id: string; runs?: readonly Pick<RunSummary, 'cordon' | 'endedAt'>[] }
  runs: readonly RunState[]
  bundles: ReadonlyMap<string, Bundle>
}

/** What was read of the node when a run ended; undefined where it could not be read. */
const readAtEnd = (
  run: Pick<RunSummary, 'cordon' | 'endedAt'> | undefined,
): (Cordon & { readAt: number }) | undefined => {
  if (!run?.cordon || run.cordon.whose === 'unknown' || run.endedAt === undefined) return undefined
  return { ...run.cordon, readAt: run.endedAt }
}

/** How a run left the node: as it was read then, else what the runs wrote down by then. */
export const cordonAtEnd = (
  summary: RunSummary | undefined,
  runs: readonly RunState[],
  at: (time: number) => string,
): string => {
  const record = recordedCordon(runs)
  const { cordon } = summary ?? {}
  if (!cordon) return cordonWords(record ?? { whose: 'nobody' }, at)
  const since = record?.whose === cordon.whose ? record.since : undefined
  if (cordon.whose === 'unknown')
    return `${cordonWords(record ?? { whose: 'nobody' }, at)}, as far as this run knows; the node itself could not be asked (${oneLine(cordon.because)})`
  return cordon.whose === 'nobody' && since === undefined
    ? 'schedulable'
    : cordonWords({ ...cordon, since }, at)
}

/** The newest of what runs recorded and what readings saw. */
export const cordonNow = ({ cluster, incident, runs, bundles }: CordonInput): Cordon => {
  const record = recordedCordon(runs)
  const ended = readAtEnd(incident.runs?.at(-1))
  const read = [...bundles.values()]
    .flatMap(({ facts }) => (isKnown(facts) ? [facts] : []))
    .toSorted((a, b) => a.at - b.at)
    .at(-1)
  if (ended && (!read || ended.readAt >= read.at) && (!record || ended.readAt >= record.at))
    // What the run set and what the node said at its end agree: one time is enough.
    return ended.whose === 'ours' && record?.whose === 'ours' ? { whose: 'ours', since: record.since } : ended
  if (!read || (record && record.at > read.at)) return record ?? { whose: 'nobody' }
  const { unschedulable, cordonedBy } = read.value
  if (!unschedulable) return { whose: 'nobody', readAt: read.at }
  return cordonedBy === cordonMark({ cluster, incident: incident.id })
    ? { whose: 'ours', since: record?.whose === 'ours' ? record.since : undefined, readAt: read.at }
    : { whose: 'theirs', by: theirs(read.value), readAt: read.at }
}

export const asRead = ({ readAt }: Cordon, at: (time: number) => string): string =>
  readAt === undefined ? '' : ` (as read ${at(readAt)})`

/** What the node is: `cordoned by this incident since 11:34 (as read 11:40)`. */
export const cordonWords = (cordon: Cordon, at: (time: number) => string): string => {
  const { whose, by, since, readAt, unsure } = cordon
  const read = asRead(cordon, at)
  if (unsure) return 'perhaps cordoned by this incident: how that step ended is not known'
  if (whose === 'ours')
    return `cordoned by this incident${since === undefined ? '' : ` since ${at(since)}`}${read}`
  if (whose === 'theirs') return `cordoned by ${by === undefined ? 'somebody else' : oneLine(by)}${read}`
  if (readAt !== undefined) return `schedulable${read}`
  return since === undefined ? 'not cordoned by this incident' : `schedulable since ${at(since)}`
}
