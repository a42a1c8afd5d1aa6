import { type Case, mustEnd } from './case.js'
import { drive } from './drive.js'
import { lies } from './truth.js'
import { startWorld, type Worker } from './world.js'
import { trace } from './trace.js'

/** Every job of one step delivered twice: one after the other, and at once to two workers. */
export const deliveries = async (runbook: string): Promise<Case[]> => {
  const steps = (await (await trace(runbook)).world.run())?.lines ?? []
  return steps.flatMap((_, step) =>
    (['one after the other', 'at once'] as const).map(how => ({
      name: `step ${step + 1} delivered twice, ${how}`,
      step,
      run: async () => {
        const world = await startWorld(runbook)
        const one = world.worker()
        const other = world.worker()
        const both: Worker = {
          ...one,
          step: async job => {
            const here = (await world.run())?.position === step
            if (here && how === 'at once') await Promise.all([one.step(job), other.step(job)])
            else {
              await one.step(job)
              if (here) await other.step(job)
            }
          },
        }
        await drive(world, both)
        return [...(await lies(world)), ...(await mustEnd('completed')(world))]
      },
    })),
  )
}
