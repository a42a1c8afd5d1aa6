import { diagnose } from '../../../src/core/diagnosis/diagnose.js'
import type { Bundle } from '../../../src/core/evidence/bundle.js'
import { explainBundle } from '../../../src/core/explain/explain-bundle.js'

/** Names for the same, and what one says where the other knows less. */
export const disagreement = (bundle: Bundle): string | undefined => {
  const { cause, sure } = diagnose(bundle, [])
  const answer = explainBundle(bundle)
  const shown = `diagnose: ${cause}, ${sure}; explain: ${answer.cause}, ${answer.confidence}`
  const same = cause === answer.cause || answer.also.some(also => also === cause)
  const open = ['unknown', 'node-unreachable', 'ipam-full', 'other'].includes(cause)
  const fits =
    same || (open && answer.confidence !== 'high') || (cause === 'nothing-found' && answer.cause === 'other')
  return fits ? undefined : shown
}
