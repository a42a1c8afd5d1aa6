import { removalOnceDrained } from '../core/drain/after-drain.js'
import type { Bundle } from '../core/evidence/bundle.js'
import { type GivesBack, givesBack, inPlace } from '../core/runbook/comparison.js'
import type { Runbook, StepSpec } from '../core/runbook/schema.js'
import type { DrainLook } from './compare-pods.js'

const isRemoval = (step: StepSpec): step is StepSpec & { kind: 'remove-orphans' } =>
  step.kind === 'remove-orphans'

const olderThan = (runbook: Runbook | undefined): number | undefined =>
  runbook?.steps.find(isRemoval)?.older_than

const noRemoval = (name: string): GivesBack => ({
  unknown: `no runbook ${name} with a removal in it is loaded`,
})

/** What either repair's own removal would be planned to give back, from one reading of the node. */
export const addressesOf = (
  bundle: Bundle,
  runbooks: { reconcile: Runbook | undefined; drain: Runbook | undefined },
  drained: DrainLook | { unknown: string },
): { addresses: GivesBack; drained: GivesBack } => {
  const here = olderThan(runbooks.reconcile)
  const then = olderThan(runbooks.drain)
  const afterDrain = (): GivesBack => {
    if (then === undefined) return noRemoval('leak-drain')
    if ('unknown' in drained) return { unknown: 'which Pods would stay is not known' }
    return givesBack(bundle, removalOnceDrained(bundle, drained.staying, then))
  }
  return {
    addresses: here === undefined ? noRemoval('leak-reconcile') : givesBack(bundle, inPlace(bundle, here)),
    drained: afterDrain(),
  }
}
