import type { CauseCode } from '../diagnosis/cause.js'
import { isOtherTrouble } from '../diagnosis/cni-message.js'
import type { Report } from '../report/report.js'

/**
 * Counted leaks on a node whose Pods fail for a reason that is no lack of addresses: true, and not what was reported. The
 * plugin asks for an address before anything else of a sandbox's network, so a message about anything else tells that
 * this is not what fails now. Only where owners were compared by id: elsewhere the leak is itself read out of messages.
 */
export const besideTheTrouble = ({ store, lines }: Report): CauseCode[] => {
  if (store?.byId === undefined) return []
  const readings = lines.flatMap(({ from, reading }) => (from === 'event' && reading ? [reading] : []))
  if (readings.some(({ kind }) => kind === 'exhausted')) return []
  return readings.some(isOtherTrouble) ? ['ipam-leak', 'ipam-full-no-leak'] : []
}
