import { readCniMessage } from '../../diagnosis/cni-message.js'
import type { CauseCode } from '../../diagnosis/cause.js'
import type { CauseRule } from '../rule.js'
import { agentRules } from './plugin-agent.js'
import { authRules } from './plugin-auth.js'
import { binaryRules } from './plugin-binary.js'
import { clue } from './plugin-clues.js'
import { configRules } from './plugin-config.js'
import { imageRules } from './plugin-image.js'
import { noList } from './plugin-runtime-list.js'
import { runtimeRules } from './plugin-runtime.js'

const family = new Set<CauseCode>([
  'cni-config-missing',
  'cni-config-wrong',
  'cni-agent-down',
  'cni-plugin-missing',
  'cni-auth',
  'runtime-error',
  'image-pull',
])

/** What somebody typed may be wrong: it decides only where nothing else was seen. */
const symptom: CauseRule = {
  name: 'plugin-symptom',
  source: "a person's words, which may quote a message",
  read: ({ symptom: text }) => {
    const [cause] = text === undefined ? [] : readCniMessage(text.slice(0, 4_000)).causes
    return cause === undefined || !family.has(cause)
      ? []
      : [{ cause, for: [clue('the words of who asked point to it', 'hints')] }]
  },
}

/** The plugin, its configuration, its agent and the runtime under it. */
export const pluginRules: CauseRule[] = [
  ...configRules,
  ...agentRules,
  ...binaryRules,
  ...authRules,
  ...runtimeRules,
  noList,
  ...imageRules,
  symptom,
]
