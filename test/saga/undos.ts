import { Failed } from '../../src/ports.js'
import { type Case, mustEnd, nameOf, told } from './case.js'
import type { Person } from './drive.js'
import { between, fails, type Point } from './faults.js'
import { drive } from './drive.js'
import { trace } from './trace.js'
import { lies } from './truth.js'
import { startWorld } from './world.js'

const nothing = (_point: Point, call: () => Promise<unknown>): Promise<unknown> => call()

/** Steps that wait for a person, in the story without a fault. */
export const waiting = async (runbook: string): Promise<number[]> => {
  const run = await (await trace(runbook)).world.run()
  return (run?.lines ?? []).flatMap((line, index) => (line.approved ? [index] : []))
}

/** Where undo has most to put back: the removal is done and the cordon still stands. Nowhere where nothing asks after a change. */
export const latestUndo = async (runbook: string): Promise<Person> => {
  const run = await (await trace(runbook)).world.run()
  const uncordon = (run?.lines ?? []).findIndex(({ spec }) => spec.kind === 'uncordon')
  return uncordon < 0 ? {} : { undoAt: uncordon }
}

/** Undo pressed instead of each approval, with all addresses still free and with one of them given out since. */
export const undos = async (runbook: string): Promise<Case[]> =>
  (await waiting(runbook)).flatMap(undoAt =>
    [false, true].map(taken => ({
      name: `undo instead of approving step ${undoAt + 1}${taken ? ', an address has a new owner' : ''}`,
      step: undoAt,
      run: async () => {
        const world = await startWorld(runbook)
        const before = (pressed: string): void => {
          const [ip = ''] = world.leaked
          if (pressed === 'undo' && taken && !world.onNode.store.has(ip))
            world.startPod('payments', 'newcomer', ip)
        }
        await drive(world, world.worker(between(world.ports, nothing)), { undoAt, before })
        return [...(await lies(world)), ...(await mustEnd('undone')(world))]
      },
    })),
  )

/**
 * What is asked of cluster and node meanwhile fails: once, which must not be the end of it, or as often as the undo is tried,
 * which is then stuck where it was the undo itself that asked.
 */
export const failedUndos = async (runbook: string, person: Person): Promise<Case[]> => {
  const { calls } = await trace(runbook, person)
  const reaching = calls.filter(
    ({ doing, port }) => doing === 'undoing' && (port === 'cluster' || port === 'shell'),
  )
  return reaching.flatMap((call, i) =>
    [1, 3].map(times => ({
      name: `the undo fails at ${nameOf(call)}, times ${times}`,
      step: call.step,
      run: () =>
        told(
          runbook,
          fails(
            call.n,
            times,
            ({ port }) => port === call.port,
            () => new Failed('failed by a test'),
            i % 2 === 1,
          ),
          person,
          times === 1 ? mustEnd('undone') : undefined,
        ),
    })),
  )
}
