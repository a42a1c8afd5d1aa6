import type { Report } from '../report/report.js'
import type { Ranked } from './combine.js'

/**
 * Step kinds that change something and may be offered now. Nothing is ever offered on counts: an address file is only
 * removed where its owner was compared with the runtime's sandboxes by id, everything that the comparison needs was read,
 * and a leak is the cause. Cordoning alone waits for no id: it keeps new Pods off a node that cannot take them.
 */
export const changesFor = ({ store, node }: Report, main: Ranked): string[] => {
  if (main.cause !== 'ipam-leak' || main.sure === 'low') return []
  const byId = store?.byId
  const cordon = node?.unschedulable === true ? [] : ['cordon']
  const complete = byId !== undefined && byId.complete && byId.orphaned > 0 && main.sure === 'high'
  return complete ? [...cordon, 'drain', 'remove-orphans', 'test-pod', 'uncordon'] : cordon
}
