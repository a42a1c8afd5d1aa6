import type { Answer, Bundle } from '../../core/evidence/bundle.js'
import type { Gap } from '../../core/ipam/gap.js'
import { addressRow, leftoverRow, sampleRow, sandboxRow } from './addresses.js'
import { clockRow, conditionRow, errorRow, networkRow, podRow, rolloutRow } from './cluster.js'
import type { Row } from './row.js'
import { delRow, orphanAgeRow, restartRow } from './times.js'

/** The evidence in its order of thought, in groups of what belongs together; the peers' table stands after the first. */
export const evidenceRows = (bundle: Bundle, gap: Answer<Gap>, timeZone: string): Row[][] => [
  [addressRow(bundle, gap), sandboxRow(bundle, gap)],
  [errorRow(bundle), conditionRow(bundle), podRow(bundle), rolloutRow(bundle)],
  [orphanAgeRow(bundle, gap, timeZone), restartRow(bundle, timeZone), delRow(bundle, gap, timeZone)],
  [sampleRow(bundle, gap, timeZone), leftoverRow(bundle), networkRow(bundle), ...one(clockRow(bundle))],
]

const one = (row: Row | undefined): Row[] => (row ? [row] : [])
