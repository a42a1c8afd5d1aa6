import {
  foldIncident,
  type IncidentEvent,
  type IncidentState,
  incidentStream,
} from '../core/incident/incident.js'
import type { History, Log } from '../ports.js'

/** Every node's incident. One whose history cannot be read is logged with its node and left out: the others go on. */
export const allIncidents = async (
  history: Pick<History, 'read' | 'streams'>,
  log: Log,
  windowMs: number,
): Promise<IncidentState[]> => {
  const prefix = incidentStream('')
  const incidents = await Promise.all(
    (await history.streams(prefix)).map(async stream => {
      const node = stream.slice(prefix.length)
      try {
        return foldIncident(node, (await history.read<IncidentEvent>(stream)).events, windowMs)
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        log.error({ node }, `its history ${stream} cannot be read: ${why}`)
        return undefined
      }
    }),
  )
  return incidents.filter(incident => incident !== undefined)
}
