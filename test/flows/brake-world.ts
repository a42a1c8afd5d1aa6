import { runStream } from '../../src/core/incident/incident.js'
import type { RunEvent } from '../../src/core/runbook/run.js'
import { type FleetEvent, fleetStream } from '../../src/flows/fleet.js'
import { fakeLog } from '../fakes/log.js'
import { opened, planned } from '../unit/runbook/runs.js'
import { clickWorld } from './click-world.js'

export const run = 'node-07.1-r1'
export const minute = 60_000

/** People who click, and what a bot and a worker need to brake them. */
export const brakeWorld = async (given: Parameters<typeof clickWorld>[0] = {}) => {
  const made = await clickWorld(given)
  const log = fakeLog()
  const deps = {
    ...made.deps,
    log,
    settings: { ...made.deps.settings, storm: { threshold: 3, windowMs: 15 * minute } },
  }
  const fleet = async () => (await made.history.read<FleetEvent>(fleetStream)).events
  const events = async () => (await made.history.read<RunEvent>(runStream(run))).events
  const waiting = () => made.history.append<RunEvent>(runStream(run), 0, [opened(), planned(0, 'cordon')])
  return { ...made, brakes: deps, fleet, events, waiting }
}
