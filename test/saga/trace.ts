import { type Around, between, type Point } from './faults.js'
import { drive, type Person } from './drive.js'
import { startWorld, type World } from './world.js'

/** A call of the story without a fault, with what the run was doing then. */
export interface Traced extends Point {
  step: number
  doing: string
}

/** The calls that one worker makes from the opening of a run to its end when nothing goes wrong. */
export const trace = async (
  runbook: string,
  person: Person = {},
): Promise<{ calls: Traced[]; world: World }> => {
  const world = await startWorld(runbook)
  const calls: Traced[] = []
  const around: Around = async (point, call) => {
    const run = await world.run()
    calls.push({ ...point, step: run?.position ?? 0, doing: run?.status ?? 'opening' })
    return call()
  }
  await drive(world, world.worker(between(world.ports, around)), person)
  return { calls, world }
}
