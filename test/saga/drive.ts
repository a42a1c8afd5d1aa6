import { standing } from '../../src/core/runbook/standing.js'
import type { Job } from '../../src/ports.js'
import { Died } from './faults.js'
import { node, type Worker, type World } from './world.js'

export interface Person {
  /** Presses undo instead of approving when this step waits. */
  undoAt?: number
  /** What is pressed at each pause, in order; then hold. */
  atPause?: ('retry' | 'undo' | 'hold' | 'escalate')[]
  /** Something happens in the world right before a click. */
  before?: (pressed: string) => unknown
}

export interface Driven {
  /** Each click, in order. */
  pressed: string[]
  /** How often a worker was killed and another one took its place. */
  deaths: number
}

const attempts = 6

interface Hands {
  worker: Worker
  /** Who takes over when it dies, in order; then one without a fault. */
  successors: Worker[]
}

const succeed = (world: World, hands: Hands, driven: Driven): void => {
  hands.worker = hands.successors.shift() ?? world.worker()
  driven.deaths += 1
}

/** One delivery: a worker that dies leaves its job to another one, a job that could not record is tried again for a while. */
const deliver = async (
  world: World,
  hands: Hands,
  job: Job & { kind: 'step' | 'collect' },
  failures: Map<string, number>,
  driven: Driven,
): Promise<void> => {
  const id = JSON.stringify(job)
  try {
    if (job.kind === 'step') await hands.worker.step(job)
    else await hands.worker.collect(job)
  } catch (error) {
    const tries = (failures.get(id) ?? 0) + 1
    failures.set(id, tries)
    if (error instanceof Died) succeed(world, hands, driven)
    if (error instanceof Died || tries < attempts) await world.jobs.enqueue(job)
  }
}

const press = async (world: World, person: Person, pauses: { seen: number }): Promise<string | undefined> => {
  const run = await world.run()
  const index = run?.position ?? 0
  const line = run?.lines[index]
  if (run?.status === 'paused') {
    const action = person.atPause?.[pauses.seen] ?? 'hold'
    pauses.seen += 1
    await person.before?.(action)
    const answer = await world.click({ action, index, digest: standing(run) })
    if (answer !== '') throw new Error(`${action}: ${answer}`)
    return action
  }
  if (run?.status !== 'awaiting' || !line?.digest) return undefined
  const undo = person.undoAt === index
  const action = undo ? 'undo' : line.spec.kind === 'confirm' ? 'tick' : 'approve'
  await person.before?.(action)
  const answer = await world.click({ action, index, digest: undo ? standing(run) : line.digest })
  if (answer !== '') throw new Error(`${action} ${line.spec.kind}: ${answer}`)
  return action
}

/** Works off what is enqueued, asks `resume` when nothing is, and lets a person click when nothing but that is left. */
export const drive = async (
  world: World,
  first: Worker,
  person: Person = {},
  successors: readonly Worker[] = [],
): Promise<Driven> => {
  const hands: Hands = { worker: first, successors: [...successors] }
  const driven: Driven = { pressed: [], deaths: 0 }
  const failures = new Map<string, number>()
  const pauses = { seen: 0 }
  let asked = false
  for (let turn = 0; turn < 400; turn += 1) {
    const job = world.jobs.take()
    if (job) {
      if (job.kind === 'step' || job.kind === 'collect') {
        await deliver(world, hands, job, failures, driven)
        asked = false
      }
      continue
    }
    if (!asked) {
      asked = true
      await hands.worker.resume().catch((error: unknown) => {
        if (error instanceof Died) succeed(world, hands, driven)
      })
      continue
    }
    if ((await world.incident()).status !== 'repairing') return driven
    const pressed = await press(world, person, pauses)
    if (pressed === undefined) throw new Error('nothing is enqueued and nobody is asked')
    driven.pressed.push(pressed)
    asked = false
  }
  throw new Error(`${node} does not come to an end`)
}
