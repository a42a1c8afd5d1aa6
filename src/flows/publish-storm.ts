import { type FleetEvent, foldFleet } from '../core/brakes.js'
import { threadStream } from '../core/incident/incident.js'
import { type Clock, type History, Lost, type Thread } from '../ports.js'
import { digestOf } from '../view/blocks.js'
import { stormMessage } from '../view/storm.js'
import { fleetStream } from './fleet.js'
import { foldThread, lossesOf, recordThread, type ThreadEvent } from './thread-events.js'

export interface PublishStormDeps {
  clusterName: string
  history: History
  thread: Thread
  clock: Clock
  settings: { channel: string; timeZone: string; escalateTo: string }
}

const key = 'storm'

/** Draws the message of the last storm, level-triggered; one that was deleted is posted anew. */
export const publishStorm = (deps: PublishStormDeps) => async (): Promise<void> => {
  const { history, thread, clock, clusterName: cluster, settings } = deps
  const { storm } = foldFleet((await history.read<FleetEvent>(fleetStream)).events)
  if (!storm) return
  const stream = threadStream(`fleet/storm-${storm.since}`)
  const want = stormMessage({ cluster, storm, ...settings })
  const digest = digestOf(want)
  const { events } = await history.read<ThreadEvent>(stream)
  const there = foldThread(events).get(key)
  const at = clock.now()
  if (there?.digest === digest) return
  if (there) {
    try {
      await thread.update(there.channel, there.ts, want)
      await recordThread(history, stream, { at, key, type: 'Updated', digest })
      return
    } catch (error) {
      if (!(error instanceof Lost)) throw error
      await recordThread(history, stream, { at, key, type: 'Lost', ts: there.ts, why: error.message })
    }
  }
  const lost = lossesOf((await history.read<ThreadEvent>(stream)).events, key)
  const op = `${cluster}/storm.${storm.since}${lost > 0 ? `#${lost}` : ''}`
  const { channel, ts } = await thread.post(settings.channel, want, { op })
  await recordThread(history, stream, { at, key, type: 'Posted', channel, ts, digest })
}
