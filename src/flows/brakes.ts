import {
  barredBy,
  type Brakes,
  type FleetEvent,
  foldFleet,
  nextOfStorm,
  type Storm,
  type StormSettings,
  stormNow,
  withSwitch,
} from '../core/brakes.js'
import type { IncidentState } from '../core/incident/incident.js'
import { changes, type RunEvent, type RunState } from '../core/runbook/run.js'
import type { Clock, History, Jobs, Log } from '../ports.js'
import { allIncidents } from './all-incidents.js'
import { fleetStream } from './fleet.js'
import { enqueueRecorded, record } from './record.js'

export interface BrakeDeps {
  history: History
  clock: Clock
  settings: { paused: boolean }
}

/** As they stand now; the setting outweighs what was typed. */
export const brakesNow = async ({ history, settings }: Omit<BrakeDeps, 'clock'>): Promise<Brakes> =>
  withSwitch(foldFleet((await history.read<FleetEvent>(fleetStream)).events), settings.paused)

/**
 * Asked right before a step begins. A change that was approved and not begun when a pause or a storm came is given up: its
 * approval must not lie in wait for the end of it; nor may one that nobody carried out in its time. One that has begun looks at what it has done (`stopped` keeps it from doing
 * more), and what only reads is left alone.
 */
export const heldBack = async (
  deps: BrakeDeps,
  state: RunState,
  index: number,
): Promise<RunEvent | undefined> => {
  const line = state.lines[index]
  if (!line || !changes[line.spec.kind] || line.plan?.nothingToDo || line.status === 'acting')
    return undefined
  if (line.expiresAt !== undefined && deps.clock.now() >= line.expiresAt) {
    const why = 'its approval had expired before it began; it needs a new one'
    return { at: deps.clock.now(), by: 'cnibot', type: 'PlanOutdated', index, why }
  }
  const barred = barredBy(await brakesNow(deps), state.node, 'before it began')
  if (barred === undefined) return undefined
  const why = `${barred}; it needs a new approval when changes go on`
  return { at: deps.clock.now(), by: 'cnibot', type: 'PlanOutdated', index, why }
}

/**
 * Asked before each single change of a step that has begun, which may wait for budgets or a second reading for an hour: why
 * it must not be made. What the step has done stays on record, for an undo or another try.
 */
export const stopped = async (deps: Omit<BrakeDeps, 'clock'>, node: string): Promise<string | undefined> =>
  barredBy(await brakesNow(deps), node, 'after it had begun')

export interface PauseDeps extends BrakeDeps {
  log: Log
  jobs: Jobs
  settings: { paused: boolean; incidentWindowMs: number }
}

/** Every open thread says whether changes are paused, so each is drawn again. */
const drawAgain = async (deps: PauseDeps): Promise<string | undefined> => {
  const incidents = await allIncidents(deps.history, deps.log, deps.settings.incidentWindowMs)
  const open = incidents.filter(each => each.opened && each.status !== 'resolved')
  return enqueueRecorded(deps.jobs, [
    ...open.map(({ node }) => ({ kind: 'publish' as const, node, length: 0 })),
    { kind: 'publish-storm' },
  ])
}

/** `/cni pause why`: one event; answers what the channel is told. */
export const pause = async (deps: PauseDeps, by: string, why: string): Promise<string> => {
  let before: Brakes['paused']
  const written = await record<FleetEvent>(deps.history, fleetStream, events => {
    before = foldFleet(events).paused
    return before ? [] : [{ at: deps.clock.now(), type: 'Paused', by, why }]
  })
  if (!written.changed) return `Changes are paused already, by <@${before?.by}>: ${before?.why}.`
  const late = await drawAgain(deps)
  return `*Changes are paused* by <@${by}>: ${why}. No run is opened, no plan approved, no approved step begins, and one that has begun changes nothing more; reading goes on, and undo still works. /cni resume ends it.${late ? ` ${late}` : ''}`
}

const stormGoesOn = (storm: Storm): string =>
  ` The storm of ${storm.nodes.length} nodes goes on, and no repair is offered there: /cni resume storm declares it over.`

const leftStanding = (before: Brakes | undefined, what: 'pause' | 'storm', switchedOff: boolean): string => {
  const storm = before && stormNow(before)
  if (switchedOff) return ' CNIBOT_PAUSED is set: nothing changes until it is unset.'
  if (what === 'pause') return storm ? stormGoesOn(storm) : ''
  return before?.paused ? ' Changes stay paused: /cni resume lets them go on.' : ''
}

/** `/cni resume` ends a pause, `/cni resume storm` a storm: who means the one does not lift the other unseen. */
export const resumeChanges = async (
  deps: PauseDeps,
  by: string,
  what: 'pause' | 'storm' = 'pause',
): Promise<string> => {
  let before: Brakes | undefined
  const written = await record<FleetEvent>(deps.history, fleetStream, events => {
    before = foldFleet(events)
    const on = what === 'pause' ? before.paused : stormNow(before)
    return on ? [{ at: deps.clock.now(), type: 'Resumed', by, what }] : []
  })
  const still = leftStanding(before, what, deps.settings.paused)
  if (!written.changed) return `${what === 'pause' ? 'Nothing is paused.' : 'There is no storm.'}${still}`
  const late = await drawAgain(deps)
  const so = still === '' ? ': changes may go on, each after an approval of its plan.' : '.'
  return `<@${by}> ended the ${what}${so}${still}${late ? ` ${late}` : ''}`
}

export interface StormDeps extends PauseDeps {
  settings: PauseDeps['settings'] & { storm: StormSettings }
}

const troubledIn = (incidents: readonly IncidentState[]) =>
  incidents.flatMap(({ node, status, tickets }) => {
    const open = tickets.filter(ticket => ticket.ended === undefined)
    return status === 'resolved' || open.length === 0
      ? []
      : [{ node, firstSeen: Math.max(...open.map(ticket => ticket.firstSeen)) }]
  })

/** How long the message of a storm that is over is still compared with its history. */
const drawnForMs = 60 * 60_000

const lookForStorm = async (deps: StormDeps): Promise<void> => {
  const incidents = await allIncidents(deps.history, deps.log, deps.settings.incidentWindowMs)
  const troubled = troubledIn(incidents).toSorted((a, b) => a.firstSeen - b.firstSeen)
  const written = await record<FleetEvent>(deps.history, fleetStream, events => {
    const next = nextOfStorm(foldFleet(events), troubled, deps.clock.now(), deps.settings.storm)
    return next ? [next] : []
  })
  const { storm } = foldFleet(written.events)
  if (written.changed) {
    deps.log.warn({ nodes: storm?.nodes ?? [], over: storm?.ended !== undefined }, 'storm')
    await drawAgain(deps)
  } else if (storm && deps.clock.now() - (storm.ended?.at ?? Infinity) < drawnForMs)
    // What a crash left recorded and not shown.
    await deps.jobs.enqueue({ kind: 'publish-storm' })
}

/**
 * Looks at all nodes together: a storm begins, grows or is over. Asked after every symptom, of which a storm brings many:
 * one look at a time, and one more for all that came meanwhile. Never throws; the next look makes up for a failed one.
 */
export const watchStorm = (deps: StormDeps): (() => Promise<void>) => {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const run = async (): Promise<void> => {
    try {
      await lookForStorm(deps)
    } catch (error) {
      deps.log.warn({}, `no look for a storm: ${error instanceof Error ? error.message : String(error)}`)
    } finally {
      running = next
      next = undefined
    }
  }
  return () => {
    if (!running) {
      running = run()
      return running
    }
    next ??= running.then(run)
    return next
  }
}
