import { runStream } from '../../src/core/incident/incident.js'
import type { RunEvent } from '../../src/core/runbook/run.js'
import { drive, type Driven, type Person } from './drive.js'
import { type Around, between, type Point } from './faults.js'
import type { Traced } from './trace.js'
import { lies } from './truth.js'
import { startWorld, type World } from './world.js'

/** One generated case: a story with one fault in it. Answers what was wrong at its end. */
export interface Case {
  name: string
  step: number
  run: () => Promise<string[]>
}

export const nameOf = ({ step, doing, port, method, n }: Traced): string =>
  `step ${step + 1} ${doing}: call ${n} ${port}.${method}`

/** What leaves a trace when its worker dies right after it. Dying around a call that only reads is dying after the last of these. */
export const leaves = ({ port, method }: Point): boolean =>
  port === 'jobs' ||
  ['append', 'keepBundle', 'setSchedulable', 'createTestPod', 'deletePod', 'evict', 'run'].includes(method)

export const told = async (
  runbook: string,
  around: Around,
  person: Person,
  more?: (world: World, driven: Driven) => Promise<string[]>,
  next?: Around,
): Promise<string[]> => {
  const world = await startWorld(runbook)
  try {
    const successors = next ? [world.worker(between(world.ports, next))] : []
    const first = world.worker(between(world.ports, around))
    const driven = await drive(world, first, person, successors)
    return [...(await lies(world)), ...((await more?.(world, driven)) ?? [])]
  } catch (error) {
    return [`${error instanceof Error ? error.message : String(error)}`]
  }
}

export const startsOf = async (world: World): Promise<number[]> => {
  const run = await world.run()
  const { events } = await world.history.read<RunEvent>(runStream(run?.run ?? ''))
  return (run?.lines ?? []).map(
    (_, index) => events.filter(event => event.type === 'StepStarted' && event.index === index).length,
  )
}

export const mustEnd =
  (outcome: string) =>
  async (world: World): Promise<string[]> => {
    const run = await world.run()
    const why = run?.lines.find(({ error }) => error)?.error?.message ?? ''
    return run?.outcome === outcome ? [] : [`it ended ${run?.outcome} and not ${outcome}: ${why}`]
  }
