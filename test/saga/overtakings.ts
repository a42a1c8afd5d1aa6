import { testPodLabel } from '../../src/core/incident/symptom.js'
import { cordonMark } from '../../src/core/runbook/cordon-mark.js'
import { type Case, nameOf } from './case.js'
import { drive, type Person } from './drive.js'
import { between, stops } from './faults.js'
import { trace, type Traced } from './trace.js'
import { lies } from './truth.js'
import { clusterName, node, startWorld, type World } from './world.js'

/** The worker is stopped at this call, another one does all the rest, then the first goes on as if nothing had been. */
export const overtakings = async (
  runbook: string,
  person: Person = {},
  during: 'acting' | 'undoing' = 'acting',
): Promise<Case[]> => {
  const { calls } = await trace(runbook, person)
  const working = calls.filter(({ doing }) => doing === during)
  return working.map(call => ({
    name: `stopped at ${nameOf(call)}`,
    step: call.step,
    run: () => overtaken(runbook, call, person),
  }))
}

const overtaken = async (runbook: string, call: Traced, person: Person): Promise<string[]> => {
  const world = await startWorld(runbook)
  const { around, reached, lock, go } = stops(call.n)
  const stopped = world.worker(between(world.ports, around), lock)
  let late: Promise<void> | undefined
  const first = {
    ...stopped,
    // Its lock ran out: the job is delivered again, to a worker that works.
    step: async (job: Parameters<typeof stopped.step>[0]): Promise<void> => {
      const working = stopped.step(job)
      const held = await Promise.race([working.then(() => false), reached.then(() => true)])
      if (!held) return
      late = working
      first.step = world.worker().step
      await first.step(job)
    },
  }
  try {
    await drive(world, first, person)
    const wrong = await lies(world)
    turnBack(world, call)
    const { cluster, onNode } = world
    const before = [cluster.changes.length, onNode.changes.length]
    go()
    await late?.catch(() => undefined)
    const done = [...cluster.changes.slice(before[0]), ...onNode.changes.slice(before[1])]
    // A Pod that was made by a request on its way is taken away again by who sent it.
    const stays = done.filter(change => !/^(create|delete) /.test(change))
    const pods = cluster.all.pods.filter(pod => testPodLabel in pod.labels).map(pod => pod.name)
    return [...wrong, ...[...stays, ...pods].map(what => `overtaken, and yet: ${what}`)]
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

/** Somebody puts everything back as it was by hand, so that whatever is done once more from now on is to be seen. */
const turnBack = ({ cluster, onNode, evicted }: World, { method }: Traced): void => {
  const [facts] = cluster.all.nodes
  const mark = cordonMark({ cluster: clusterName, incident: `${node}.1` })
  if (facts?.unschedulable) Object.assign(facts, { unschedulable: false, cordonedBy: undefined })
  else if (facts) Object.assign(facts, { unschedulable: true, cordonedBy: mark })
  onNode.putBack()
  // An eviction on its way names a uid that never comes back.
  if (!method.startsWith('evict after')) cluster.all.pods.push(...evicted.splice(0))
}
