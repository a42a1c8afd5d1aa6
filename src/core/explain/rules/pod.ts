import type { CauseRule } from '../rule.js'

/** What keeps a Pod from running that is not its network. */
export const podRules: CauseRule[] = []
