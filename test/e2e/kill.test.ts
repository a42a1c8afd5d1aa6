import type { RunEvent } from '../../src/core/runbook/run.js'
import { createHistory } from '../../src/adapters/redis/history.js'
import { runStream } from '../../src/core/incident/incident.js'
import { textOf, thread } from '../lab/driver.js'
import { liveAddresses, nextDay, repairByClicks, tellStory } from '../lab/play.js'
import { brokenNode, small, times } from '../lab/story.js'
import { builtCli, startWorld, type World } from '../lab/world.js'
import { type Killer, killAtEveryEvent } from './killer.js'

const quiet = { say: () => undefined }

const stepsOf = async (world: World): Promise<string[]> => {
  const history = createHistory({ url: world.redis.url, cluster: 'prod-eu1' })
  const { events } = await history.read<RunEvent>(runStream(`${brokenNode}.1-r1`))
  await history.close()
  return events.flatMap(e =>
    e.type === 'StepDone' ? [e.done.kind] : e.type === 'RunEnded' ? [e.outcome] : [],
  )
}

const keysPosted = (world: World): string[] =>
  thread(world).flatMap(m => {
    const op = m.metadata?.event_payload.op
    return typeof op === 'string' ? [op] : []
  })

describe.each(['worker', 'bot'] as const)(
  'B3: kill -9 of the %s at each recorded event of the story',
  victim => {
    test('the story ends the same', async () => {
      const world = await startWorld({ start: times.loadTest - 600_000, nodes: small.nodes, cli: builtCli })
      let killer: Killer | undefined
      try {
        const say = async (line: string): Promise<void> => {
          if (line.includes('are running')) killer = await killAtEveryEvent(world, victim)
        }
        await tellStory(world, { say: line => void say(line) }, small)
        const node = world.nodes.node(brokenNode)
        const live = liveAddresses(world)
        await repairByClicks(world, quiet)
        const owners = new Map(node.allocations().map(a => [a.address, a.owner]))
        expect([...live].filter(([address, owner]) => owners.get(address) !== owner)).toEqual([])
        expect(node.orphans()).toEqual([])
        await nextDay(world, quiet)
        await killer?.stop()

        expect(await stepsOf(world)).toEqual([
          'confirm',
          'cordon',
          'remove-orphans',
          'expect',
          'test-pod',
          'uncordon',
          'test-pod',
          'expect',
          'expect',
          'expect',
          'completed',
        ])
        expect(textOf(thread(world)[0]!)).toMatch(/^🟢 .*resolved/)
        const keys = keysPosted(world)
        expect(keys.filter((key, i) => keys.indexOf(key) !== i)).toEqual([])
        expect(world.api.store.get('nodes', undefined, brokenNode)?.spec?.unschedulable).toBeUndefined()
        expect(world.api.store.list('pods', 'cnibot')).toEqual([])
        expect(killer?.killed).toEqual(
          expect.arrayContaining([
            'run StepStarted 2',
            'run StepDone 2',
            'run RunEnded',
            'incident RunEnded',
          ]),
        )
      } finally {
        await killer?.stop()
        await world.stop()
      }
    }, 600_000)
  },
)
