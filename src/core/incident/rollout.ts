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
