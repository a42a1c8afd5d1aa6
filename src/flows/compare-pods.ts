import { nameOf } from '../core/evictable.js'
import { type MovesAway, movesAway } from '../core/runbook/comparison.js'
import type { StepSpec } from '../core/runbook/schema.js'
import { type Cluster, Failed, Refused, Unreachable } from '../ports.js'
import { type DrainReach, readGround, readVerdicts } from '../steps/drain-facts.js'

export interface PodsReach {
  cluster: DrainReach['cluster'] & Pick<Cluster, 'node' | 'podsToDrain'>
  settings: DrainReach['settings']
}

export interface DrainLook {
  pods: MovesAway
  /** `namespace/name` of the Pods that stay. */
  staying: ReadonlySet<string>
}

/** What a drain of this node would do to its Pods, by the same readings and rules as its plan; else why that is not known. */
export const lookAtDrain = async (
  reach: PodsReach,
  node: string,
  drain: (StepSpec & { kind: 'drain' }) | undefined,
): Promise<DrainLook | { unknown: string }> => {
  if (!drain) return { unknown: 'no runbook leak-drain with a drain in it is loaded' }
  try {
    const facts = await reach.cluster.node(node)
    if (!facts) return { unknown: `${node} is not in the cluster` }
    const pods = await reach.cluster.podsToDrain(node)
    const [{ verdicts, budgets }, ground] = await Promise.all([
      readVerdicts(reach, node, pods, drain),
      readGround(reach, facts, pods),
    ])
    const staying = verdicts.filter(({ verdict }) => verdict === 'leave').map(({ pod }) => nameOf(pod))
    return { pods: movesAway(verdicts, ground, budgets), staying: new Set(staying) }
  } catch (error) {
    if (error instanceof Refused || error instanceof Failed || error instanceof Unreachable)
      return { unknown: error.message }
    throw error
  }
}
