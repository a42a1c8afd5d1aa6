import type { CauseRule } from '../rule.js'
import { doubleRules } from './addresses-double.js'
import { heldRules } from './addresses-held.js'
import { nameRules } from './addresses-name.js'
import { teardownRules } from './addresses-teardown.js'
import { wayRules } from './addresses-way.js'

/** Who holds the addresses of a node, and whether anybody alive does. */
export const addressesRules: CauseRule[] = [
  ...heldRules,
  ...wayRules,
  ...teardownRules,
  ...doubleRules,
  ...nameRules,
]
