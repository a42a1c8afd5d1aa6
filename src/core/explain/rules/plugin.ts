import type { CauseCode } from '../../diagnosis/cause.js'
import type { CauseRule } from '../rule.js'
import { agentRules } from './plugin-agent.js'
import { authRules } from './plugin-auth.js'
import { binaryRules } from './plugin-binary.js'
import { configRules } from './plugin-config.js'
import { imageRules } from './plugin-image.js'
import { noList } from './plugin-runtime-list.js'
import { runtimeRules } from './plugin-runtime.js'
import { symptomRule } from './symptom.js'

const family = new Set<CauseCode>([
  'cni-config-missing',
  'cni-config-wrong',
  'cni-agent-down',
  'cni-plugin-missing',
  'cni-auth',
  'runtime-error',
  'image-pull',
])

/** The plugin, its configuration, its agent and the runtime under it. */
export const pluginRules: CauseRule[] = [
  ...configRules,
  ...agentRules,
  ...binaryRules,
  ...authRules,
  ...runtimeRules,
  noList,
  ...imageRules,
  symptomRule('plugin-symptom', family),
]
