import type { CauseRule } from '../rule.js'
import { doubleRules } from './addresses-double.js'
import { fileRules } from './addresses-files.js'
import { heldRules } from './addresses-held.js'
import { listedRules } from './addresses-listed.js'
import { nameRules } from './addresses-name.js'
import { teardownRules } from './addresses-teardown.js'
import { toldRules } from './addresses-told.js'
import { nodeWayRules } from './addresses-way-node.js'
import { runtimeWayRules } from './addresses-way-runtime.js'

/** Who holds the addresses of a node, and whether anybody alive does. */
export const addressesRules: CauseRule[] = [
  ...heldRules,
  ...fileRules,
  ...listedRules,
  ...runtimeWayRules,
  ...nodeWayRules,
  ...teardownRules,
  ...doubleRules,
  ...nameRules,
  ...toldRules,
]
