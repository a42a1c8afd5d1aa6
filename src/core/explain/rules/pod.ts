import type { CauseCode } from '../../diagnosis/cause.js'
import type { CauseRule } from '../rule.js'
import { drainRules } from './pod/drain.js'
import { nodeRules } from './pod/node.js'
import { pressureRules } from './pod/pressure.js'
import { schedulingRules } from './pod/scheduling.js'
import { volumeRules } from './pod/volume.js'
import { symptomRule } from './symptom.js'

const family = new Set<CauseCode>([
  'volume-mount',
  'secret-or-configmap-missing',
  'node-not-ready',
  'node-pressure',
  'scheduling-blocked',
  'pdb-blocked',
  'drain-blocked',
])

/** What keeps a Pod from running, or a node from being emptied, that is not its network. */
export const podRules: CauseRule[] = [
  ...volumeRules,
  ...nodeRules,
  ...pressureRules,
  ...schedulingRules,
  ...drainRules,
  symptomRule('pod-symptom', family),
]
