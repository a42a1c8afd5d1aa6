import type { Clock, History } from '../ports.js'
import { record } from './record.js'

/** Which nodes are under repair; one history for the whole cluster, so that two clicks cannot take the last place twice. */
export type FleetEvent = { at: number; node: string; run: string } & ({ type: 'Taken' } | { type: 'Freed' })

export const fleetStream = 'fleet'

export const underRepair = (events: FleetEvent[]): Map<string, { run: string; at: number }> => {
  const nodes = new Map<string, { run: string; at: number }>()
  for (const { type, node, run, at } of events) {
    if (type === 'Taken') nodes.set(node, { run, at })
    else if (nodes.get(node)?.run === run) nodes.delete(node)
  }
  return nodes
}

/** Takes a place for this run; answers the nodes that hold all places when there is none. */
export const takeNode = async (
  { history, clock }: { history: History; clock: Clock },
  node: string,
  run: string,
  most: number,
): Promise<{ taken: boolean; others: string[] }> => {
  let others: string[] = []
  let taken = true
  await record<FleetEvent>(history, fleetStream, events => {
    const now = underRepair(events)
    others = [...now.keys()].filter(n => n !== node)
    taken = now.get(node)?.run === run || others.length < most
    return taken && now.get(node)?.run !== run ? [{ at: clock.now(), type: 'Taken', node, run }] : []
  })
  return { taken, others }
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
