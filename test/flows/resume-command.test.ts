import { type FleetEvent, fleetStream } from '../../src/flows/fleet.js'
import { answerCommand } from '../../src/flows/answer-command.js'
import { fakeCluster } from '../fakes/cluster.js'
import { fakeLog } from '../fakes/log.js'
import { t0 } from '../unit/runbook/runs.js'
import { clickWorld } from './click-world.js'

test('B9: /cni resume and /cni resume storm end one thing each; any other word is answered with help', async () => {
  const made = await clickWorld()
  const settings = { ...made.deps.settings, timeZone: 'UTC' }
  const deps = { ...made.deps, cluster: fakeCluster(), log: fakeLog(), settings }
  const before: FleetEvent[] = [
    { at: t0, type: 'Paused', by: 'U2', why: 'x' },
    { at: t0, type: 'StormSeen', nodes: ['node-07', 'node-08'] },
  ]
  await made.history.append<FleetEvent>(fleetStream, 0, before)
  const type = (text: string) => answerCommand(deps)({ text, by: 'U1', channel: 'C1', id: text })
  const help = await type('resume everything')
  expect(JSON.stringify(help.message)).toContain('/cni resume storm')
  expect(help.inChannel).toBeUndefined()
  await type('resume')
  await type('resume Storm')
  const { events } = await made.history.read<FleetEvent>(fleetStream)
  expect(events.slice(2).map(({ at: _at, ...event }) => event)).toEqual([
    { type: 'Resumed', by: 'U1', what: 'pause' },
    { type: 'Resumed', by: 'U1', what: 'storm' },
  ])
})
