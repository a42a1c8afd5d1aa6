import { removalOnceDrained } from '../core/drain/after-drain.js'
import { nameOf, type PodVerdict } from '../core/evictable.js'
import { inPlace } from '../core/runbook/comparison.js'
import { Refused } from '../ports.js'
import type { StepContext } from './step.js'

/**
 * A drain for the sake of a removal that cannot follow moves Pods for nothing, and no undo brings them back. Answers what
 * the approver is told of it; nothing where no removal follows.
 * @throws Refused where no address could be removed once only the staying Pods are left, or nobody can tell
 */
export const removalCanFollow = async (
  ctx: StepContext,
  verdicts: readonly PodVerdict[],
): Promise<string[]> => {
  const { run, index } = ctx
  const spec = run.lines.slice(index + 1).find(line => line.spec.kind === 'remove-orphans')?.spec
  if (spec?.kind !== 'remove-orphans') return []
  const { bundle } = await ctx.measure(run.node, 'count')
  const staying = verdicts.filter(({ verdict }) => verdict === 'leave').map(({ pod }) => nameOf(pod))
  const then = removalOnceDrained(bundle, new Set(staying), spec.older_than)
  if (!('refused' in then)) {
    const { length } = then.remove
    return [`Afterwards ${length} ${length === 1 ? 'address' : 'addresses'} can be given back, as read now.`]
  }
  const instead =
    'refused' in inPlace(bundle, spec.older_than) ? '' : '. Or remove them in place, while Pods run there'
  throw new Refused(
    `once ${run.node} is drained no address could be removed there: ${then.refused.join('; ')}${instead}`,
  )
}
