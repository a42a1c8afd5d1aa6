import { type Case, mustEnd } from './case.js'
import { drive, type Person } from './drive.js'
import { between, dies } from './faults.js'
import type { Trouble } from './node-model.js'
import { trace } from './trace.js'
import { lies } from './truth.js'
import { waiting } from './undos.js'
import { startWorld, type World } from './world.js'

const troubles: Trouble[] = ['sudo', 'digest', 'folder', 'lock']
const choices = ['retry', 'undo', 'hold', 'escalate'] as const

const removalOf = async (runbook: string): Promise<number | undefined> => {
  const lines = (await (await trace(runbook)).world.run())?.lines ?? []
  const step = lines.findIndex(({ spec }) => spec.kind === 'remove-orphans')
  return step < 0 ? undefined : step
}

/** The script is in trouble from the first order on; by the time of a retry it has been seen to. */
const refusedAtOnce = (runbook: string, step: number): Case[] =>
  troubles.flatMap(trouble =>
    choices.map(choice => ({
      name: `the node refuses (${trouble}), then ${choice}`,
      step,
      run: async () => {
        const world = await startWorld(runbook)
        world.onNode.trouble = trouble
        const before = (pressed: string): void => {
          if (pressed === 'retry') world.onNode.trouble = undefined
        }
        await drive(world, world.worker(), { atPause: [choice], before })
        return [
          ...(await lies(world)),
          ...(choice === 'retry' ? await mustEnd('completed')(world) : []),
          ...(choice !== 'retry' && world.onNode.changes.length > 0
            ? ['a script that never ran moved files']
            : []),
        ]
      },
    })),
  )

/** The worker dies right after the files have moved, and the node refuses whoever asks what became of them. */
const refusedAfterDeath = async (runbook: string, step: number): Promise<Case[]> => {
  const { calls } = await trace(runbook)
  const moving = calls.findLast(
    call => call.step === step && call.port === 'shell' && call.doing === 'acting',
  )
  if (!moving) return []
  return troubles.flatMap(trouble =>
    choices.map(choice => ({
      name: `killed after the files moved, then the node refuses (${trouble}), then ${choice}`,
      step,
      run: async () => {
        const world = await startWorld(runbook)
        world.onNode.beforeScript = () => {
          if (world.onNode.changes.length > 0) world.onNode.trouble = trouble
        }
        const before = (pressed: string): void => {
          if (pressed === 'retry' || pressed === 'undo') mend(world)
        }
        const first = world.worker(between(world.ports, dies(moving.n, 'after')))
        const { deaths } = await drive(world, first, { atPause: [choice], before })
        return [
          ...(deaths === 1 && world.onNode.changes.length > 0 ? [] : ['no file had moved']),
          ...(await lies(world)),
          ...(choice === 'retry' ? await mustEnd('completed')(world) : []),
          ...(choice === 'undo' ? await mustEnd('undone')(world) : []),
        ]
      },
    })),
  )
}

const mend = (world: World): void => {
  world.onNode.trouble = undefined
  world.onNode.beforeScript = () => undefined
}

/** The node refuses to put anything back: once, which the undo must survive, or for good, which must not pass for done. */
const refusedUndo = async (runbook: string, step: number): Promise<Case[]> => {
  const [undoAt] = (await waiting(runbook)).filter(each => each > step)
  if (undoAt === undefined) return []
  return troubles.flatMap(trouble =>
    [1, Infinity].map(times => ({
      name: `the node refuses the undo (${trouble}), ${times === 1 ? 'once' : 'each time'}`,
      step,
      run: async () => {
        const world = await startWorld(runbook)
        let asked = 0
        world.onNode.beforeScript = verb => {
          if (verb === 'restore') asked += 1
          world.onNode.trouble = verb === 'restore' && asked <= times ? trouble : undefined
        }
        await drive(world, world.worker(), { undoAt })
        return [...(await lies(world)), ...(await mustEnd(times === 1 ? 'undone' : 'stuck')(world))]
      },
    })),
  )
}

/** Somebody answers at one of the addresses: before the worker's own look, or only after it, when the node alone sees it. */
const heldAddress = (runbook: string, step: number): Case[] =>
  (['before the look', 'after the look'] as const).flatMap(when =>
    (['stays', 'goes'] as const).flatMap(what =>
      choices.map(choice => ({
        name: `an address is in use ${when} and ${what}, then ${choice}`,
        step,
        run: async () => {
          const world = await startWorld(runbook)
          const { onNode } = world
          const [ip = ''] = world.leaked
          if (when === 'after the look')
            onNode.beforeScript = verb => void (verb === 'remove' && onNode.answering.add(ip))
          const person: Person = {
            atPause: [choice],
            before: async pressed => {
              const asked = (await world.run())?.position === step
              if (pressed === 'approve' && asked && when === 'before the look') onNode.answering.add(ip)
              // The test of the network has shown that an address is left: by now nobody answers there.
              if (what === 'goes' && !asked) onNode.answering.delete(ip)
            },
          }
          await drive(world, world.worker(), person)
          return [
            ...(await lies(world)),
            ...(onNode.changes.includes(`move ${ip}`)
              ? [`${ip} was moved although somebody answers there`]
              : []),
            ...(onNode.changes.filter(change => change.startsWith('move')).length === world.leaked.length - 1
              ? []
              : ['the others were not moved']),
          ]
        },
      })),
    ),
  )

/** What a node can say no to by itself, wherever a runbook removes addresses. */
export const refusals = async (runbook: string): Promise<Case[]> => {
  const step = await removalOf(runbook)
  if (step === undefined) return []
  return [
    ...refusedAtOnce(runbook, step),
    ...(await refusedAfterDeath(runbook, step)),
    ...(await refusedUndo(runbook, step)),
    ...heldAddress(runbook, step),
  ]
}
