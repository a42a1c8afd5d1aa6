import { Unreachable } from '../../src/ports.js'
import { type Case, leaves, mustEnd, nameOf, startsOf, told } from './case.js'
import { fails, type Point } from './faults.js'
import { trace, type Traced } from './trace.js'

/** Of all reads of one kind in one phase of one step the first; every write. */
const worthTrying = (calls: readonly Traced[]): Traced[] => {
  const key = ({ step, doing, port, method }: Traced): string => `${step} ${doing} ${port} ${method}`
  return calls.filter(
    call => call.method === 'append' || call === calls.find(each => key(each) === key(call)),
  )
}

const stored = ({ port }: Point): boolean => port === 'history' || port === 'jobs'
const away = (): Error => new Unreachable('Redis could not be reached: a test')

/** Redis is away from this call on for a few calls; where it writes, the write may have arrived all the same. */
export const outages = async (runbook: string): Promise<Case[]> => {
  const { calls } = await trace(runbook)
  return worthTrying(calls.filter(stored)).flatMap((call, i) => {
    const writes = leaves(call)
    const one = (took: boolean): Case => ({
      name: `Redis away ${took ? '(the write arrived) ' : ''}at ${nameOf(call)}`,
      step: call.step,
      run: () =>
        told(runbook, fails(call.n, 1 + (i % 4), stored, away, took), {}, async world => {
          const begun = call.doing === 'acting' && !(call.method === 'append' && !started(calls, call))
          const twice = begun ? (await startsOf(world)).findIndex(n => n > 1) : -1
          return [
            ...(twice < 0 ? [] : [`step ${twice + 1} was begun twice although its worker lived`]),
            ...(await mustEnd('completed')(world)),
          ]
        }),
    })
    return writes ? [one(false), one(true)] : [one(false)]
  })
}

/** Whether the step's start was on record before this call: the first append while acting is that very record. */
const started = (calls: Traced[], call: Traced): boolean =>
  calls.some(
    each => each.n < call.n && each.step === call.step && each.doing === 'acting' && each.method === 'append',
  )
