import { nameOf } from '../evictable.js'
import { type Bundle, isKnown, known } from '../evidence/bundle.js'
import { planRemoval, type RemovalPlan } from '../ipam/removal.js'

/**
 * What a removal would come to once only these Pods are left on the node, by `namespace/name`, as far as that is known
 * before: every rule for the node is asked of what stays, and a silent node is refused as it is then. A sandbox is told by
 * its Pod's name, since a static Pod has another uid there.
 */
export const removalOnceDrained = (
  bundle: Bundle,
  staying: ReadonlySet<string>,
  olderThanMs: number,
): RemovalPlan => {
  const { pods, sandboxes } = bundle
  const left = (of: Partial<Bundle>): RemovalPlan =>
    planRemoval({
      earlier: undefined,
      bundle: { ...bundle, ...of },
      settings: { olderThanMs },
      cordoned: true,
    })
  const stay = isKnown(pods)
    ? {
        pods: known(
          pods.value.filter(pod => staying.has(nameOf(pod))),
          pods.at,
        ),
      }
    : {}
  if (!isKnown(sandboxes)) return left(stay)
  const theirs = sandboxes.value.filter(({ namespace, pod }) => staying.has(nameOf({ namespace, name: pod })))
  const then = left({ ...stay, sandboxes: known(theirs, sandboxes.at) })
  // Addresses of Pods that move go back with their Pods: they are none of the leaked ones.
  return 'refused' in then ? then : left(stay)
}
