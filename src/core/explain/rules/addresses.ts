import type { CauseRule } from '../rule.js'

/** Who holds the addresses of a node, and whether anybody alive does. */
export const addressesRules: CauseRule[] = []
