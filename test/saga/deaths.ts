import { type Case, leaves, mustEnd, nameOf, told } from './case.js'
import type { Person } from './drive.js'
import { dies } from './faults.js'
import { trace } from './trace.js'

/** kill -9 of the worker right after every call that leaves a trace; another one takes over. */
export const deaths = async (runbook: string, person: Person = {}, during?: 'undoing'): Promise<Case[]> => {
  const { calls } = await trace(runbook, person)
  const mine = calls.filter(call => leaves(call) && (!during || call.doing === during))
  return mine.map(call => ({
    name: `killed after ${nameOf(call)}`,
    step: call.step,
    run: () =>
      told(runbook, dies(call.n, 'after'), person, async (world, { deaths: n }) => [
        ...(n === 1 ? [] : [`${n} workers died`]),
        ...(await mustEnd(during ? 'undone' : 'completed')(world)),
      ]),
  }))
}
