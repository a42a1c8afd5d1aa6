import { Failed, Refused, Unreachable } from '../../src/ports.js'
import { type Case, leaves, mustEnd, nameOf, told } from './case.js'
import type { Person } from './drive.js'
import { dies, fails, type Point } from './faults.js'
import { trace } from './trace.js'

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

/** Killed right after it changed something, and the first thing that the next one asks of cluster or node goes wrong. */
export const relapses = async (runbook: string): Promise<Case[]> => {
  const { calls } = await trace(runbook)
  const changes = calls.filter(call => call.doing === 'acting' && reaches(call) && leaves(call))
  return changes.flatMap(call =>
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
