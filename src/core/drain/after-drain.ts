import { nameOf } from '../evictable.js'
import { type Bundle, isKnown, known } from '../evidence/bundle.js'
import { listDoubt } from '../ipam/removal-refusals.js'

/**
 * Why no address could be removed once only these Pods are left on the node, by `namespace/name`: nothing would prove then
 * that the runtime's list is the kubelet's. What the node did not say is judged when it says it. A sandbox is told by its
 * Pod's name, since a static Pod has another uid there.
 */
export const noRemovalAfter = (bundle: Bundle, staying: ReadonlySet<string>): string | undefined => {
  const { pods, sandboxes } = bundle
  if (!isKnown(pods) || !isKnown(sandboxes)) return undefined
  const left = sandboxes.value.filter(({ namespace, pod }) => staying.has(nameOf({ namespace, name: pod })))
  return listDoubt({
    ...bundle,
    pods: known(
      pods.value.filter(pod => staying.has(nameOf(pod))),
      pods.at,
    ),
    sandboxes: known(left, sandboxes.at),
  })
}
