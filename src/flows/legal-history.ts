import { foldIncident, type IncidentEvent, incidentStream, runStream } from '../core/incident/incident.js'
import { foldRun, type RunEvent } from '../core/runbook/run.js'
import type { History } from '../ports.js'

type Fold = (events: unknown[]) => unknown

/** How the histories that decide something are read; the others take any event. */
const foldOf = (stream: string, windowMs: number): Fold | undefined => {
  if (stream.startsWith(runStream(''))) return events => foldRun(events as RunEvent[])
  const incidents = incidentStream('')
  if (!stream.startsWith(incidents)) return undefined
  const node = stream.slice(incidents.length)
  return events => foldIncident(node, events as IncidentEvent[], windowMs)
}

/**
 * The same histories, which take only events that may follow what stands there: one that may not would make its history
 * unreadable for ever. Whatever appends goes through here. Throws with what may not follow what; nothing is written then.
 */
export const legalHistory = <H extends History>(
  history: H,
  { incidentWindowMs }: { incidentWindowMs: number },
): H => ({
  ...history,
  append: async <E>(stream: string, expectedLength: number, events: E[]): Promise<boolean> => {
    const fold = foldOf(stream, incidentWindowMs)
    if (!fold) return history.append(stream, expectedLength, events)
    const before = await history.read<unknown>(stream)
    if (before.length !== expectedLength) return false
    // As it will be read: what JSON drops is not there.
    const more = events.map(event => JSON.parse(JSON.stringify(event)) as unknown)
    try {
      fold([...before.events, ...more])
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new Error(`${stream}: not recorded, it would make this history unreadable: ${why}`, {
        cause: error,
      })
    }
    return history.append(stream, expectedLength, events)
  },
})
