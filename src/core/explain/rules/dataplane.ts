import type { CauseRule } from '../rule.js'

/** Packets that do not arrive. */
export const dataplaneRules: CauseRule[] = []
