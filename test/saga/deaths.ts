import { Failed, Refused, Unreachable } from '../../src/ports.js'
import { type Case, leaves, mustEnd, nameOf, told } from './case.js'
import { drive, type Person } from './drive.js'
import { type Around, between, dies, fails, type Point } from './faults.js'
import { trace, type Traced } from './trace.js'
import { lies } from './truth.js'
import { startWorld } from './world.js'

/** kill -9 of the worker right after every call that leaves a trace; another one takes over. */
export const deaths = async (
  runbook: string,
  person: Person = {},
  outcome: 'completed' | 'undone' = 'completed',
): Promise<Case[]> => {
  const { calls } = await trace(runbook, person)
  return calls.filter(leaves).map(call => ({
    name: `killed after ${nameOf(call)}`,
    step: call.step,
    run: () =>
      told(runbook, dies(call.n, 'after'), person, async (world, { deaths: n }) => [
        ...(n === 1 ? [] : [`${n} workers died`]),
        ...(await mustEnd(outcome)(world)),
      ]),
  }))
}

const reaches = ({ port }: Point): boolean => port === 'cluster' || port === 'shell'

const errors = {
  refused: () => new Refused('refused by a test'),
  failed: () => new Failed('failed by a test'),
  unreachable: () => new Unreachable('unreachable by a test'),
}

/** Calls that change the cluster or the node. */
const changesOf = async (runbook: string): Promise<Traced[]> =>
  (await trace(runbook)).calls.filter(call => call.doing === 'acting' && reaches(call) && leaves(call))

/** Killed right after it changed something, and the node was started anew before the next one looks. */
export const reboots = async (runbook: string): Promise<Case[]> =>
  (await changesOf(runbook)).flatMap(call =>
    (['hold', 'undo'] as const).map(choice => ({
      name: `killed after ${nameOf(call)}, the node is started anew, then ${choice}`,
      step: call.step,
      run: async () => {
        const world = await startWorld(runbook)
        const reboot: Around = async ({ n }, asked) => {
          const [facts] = world.cluster.all.nodes
          if (n === 0 && facts) facts.bootId = world.onNode.bootId = 'c0ffee00-0d6f-4a55-9b0e-1f3a5d6c7e81'
          return asked()
        }
        const first = world.worker(between(world.ports, dies(call.n, 'after')))
        const next = world.worker(between(world.ports, reboot))
        await drive(world, first, { atPause: [choice] }, [next])
        return lies(world)
      },
    })),
  )

/** Killed right after it changed something, and the first thing that the next one asks of cluster or node goes wrong. */
export const relapses = async (runbook: string): Promise<Case[]> => {
  return (await changesOf(runbook)).flatMap(call =>
    Object.entries(errors).flatMap(([kind, error]) =>
      (['hold', 'undo'] as const).map(choice => ({
        name: `killed after ${nameOf(call)}, then ${kind}, then ${choice}`,
        step: call.step,
        run: () =>
          told(
            runbook,
            dies(call.n, 'after'),
            { atPause: [choice] },
            undefined,
            fails(0, 1, reaches, error, false),
          ),
      })),
    ),
  )
}
