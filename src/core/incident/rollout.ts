import type { Rollout } from '../evidence/bundle.js'
import type { StuckRollout } from './symptom.js'

/** What is remembered of a DaemonSet between two looks; undefined before the first. */
export interface RolloutWatch {
  uid: string
  /** Nodes that lack their Pod, and since when the same node has lacked the same Pod. */
  missing: { node: string; podUid: string | undefined; since: number }[]
}

export interface RolloutReading {
  state: 'complete' | 'moving' | 'stuck'
  /** One symptom a node that is stuck. */
  stuck: StuckRollout[]
  /** Pass it in at the next look. */
  watch: RolloutWatch
}

/**
 * One look at a DaemonSet. Stuck is a node that has lacked the same Pod (by UID) for the whole window; a new Pod on the
 * node or another node's turn is progress. While the controller has not seen the newest generation its counts are old:
 * nothing is reported then, but the clocks go on.
 */
export const readRollout = (
  previous: RolloutWatch | undefined,
  current: Rollout,
  now: number,
  stuckAfterMs: number,
): RolloutReading => {
  const before = previous?.uid === current.uid ? previous.missing : []
  const missing = current.missing.map(({ node, podUid }) => {
    const same = before.find(other => other.node === node && other.podUid === podUid)
    return { node, podUid, since: same?.since ?? now }
  })
  const watch: RolloutWatch = { uid: current.uid, missing }
  const upToDate = current.observedGeneration >= current.generation
  if (missing.length === 0)
    return { state: upToDate && current.ready >= current.desired ? 'complete' : 'moving', stuck: [], watch }
  if (!upToDate) return { state: 'moving', stuck: [], watch }
  const stuck = missing
    .filter(({ since }) => now - since >= stuckAfterMs)
    .map(
      ({ node, podUid, since }): StuckRollout => ({
        kind: 'stuck-rollout',
        node,
        workload: { namespace: current.namespace, kind: 'DaemonSet', name: current.name },
        pod: current.missing.find(other => other.node === node)?.pod,
        podUid,
        since,
        desired: current.desired,
        ready: current.ready,
      }),
    )
  return { state: stuck.length > 0 ? 'stuck' : 'moving', stuck, watch }
}
