import { addressRules } from './messages/address-rules.js'
import { agentConnectionRules, agentRules } from './messages/agent-rules.js'
import { accessRules, drainRules, nodeRules, schedulingRules } from './messages/cluster-rules.js'
import { dataplaneRules } from './messages/dataplane-rules.js'
import type { MessageRule } from './messages/message-rule.js'
import { cacheRules, pluginRules } from './messages/plugin-rules.js'
import { containerRules, imageRules, volumeRules } from './messages/pod-rules.js'
import { limitRules, runtimeRules, startRules, symptomRules } from './messages/runtime-rules.js'

/**
 * In the order in which they are tried. Exhaustion is first, since a rollback's failure is told in the same breath; then
 * what stands innermost in a text, down to connections, deadlines and lines without a reason.
 */
export const messageRules: MessageRule[] = [
  ...addressRules,
  ...limitRules,
  ...drainRules,
  ...schedulingRules,
  ...imageRules,
  ...volumeRules,
  ...cacheRules,
  ...agentRules,
  ...containerRules,
  ...startRules,
  ...pluginRules,
  ...dataplaneRules,
  ...nodeRules,
  ...agentConnectionRules,
  ...runtimeRules,
  ...accessRules,
  ...symptomRules,
]
