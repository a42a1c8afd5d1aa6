import { encodeOrder } from '../core/evidence/parse/removal-report.js'
import type { Cluster, Guard, NodeShell } from '../ports.js'

/** One start of a step or an undo, as long as it is the one in charge. */
export interface Order {
  /** Its number: whoever begins later on the same node has a higher one. */
  fence: number
  /** Throws Overtaken when another worker has begun the same since. */
  inCharge: Guard
  /** Throws Refused once changes are paused: asked before each one that a pause must keep from happening. None for an undo. */
  mayGoOn?: Guard
}

/** Another worker has begun what this one was doing: what this one still does must leave no trace. */
export class Overtaken extends Error {
  override name = 'Overtaken'
}

/** Every method of the port is either; a new one does not compile until it is named here. */
const changing = {
  node: false,
  nodes: false,
  podsOnNode: false,
  pod: false,
  podsOfController: false,
  sandboxEvents: false,
  rollouts: false,
  workloadOf: false,
  podEvents: false,
  podsToDrain: false,
  budgets: false,
  whereabouts: false,
  setSchedulable: true,
  createTestPod: true,
  deletePod: true,
  evict: true,
} as const satisfies Record<keyof Cluster, boolean>
type Changes = Pick<
  Cluster,
  { [K in keyof Cluster]: (typeof changing)[K] extends true ? K : never }[keyof Cluster]
>

export interface Reach {
  cluster: Cluster
  shell: NodeShell
}

const noOrder: Guard = async () => {
  throw new Error('planning may not change anything')
}

/**
 * Cluster and nodes as one start of a step reaches them: every change first asks whether the start is still in charge, and
 * the node's script gets the order's number, so that the node itself refuses one that was overtaken. Without an order
 * nothing can be changed.
 */
export const fenced = ({ cluster, shell }: Reach, order: Order | undefined): Reach => {
  const guard = order?.inCharge ?? noOrder
  const onward: Guard = async () => {
    await order?.mayGoOn?.()
    await guard()
  }
  const changes: Changes = {
    setSchedulable: (node, change) => cluster.setSchedulable(node, change, onward),
    createTestPod: async spec => {
      // Before it only: the guard is asked again once the Pod is made, and that one must come to its end.
      await order?.mayGoOn?.()
      return cluster.createTestPod(spec, guard)
    },
    evict: pod => cluster.evict(pod, onward),
    // Only what this program made itself: a pause must not leave it lying around.
    deletePod: async (namespace, name, uid) => {
      await guard()
      await cluster.deletePod(namespace, name, uid)
    },
  }
  return {
    cluster: { ...cluster, ...changes },
    shell: {
      shown: command => shell.shown(command),
      run: async (node, command, options) => {
        if (command.script === 'probe') return shell.run(node, command, options)
        // An empty list moves nothing: it asks what earlier tries have moved.
        await (command.stdin === '' ? guard : onward)()
        const stdin = encodeOrder(order?.fence ?? 0, command.stdin)
        return shell.run(node, { ...command, stdin }, options)
      },
    },
  }
}
