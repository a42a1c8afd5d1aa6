import { runStream } from '../../src/core/incident/incident.js'
import { changes, type RunEvent, type RunState } from '../../src/core/runbook/run.js'
import { linesOf } from '../../src/core/runbook/schema.js'
import { heldBack, pause, resumeChanges, stopped } from '../../src/flows/brakes.js'
import { runStep } from '../../src/flows/run-step.js'
import type { History } from '../../src/ports.js'
import { fakeBudget } from '../fakes/drain.js'
import { drive, type Person } from './drive.js'
import { lies } from './truth.js'
import { clusterName, node, settings, shippedRunbooks, startWorld, type Worker, type World } from './world.js'

const brakesOf = (world: World) => ({
  history: world.history,
  clock: world.clock,
  jobs: world.jobs,
  log: world.log,
  settings,
})

/** Somebody types `/cni pause` right after this step or its undo was written down as begun, once. */
const pausedAt = (world: World, type: RunEvent['type'], step: number, then: () => unknown): History => {
  let once = false
  return {
    ...world.history,
    append: async (stream, length, events) => {
      const written = await world.history.append(stream, length, events)
      const begins = JSON.stringify(events).includes(`"type":"${type}","index":${step},`)
      if (!written || once || !begins) return written
      once = true
      await pause(brakesOf(world), 'U2', 'the network is being rebuilt')
      then()
      return written
    },
  }
}

const workerOf = (world: World, history: History): Worker => {
  const deps = {
    ...world.ports,
    history,
    clusterName,
    clock: world.clock,
    runbooks: { list: shippedRunbooks },
    log: world.log,
    settings,
  }
  const braked = {
    ...deps,
    mayAct: (state: RunState, index: number) => heldBack(brakesOf(world), state, index),
    stopped: () => stopped(brakesOf(world), node),
  }
  return { ...world.worker(), step: job => runStep(braked)(job, new AbortController().signal) }
}

const done = (world: World): string[] => [...world.cluster.changes, ...world.onNode.changes]

const errorsOf = async (world: World): Promise<string[]> => {
  const { events } = await world.history.read<RunEvent>(runStream(`${node}.1-r1`))
  return events.flatMap(event => (event.type === 'StepFailed' ? [event.error.message] : []))
}

const books = await shippedRunbooks()
const steps = books.flatMap(book =>
  linesOf(book).flatMap(({ kind }, step) => (changes[kind] ? [{ runbook: book.name, kind, step }] : [])),
)

describe('B9: changes are paused right after a step has begun', () => {
  test.each(steps)(
    '$runbook, step $step, $kind: nothing more is changed, and Retry goes on after resume',
    async ({ runbook, step }) => {
      const world = await startWorld(runbook)
      let before: string[] = []
      let meanwhile: string[] | undefined
      const history = pausedAt(world, 'StepStarted', step, () => (before = done(world)))
      const person: Person = {
        atPause: ['retry'],
        before: async pressed => {
          if (pressed !== 'retry') return
          meanwhile = done(world).slice(before.length)
          await resumeChanges(brakesOf(world), 'U2')
        },
      }
      await drive(world, workerOf(world, history), person)
      expect(meanwhile).toEqual([])
      expect(await errorsOf(world)).toEqual([
        expect.stringContaining('changes were paused after it had begun (the network is being rebuilt)'),
      ])
      expect((await world.run())?.outcome).toBe('completed')
      expect(await lies(world)).toEqual([])
    },
  )

  test('a drain that has moved one Pod evicts no other, and says how far it came', async () => {
    const world = await startWorld('leak-drain')
    const kubelet = { ...world.cluster.draining }
    let evicted = 0
    world.cluster.draining.onEvicted = pod => {
      kubelet.onEvicted(pod)
      evicted += 1
      world.cluster.draining.budgets = [fakeBudget('payments', 'api', { allowed: 0 })]
    }
    const cluster = { ...world.cluster }
    world.cluster.evict = async (pod, guard) => {
      if (evicted === 1) await pause(brakesOf(world), 'U2', 'the network is being rebuilt')
      return cluster.evict(pod, guard)
    }
    await drive(world, workerOf(world, world.history), { atPause: ['hold'] })
    expect(evicted).toBe(1)
    expect(await errorsOf(world)).toEqual([
      '1 of 3 Pods left node-07, still there 2: changes were paused after it had begun (the network is being rebuilt)',
    ])
    expect(await lies(world)).toEqual([])
  })

  test('an undo goes on', async () => {
    const world = await startWorld('leak-reconcile')
    let paused = false
    const history = pausedAt(world, 'UndoStarted', 2, () => (paused = true))
    await drive(world, workerOf(world, history), { undoAt: 4 })
    expect(paused).toBe(true)
    expect((await world.run())?.outcome).toBe('undone')
    expect(await lies(world)).toEqual([])
  })
})
