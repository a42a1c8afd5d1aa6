import { runStream } from '../../src/core/incident/incident.js'
import type { RunEvent } from '../../src/core/runbook/run.js'
import { commandArgs, opOf } from '../../src/steps/remove-orphans.js'
import { leakingNode, storeWith } from '../unit/leaking-node.js'
import { drive } from './drive.js'
import { startWorld, type World } from './world.js'

const runbook = 'leak-reconcile'

const opIn = async (world: World): Promise<string> => {
  const run = await world.run()
  const index = run?.lines.findIndex(({ spec }) => spec.kind === 'remove-orphans') ?? -1
  if (!run || index < 0) throw new Error('no removal')
  return opOf({ run, index })
}

/** What an earlier history of the same name had moved to quarantine before Redis was set back to when the run was opened. */
const setBack = async (world: World, files: number): Promise<string> => {
  await world.worker().step({ kind: 'step', run: 'node-07.1-r1', node: 'node-07', length: 0 })
  const op = await opIn(world)
  const older = Array.from(
    { length: files },
    (_, i): [string, { owner: string; inode: number; mtime: number }] => [
      `10.244.7.${200 + i}`,
      { owner: 'e'.repeat(64), inode: 90_000 + i, mtime: 0 },
    ],
  )
  world.onNode.quarantine.set(op, new Map(older))
  return op
}

test('B4: a run of the same name that was opened at another time has a quarantine of its own; all tries of a step share one', () => {
  const { dir, network } = storeWith([])
  const at = (openedAt: number, index = 3) => ({
    run: { run: 'node-07.1-r1', openedAt, bootId: 'boot' },
    index,
  })
  const quarantine = (ctx: ReturnType<typeof at>): string => {
    const args = commandArgs(ctx, leakingNode(10, 5), { dir, network, lockInode: 4_711 })
    expect(args[args.indexOf('--op') + 1]).toBe(opOf(ctx))
    return args[args.indexOf('--quarantine') + 1] ?? ''
  }
  const now = Date.UTC(2026, 10, 18)
  expect(quarantine(at(now))).toBe(quarantine(at(now)))
  expect(new Set([at(now), at(now + 1), at(now, 4)].map(quarantine)).size).toBe(3)
  expect(quarantine(at(now))).toBe(
    `/var/lib/cni/cnibot-quarantine/node-07.1-r1-${now.toString(36)}-3/${network}`,
  )
})

test('B4: where Redis was set back, a first removal that finds files in its quarantine is refused, also when it is tried again', async () => {
  const world = await startWorld(runbook)
  const op = await setBack(world, 2)
  const { pressed } = await drive(world, world.worker(), { atPause: ['retry', 'hold'] })
  expect(pressed.filter(action => action === 'retry')).toHaveLength(1)
  const { events } = await world.history.read<RunEvent>(runStream('node-07.1-r1'))
  const errors = events.flatMap(event => (event.type === 'StepFailed' ? [event.error] : []))
  expect(errors).toHaveLength(2)
  for (const error of errors) {
    expect(error.class).toBe('refused')
    expect(error.message).toMatch(
      /^the node refused, and this try moved no file: .*earlier run that had the same name; end this run and open a new one$/,
    )
  }
  expect(world.onNode.changes).toEqual([])
  expect(world.onNode.quarantine.get(op)?.size).toBe(2)
})
