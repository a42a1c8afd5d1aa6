import type { Actor } from './runbook/run-events.js'

/** The history of the whole cluster: places of nodes under repair, the pause switch, storms. */
export type FleetEvent = { at: number } & (
  | { type: 'Taken' | 'Freed'; node: string; run: string }
  | { type: 'Paused'; by: Actor; why: string }
  /** Lifts a pause, or declares a storm over; without `what` both. */
  | { type: 'Resumed'; by: Actor; what?: 'pause' | 'storm' }
  /** More nodes than may be one node's fault; again with the whole list when it grows. */
  | { type: 'StormSeen'; nodes: string[] }
  | { type: 'StormOver' }
)

export interface Pause {
  /** A person, or the setting. */
  by: Actor
  /** undefined where the setting says so: it has no time. */
  at: number | undefined
  why: string
}

export interface Storm {
  since: number
  /** In the order they were seen. */
  nodes: string[]
  ended: { at: number; by: Actor } | undefined
}

export interface Brakes {
  underRepair: Map<string, { run: string; at: number }>
  paused: Pause | undefined
  /** The last one; over when it says so. */
  storm: Storm | undefined
}

const applyFleet = (state: Brakes, event: FleetEvent): Brakes => {
  const { at } = event
  switch (event.type) {
    case 'Taken':
      return { ...state, underRepair: new Map(state.underRepair).set(event.node, { run: event.run, at }) }
    case 'Freed': {
      const underRepair = new Map(state.underRepair)
      if (underRepair.get(event.node)?.run === event.run) underRepair.delete(event.node)
      return { ...state, underRepair }
    }
    case 'Paused':
      return { ...state, paused: { by: event.by, at, why: event.why } }
    case 'Resumed': {
      const { storm, paused } = state
      const over = storm && !storm.ended ? { ...storm, ended: { at, by: event.by } } : storm
      return {
        ...state,
        paused: event.what === 'storm' ? paused : undefined,
        storm: event.what === 'pause' ? storm : over,
      }
    }
    case 'StormSeen': {
      const since = state.storm && !state.storm.ended ? state.storm.since : at
      return { ...state, storm: { since, nodes: event.nodes, ended: undefined } }
    }
    case 'StormOver': {
      const { storm } = state
      return { ...state, storm: storm && { ...storm, ended: { at, by: 'cnibot' } } }
    }
  }
}

export const foldFleet = (events: readonly FleetEvent[]): Brakes =>
  events.reduce<Brakes>(applyFleet, { underRepair: new Map(), paused: undefined, storm: undefined })

export const stormNow = ({ storm }: Pick<Brakes, 'storm'>): Storm | undefined =>
  storm?.ended ? undefined : storm

/** CNIBOT_PAUSED outweighs what people typed: nobody resumes what the operator has switched off. */
export const withSwitch = (brakes: Brakes, switchedOff: boolean): Brakes =>
  switchedOff ? { ...brakes, paused: { by: 'cnibot', at: undefined, why: 'CNIBOT_PAUSED is set' } } : brakes

/**
 * Why no change may begin now, for the person who asked. Undo is not asked here: it only puts back what was recorded as
 * found, and a pause that kept a half-done repair on a node would leave the work to a person at a prompt.
 */
export const pausedBecause = ({ paused }: Brakes): string | undefined =>
  paused &&
  `Changes are paused by ${paused.at === undefined ? 'the operator' : `<@${paused.by}>`}: ${paused.why}. ${
    paused.at === undefined ? 'Unset it and restart to go on.' : '/cni resume lets them go on.'
  } Undo still works.`

/** Why no run may be opened on this node now, beside a pause. */
export const stormBecause = (brakes: Brakes, node: string): string | undefined => {
  const storm = stormNow(brakes)
  if (!storm?.nodes.includes(node)) return undefined
  return `${storm.nodes.length} nodes broke at once, ${node} among them: that is not one node's fault, so no repair of a node is offered. An approver ends this with /cni resume storm.`
}

/** Why no change may be approved or tried on this node now, for the person who asked; undo is not asked (`pausedBecause`). */
export const barredBecause = (brakes: Brakes, node: string): string | undefined =>
  pausedBecause(brakes) ?? stormBecause(brakes, node)

/** The same for what is written down: `changes were paused after it had begun (why)`. */
export const barredBy = (
  brakes: Brakes,
  node: string,
  when: 'before it began' | 'after it had begun',
): string | undefined => {
  if (brakes.paused) return `changes were paused ${when} (${brakes.paused.why})`
  const storm = stormNow(brakes)
  return storm?.nodes.includes(node)
    ? `${storm.nodes.length} nodes broke at once ${when}, ${node} among them`
    : undefined
}

/** A node on which something is stuck now. */
export interface Troubled {
  node: string
  /** When its newest trouble was first seen. */
  firstSeen: number
}

export interface StormSettings {
  /** More nodes than this at once are a storm. */
  threshold: number
  windowMs: number
}

/** What the fleet's history must say next of a storm: that it began, that it grew, that it is over; or nothing. */
export const nextOfStorm = (
  brakes: Brakes,
  troubled: readonly Troubled[],
  now: number,
  { threshold, windowMs }: StormSettings,
): FleetEvent | undefined => {
  const storm = stormNow(brakes)
  // What a person has declared over, or what went by, does not count for the next one.
  const from = Math.max(now - windowMs, storm ? -Infinity : (brakes.storm?.ended?.at ?? -Infinity) + 1)
  const fresh = troubled.filter(({ firstSeen }) => firstSeen >= from).map(({ node }) => node)
  if (!storm) return fresh.length > threshold ? { at: now, type: 'StormSeen', nodes: fresh } : undefined
  const nodes = [...new Set([...storm.nodes, ...fresh])]
  if (nodes.length > storm.nodes.length) return { at: now, type: 'StormSeen', nodes }
  const still = troubled.filter(({ node }) => nodes.includes(node)).length
  return still <= threshold ? { at: now, type: 'StormOver' } : undefined
}
