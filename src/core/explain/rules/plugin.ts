import type { CauseRule } from '../rule.js'

/** The plugin, its configuration, its agent and the runtime under it. */
export const pluginRules: CauseRule[] = []
