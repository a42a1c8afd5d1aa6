import { noRemovalAfter } from '../core/drain/after-drain.js'
import { nameOf, type PodVerdict } from '../core/evictable.js'
import { Refused } from '../ports.js'
import type { StepContext } from './step.js'

/**
 * A drain for the sake of a removal that cannot follow moves Pods for nothing. Answers what the node did not say.
 * @throws Refused where no address could be removed once only the staying Pods are left
 */
export const removalCanFollow = async (
  ctx: StepContext,
  verdicts: readonly PodVerdict[],
): Promise<string[]> => {
  const { run, index } = ctx
  if (!run.lines.slice(index + 1).some(({ spec }) => spec.kind === 'remove-orphans')) return []
  const { bundle } = await ctx.measure(run.node, 'count')
  const staying = verdicts.filter(({ verdict }) => verdict === 'leave').map(({ pod }) => nameOf(pod))
  const barred = noRemovalAfter(bundle, new Set(staying))
  if (barred !== undefined)
    throw new Refused(
      `once ${run.node} is drained no address could be removed there: ${barred}. Or remove them in place, while Pods run there`,
    )
  const reasons = [bundle.pods, bundle.sandboxes, bundle.runtime].flatMap(answer =>
    'reason' in answer ? [answer.reason] : [],
  )
  return reasons.slice(0, 1).map(reason => `whether addresses can be removed afterwards: ${reason}`)
}
