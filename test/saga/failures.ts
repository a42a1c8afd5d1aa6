import { Failed, Refused, Unreachable } from '../../src/ports.js'
import { type Case, nameOf, told } from './case.js'
import { fails, type Point } from './faults.js'
import { trace } from './trace.js'

const classes = {
  refused: () => new Refused('refused by a test'),
  failed: () => new Failed('failed by a test', 'line 1\nline 2'),
  unreachable: () => new Unreachable('unreachable by a test'),
  bug: () => new TypeError('a bug of a test'),
}

/** Every call to the cluster and the node while a step is planned or done throws, in each of the four ways. */
export const failures = async (runbook: string): Promise<Case[]> => {
  const { calls, world } = await trace(runbook)
  const steps = (await world.run())?.lines ?? []
  const reaching = calls.filter(({ port }) => port === 'cluster' || port === 'shell')
  return steps.flatMap((_, step) =>
    (['planning', 'acting'] as const).flatMap(doing => {
      const mine = reaching.filter(call => call.step === step && call.doing === doing)
      return Object.entries(classes).flatMap(([kind, error], c) =>
        (['retry', 'undo', 'hold', 'escalate'] as const).flatMap((choice, i): Case[] => {
          // Each way to fail meets each choice, at another call of the step each time.
          const call = mine[(c + i) % Math.max(1, mine.length)]
          if (!call || (doing === 'planning' && i % 2 !== c % 2)) return []
          const took = i % 2 === 1
          return [
            {
              name: `${kind}${took ? ' (it was done all the same)' : ''} at ${nameOf(call)}, then ${choice}`,
              step,
              run: () => told(runbook, fails(call.n, 1, reaches, error, took), { atPause: [choice] }),
            },
          ]
        }),
      )
    }),
  )
}
const reaches = ({ port }: Point): boolean => port === 'cluster' || port === 'shell'
