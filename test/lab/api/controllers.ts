import type { KubeObject, LabStore } from '../store.js'
import { reconcileBudgets } from './controllers/budgets.js'
import { reconcileDaemonSets } from './controllers/daemonsets.js'
import { reconcileDeployments } from './controllers/deployments.js'
import { collectGarbage } from './controllers/garbage.js'
import { reconcileJobs } from './controllers/jobs.js'
import { reconcileTaints } from './controllers/node-lifecycle.js'
import { reconcileReplicaSets } from './controllers/replicasets.js'
import { schedule } from './controllers/scheduler.js'
import { reconcileStatefulSets } from './controllers/statefulsets.js'
import { World } from './controllers/world.js'
import type { ReadClock } from './shapes.js'
import { ApiError } from './status.js'

export interface Controllers {
  stop(): void
  /** Resolves when a pass over everything changes nothing more. */
  settled(): Promise<void>
}

const passes = [
  reconcileTaints,
  reconcileDeployments,
  reconcileReplicaSets,
  reconcileStatefulSets,
  reconcileDaemonSets,
  reconcileJobs,
  schedule,
  reconcileBudgets,
]

const owners = new Set(['deployments', 'replicasets', 'statefulsets', 'daemonsets', 'jobs'])

/**
 * The controller manager and the scheduler. Any change of an object wakes them once, in the next turn of the event
 * loop; each pass looks at everything, so that the order of changes does not matter. An error in a pass ends the
 * process: a lab whose cluster stands still would only look like a slow one.
 */
export const startControllers = (options: {
  store: LabStore
  clock: ReadClock
  random?: () => number
}): Controllers => {
  const world = new World(options.store, options.clock, options.random ?? Math.random)
  let waiting: NodeJS.Immediate | undefined
  let removed: KubeObject[] = []
  let idle: (() => void)[] = []
  const attempt = (reconcile: (world: World) => void) => {
    try {
      reconcile(world)
    } catch (error) {
      // Somebody else wrote in the middle of the pass: look again, as every controller does.
      if (error instanceof ApiError && [404, 409].includes(error.status.code)) wake()
      else throw error
    }
  }
  const pass = () => {
    waiting = undefined
    const gone = removed
    removed = []
    for (const object of gone) collectGarbage(world, object)
    for (const reconcile of passes) attempt(reconcile)
    if (waiting !== undefined) return
    for (const tell of idle) tell()
    idle = []
  }
  const wake = () => {
    waiting ??= setImmediate(pass)
  }
  const stopListening = options.store.onChange((type, resource, object) => {
    if (resource === 'events' || resource === 'leases') return
    if (type === 'DELETED' && owners.has(resource)) removed.push(object)
    wake()
  })
  wake()
  return {
    stop: () => {
      stopListening()
      if (waiting !== undefined) clearImmediate(waiting)
    },
    settled: () =>
      new Promise(resolve => {
        idle.push(resolve)
        wake()
      }),
  }
}
