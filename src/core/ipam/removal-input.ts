import type { Bundle } from '../evidence/bundle.js'

export interface RemovalInput {
  /** The reading the approved plan was made from; undefined only while planning. */
  earlier: Bundle | undefined
  bundle: Bundle
  settings: { olderThanMs: number }
  cordoned: boolean
}

/** Distance of two readings, and least age of a file, where the runtime's own records cannot be read (rule 4). */
export const twoReadingsMs = 15 * 60_000

/** Where removed files go on the node. */
export const quarantineRoot = '/var/lib/cni/cnibot-quarantine'
