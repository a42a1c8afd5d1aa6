import { barredBecause, type FleetEvent, foldFleet, withSwitch } from '../core/brakes.js'
import type { Clock, History } from '../ports.js'
import { record } from './record.js'

export type { FleetEvent } from '../core/brakes.js'

/** One history for the whole cluster, so that two clicks cannot take the last place twice. */
export const fleetStream = 'fleet'

export const underRepair = (events: FleetEvent[]): Map<string, { run: string; at: number }> =>
  foldFleet(events).underRepair

const noPlace = (others: readonly string[], most: number): string | undefined =>
  others.length < most
    ? undefined
    : `Not now: ${others.join(', ')} ${others.length === 1 ? 'is' : 'are'} under repair, and at most ${most} may be at a time.`

/** Takes a place for this run; answers why there is none, for the person who asked. */
export const takeNode = async (
  { history, clock, settings }: { history: History; clock: Clock; settings: { paused: boolean } },
  node: string,
  run: string,
  most: number,
): Promise<string | undefined> => {
  let barred: string | undefined
  await record<FleetEvent>(history, fleetStream, events => {
    const brakes = withSwitch(foldFleet(events), settings.paused)
    const taken = brakes.underRepair.get(node)?.run === run
    const others = [...brakes.underRepair.keys()].filter(n => n !== node)
    barred = barredBecause(brakes, node) ?? (taken ? undefined : noPlace(others, most))
    return barred === undefined && !taken ? [{ at: clock.now(), type: 'Taken', node, run }] : []
  })
  return barred
}

export const freeNode = async (
  { history, clock }: { history: History; clock: Clock },
  node: string,
  run: string,
): Promise<void> => {
  await record<FleetEvent>(history, fleetStream, events =>
    underRepair(events).get(node)?.run === run ? [{ at: clock.now(), type: 'Freed', node, run }] : [],
  )
}
