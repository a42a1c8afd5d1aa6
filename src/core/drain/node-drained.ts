import type { CheckResult } from '../check.js'
import { nameOf, podCount, staysOnNode, staysWord } from '../evictable.js'
import { type Bundle, isKnown } from '../evidence/bundle.js'

const shown = (names: readonly string[]): string =>
  `${names.slice(0, 5).join(', ')}${names.length > 5 ? `, and ${names.length - 5} more` : ''}`

/**
 * Nothing is left that a drain would move: no Pod but those of DaemonSets and the kubelet's own, and no ready sandbox but
 * theirs. Theirs survive a drain with their addresses, so an empty node is not the test (P-A4). A sandbox is told by its
 * Pod's name: a static Pod has another uid in the API than on the node.
 */
export const nodeDrained = ({ node, pods, sandboxes }: Bundle): CheckResult => {
  if (!isKnown(pods))
    return { holds: undefined, says: `${node}: its Pods are not known: ${pods.reason}`, detail: [] }
  const staying = new Set(pods.value.filter(staysOnNode).map(nameOf))
  const left = pods.value.filter(pod => !staysOnNode(pod)).map(nameOf)
  if (left.length > 0)
    return {
      holds: false,
      says: `${node}: ${podCount(left.length)} still there: ${shown(left)}`,
      detail: left,
    }
  if (!isKnown(sandboxes))
    return { holds: undefined, says: `${node}: its sandboxes are not known: ${sandboxes.reason}`, detail: [] }
  const ready = sandboxes.value.filter(({ state }) => state === 'ready')
  const names = ready.map(({ namespace, pod }) => nameOf({ namespace, name: pod }))
  const others = names.filter(name => !staying.has(name))
  if (others.length > 0)
    return {
      holds: false,
      says: `${node}: sandboxes that still run for Pods that are gone, ${others.length}: ${shown(others)}`,
      detail: others,
    }
  return {
    holds: true,
    says: `${node}: drained; ${podCount(staying.size)} of DaemonSets or the kubelet itself ${staysWord(staying.size)}, ready sandboxes ${ready.length}`,
    detail: [...staying],
  }
}
