import type { Advice } from '../rule.js'
import { agentAdvice, authAdvice } from './plugin-agent.js'
import { configAdvice } from './plugin-config.js'
import { imageAdvice } from './plugin-image.js'
import { binaryAdvice, runtimeAdvice } from './plugin-runtime.js'

export const pluginAdvice: Advice[] = [
  ...configAdvice,
  ...agentAdvice,
  ...authAdvice,
  ...binaryAdvice,
  ...runtimeAdvice,
  ...imageAdvice,
]
