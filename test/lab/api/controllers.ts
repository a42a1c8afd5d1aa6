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
}): Controllers =>
  new ControllerManager(new World(options.store, options.clock, options.random ?? Math.random))

class ControllerManager implements Controllers {
  readonly #world: World
  readonly #stopListening: () => void
  #waiting: NodeJS.Immediate | undefined
  #removed: KubeObject[] = []
  #idle: (() => void)[] = []
  #stopped = false

  constructor(world: World) {
    this.#world = world
    this.#stopListening = world.store.onChange((type, resource, object) => {
      if (resource === 'events' || resource === 'leases') return
      if (type === 'DELETED' && owners.has(resource)) this.#removed.push(object)
      this.#wake()
    })
    this.#wake()
  }

  stop(): void {
    this.#stopped = true
    this.#stopListening()
    this.#world.stopListening()
    if (this.#waiting !== undefined) clearImmediate(this.#waiting)
    this.#tellIdle()
  }

  settled(): Promise<void> {
    return new Promise(resolve => {
      this.#idle.push(resolve)
      if (this.#stopped) this.#tellIdle()
      else this.#wake()
    })
  }

  #wake(): void {
    this.#waiting ??= setImmediate(() => this.#pass())
  }

  #pass(): void {
    this.#waiting = undefined
    const removed = this.#removed
    this.#removed = []
    for (const object of removed) this.#attempt(world => collectGarbage(world, object))
    for (const reconcile of passes) this.#attempt(reconcile)
    if (this.#waiting === undefined) this.#tellIdle()
  }

  #attempt(reconcile: (world: World) => void): void {
    try {
      reconcile(this.#world)
    } catch (error) {
      // Somebody else wrote in the middle of the pass: look again, as every controller does.
      if (error instanceof ApiError && [404, 409].includes(error.status.code)) this.#wake()
      else throw error
    }
  }

  #tellIdle(): void {
    for (const tell of this.#idle) tell()
    this.#idle = []
  }
}
