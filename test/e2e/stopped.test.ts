import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { createHistory } from '../../src/adapters/redis/history.js'
import { runStream } from '../../src/core/incident/incident.js'
import type { RunEvent } from '../../src/core/runbook/run.js'
import { liveAddresses, repairByClicks, tellStory } from '../lab/play.js'
import type { Running } from '../lab/processes.js'
import { brokenNode, small, times } from '../lab/story.js'
import { builtCli, startWorld, type World } from '../lab/world.js'

const quiet = { say: () => undefined }

/** Stops the worker the moment it has written down that the removal begins, and starts another one. */
const stopAtRemoval = (world: World): { stopped: Promise<Running>; close: () => void } => {
  const socket = connect(world.redis.port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write('MONITOR\r\n')
  const lines = createInterface({ input: socket })
  const stopped = new Promise<Running>((resolve, reject) => {
    lines.on('line', line => {
      if (!/"rpush" .*history:run\/.*"type":"StepStarted","index":2\b/i.test(line.replaceAll('\\"', '"')))
        return
      lines.close()
      const first = world.running('worker')
      if (!first) return reject(new Error('no worker runs'))
      process.kill(first.pid, 'SIGSTOP')
      world.start('worker').then(() => resolve(first), reject)
    })
  })
  stopped.catch(() => undefined)
  return { stopped, close: () => socket.destroy() }
}

const eventsOf = async (world: World): Promise<RunEvent[]> => {
  const history = createHistory({ url: world.redis.url, cluster: 'prod-eu1' })
  const { events } = await history.read<RunEvent>(runStream(`${brokenNode}.1-r1`))
  await history.close()
  return events
}

test('B3: a worker that is stopped in the removal and wakes when another one has ended it does nothing more', async () => {
  const world = await startWorld({ start: times.loadTest - 600_000, nodes: small.nodes, cli: builtCli })
  let first: Running | undefined
  try {
    await tellStory(world, quiet, small)
    const node = world.nodes.node(brokenNode)
    const live = liveAddresses(world)
    const { stopped, close } = stopAtRemoval(world)
    await repairByClicks(world, quiet)
    first = await stopped
    close()
    const before = await eventsOf(world)
    process.kill(first.pid, 'SIGCONT')
    const log = join(world.dir, 'logs', 'worker.log')
    const woke = (): boolean => /lost the lock on|overtaken by another worker/.test(readFileSync(log, 'utf8'))
    for (const deadline = performance.now() + 60_000; !woke(); await pause(100))
      if (performance.now() > deadline) throw new Error('the stopped worker did not notice within 60 s')
    expect(await first.kill('SIGTERM')).toBe(0)

    const owners = new Map(node.allocations().map(a => [a.address, a.owner]))
    expect([...live].filter(([address, owner]) => owners.get(address) !== owner)).toEqual([])
    expect(node.orphans()).toEqual([])
    const starts = before.flatMap(e => (e.type === 'StepStarted' && e.index === 2 ? [e.fence ?? 0] : []))
    expect(starts).toHaveLength(2)
    expect(starts[1]).toBeGreaterThan(starts[0] ?? 0)
    expect(before.filter(e => e.type === 'StepDone' && e.index === 2)).toHaveLength(1)
    expect(before.at(-1)).toMatchObject({ type: 'RunEnded', outcome: 'completed' })
    expect(await eventsOf(world)).toEqual(before)
    expect(world.api.store.get('nodes', undefined, brokenNode)?.spec?.unschedulable).toBeUndefined()
  } finally {
    await first?.kill('SIGKILL')
    await world.stop()
  }
}, 600_000)
