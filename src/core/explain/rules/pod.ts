import type { CauseCode } from '../../diagnosis/cause.js'
import { readCniMessage } from '../../diagnosis/cni-message.js'
import type { CauseRule } from '../rule.js'
import { clue } from './plugin-clues.js'
import { drainRules } from './pod/drain.js'
import { nodeRules } from './pod/node.js'
import { pressureRules } from './pod/pressure.js'
import { schedulingRules } from './pod/scheduling.js'
import { volumeRules } from './pod/volume.js'

const family = new Set<CauseCode>([
  'volume-mount',
  'secret-or-configmap-missing',
  'node-not-ready',
  'node-pressure',
  'scheduling-blocked',
  'pdb-blocked',
  'drain-blocked',
])

/** What somebody typed may be wrong: it decides only where nothing else was seen. */
const symptom: CauseRule = {
  name: 'pod-symptom',
  source: "a person's words, which may quote a message",
  read: ({ symptom: text }) => {
    const [cause] = text === undefined ? [] : readCniMessage(text.slice(0, 4_000)).causes
    return cause === undefined || !family.has(cause)
      ? []
      : [{ cause, for: [clue('the words of who asked point to it', 'hints')] }]
  },
}

/** What keeps a Pod from running, or a node from being emptied, that is not its network. */
export const podRules: CauseRule[] = [
  ...volumeRules,
  ...nodeRules,
  ...pressureRules,
  ...schedulingRules,
  ...drainRules,
  symptom,
]
