import { runStream } from '../../src/core/incident/incident.js'
import { cordonMark } from '../../src/core/runbook/cordon-mark.js'
import type { Line, RunEvent, RunState } from '../../src/core/runbook/run.js'
import type { StepKind } from '../../src/core/runbook/schema.js'
import { closedChannels } from '../../src/flows/closed-channels.js'
import { type FleetEvent, fleetStream, underRepair } from '../../src/flows/fleet.js'
import { publishThread } from '../../src/flows/publish-thread.js'
import { opOf } from '../../src/steps/remove-orphans.js'
import { FakeThread } from '../fakes/thread.js'
import { clusterName, incidentWindowMs, node, type World } from './world.js'

const ends = ['completed', 'held', 'undone', 'abandoned', 'stuck']

interface Said {
  head: string
  card: string
  /** How the run ended, for the history of the node, the audit and whoever it is handed to; empty until then. */
  end: string
}

/** What people read: the head message and the card of the run, as the real view draws them, and the end on record. */
const said = async (world: World): Promise<Said> => {
  const thread = new FakeThread()
  const { history, clock, log } = world
  const closed = closedChannels(clock, log)
  const settings = { channel: 'C1', incidentWindowMs, timeZone: 'UTC', paused: false }
  const deps = { clusterName, history, thread, clock, log, closedChannels: closed, approversNamed: '@sre' }
  await publishThread({ ...deps, settings })({ node })
  const textOf = (key: string): string =>
    JSON.stringify(thread.posts.find(({ op }) => op.endsWith(`/${key}`))?.message ?? '')
  const end = (await world.incident()).runs.at(-1)?.says ?? ''
  return { head: textOf('head'), card: textOf(`run-${node}.1-r1`), end }
}

const cordonLies = ({ head, card }: Said, world: World, run: RunState): string[] => {
  const facts = world.cluster.all.nodes[0]
  const ours = facts?.unschedulable === true && facts.cordonedBy === cordonMark(run)
  const words = /node-07 (?:is|was) ([^.;]*)/.exec(card)?.[1] ?? ''
  const lies: string[] = []
  const unsure = words.includes('perhaps cordoned')
  if (unsure && (run.outcome === 'completed' || run.outcome === 'undone'))
    lies.push(`unsure of the cordon although the run is ${run.outcome}`)
  if (!unsure && words.includes('cordoned by this incident') && !words.includes('not cordoned by') && !ours)
    lies.push(`the card says "${words}", and it is not`)
  if (/^schedulable|^not cordoned by this/.test(words) && ours)
    lies.push(`the card says "${words}", and its cordon stands`)
  if (/Cordoned \w|stays cordoned/.test(head) && !ours) lies.push('the head says cordoned, and it is not')
  if (/which takes Pods|is schedulable/.test(head) && ours)
    lies.push('the head says schedulable, and it is not')
  return lies
}

/** Its test Pod, of whichever plan it began. */
const podOf = ({ startedPlan }: Line): string | undefined =>
  startedPlan && 'via' in startedPlan.data ? startedPlan.data.name : undefined

/** Whether anything that this step does is to be seen in the world. */
const traces = (world: World, run: RunState, line: Line, index: number): string[] => {
  const facts = world.cluster.all.nodes[0]
  switch (line.spec.kind) {
    case 'cordon':
      return facts?.cordonedBy === cordonMark(run) ? ['the cordon'] : []
    case 'remove-orphans':
      return [...(world.onNode.quarantine.get(opOf({ run, index }))?.keys() ?? [])]
    case 'test-pod':
      return world.cluster.all.pods.map(pod => pod.name).filter(name => name === podOf(line))
    case 'drain':
      return world.cluster.changes.filter(change => change.startsWith('evict'))
    case 'uncordon':
      return liftedCordon(run) && facts?.unschedulable === false ? ['the node takes Pods again'] : []
    case 'confirm':
    case 'expect':
      return []
  }
}

/** A cordon that this run set and has not undone: where it does not stand, its last step has lifted it. */
const liftedCordon = ({ lines }: RunState): boolean =>
  lines.some(({ spec, status, done }) => spec.kind === 'cordon' && status === 'done' && done?.changed)

/** What is denied for the whole run, and the kinds of which nothing must be to be seen then. */
const denials: [RegExp, (kind: StepKind) => boolean][] = [
  [/\bno step changed anything(?! before)|\bnothing was (?!evicted)\w+/i, () => true],
  [/\bnothing was evicted/i, kind => kind === 'drain'],
  [/\bno file was (?:moved|touched)/i, kind => kind === 'remove-orphans'],
]

/** In the head and at the end a step's words stand for the run: what they deny must be true of all that was done. */
const denialLies = ({ head, end }: Said, world: World, run: RunState): string[] => {
  const left = run.lines.map((line, index) => traces(world, run, line, index))
  const seenIn = (of: (line: Line, index: number) => boolean): string[] =>
    left.flatMap((found, index) => {
      const line = run.lines[index]
      return line && of(line, index) ? found : []
    })
  const stopped = run.lines.findLastIndex(
    ({ error, refused }) => error !== undefined || refused !== undefined,
  )
  const before = seenIn((_line, index) => index !== stopped)
  return Object.entries({ head, end }).flatMap(([where, text]) => [
    ...denials.flatMap(([denial, of]) => {
      const [words] = denial.exec(text) ?? []
      const seen = words === undefined ? [] : seenIn(({ spec }) => of(spec.kind))
      return seen.length === 0 ? [] : [`${where}: "${words}", and there is ${seen.join(', ')}`]
    }),
    ...(text.includes('no step changed anything before') && before.length > 0
      ? [`${where}: no step changed anything before, and there is ${before.join(', ')}`]
      : []),
  ])
}

const lineLies = (world: World, run: RunState, card: string, line: Line, index: number): string[] => {
  const left = traces(world, run, line, index)
  const { kind } = line.spec
  const lies: string[] = []
  const [nothing] = /\bnothing was \w+|\bno file was \w+/i.exec(card) ?? []
  if (line.status === 'failed' && nothing !== undefined && left.length > 0)
    lies.push(`${kind}: "${nothing}", and there is ${left.join(', ')}`)
  if (kind === 'remove-orphans') {
    const moved = /(\d+) moved/.exec(line.done?.says ?? '')?.[1]
    if (line.status === 'done' && moved !== String(left.length))
      lies.push(`"${line.done?.says}", and ${left.length} files are in quarantine`)
    const skipped = line.done?.detail.filter(detail => left.some(ip => detail.startsWith(`${ip} `))) ?? []
    if (line.status === 'done') lies.push(...skipped.map(detail => `"${detail}", and it is in quarantine`))
    const not = /(\d+) could not be/.exec(line.undone ?? '')?.[1] ?? '0'
    if (line.status === 'undone' && line.starts > 0 && not !== String(left.length))
      lies.push(`"${line.undone}", and ${left.length} files are in quarantine`)
    if (line.status === 'pending' && line.starts === 0 && left.length > 0)
      lies.push('addresses were removed by a step that never began')
  }
  const over = line.status === 'done' || line.status === 'undone'
  if (kind === 'test-pod' && over && run.status !== 'acting' && left.length > 0)
    lies.push(`the test Pod ${left.join(', ')} is left by a step that is ${line.status}`)
  return lies
}

/** Nothing approved is done twice: counted where it is done. */
const repeats = (world: World, run: RunState, events: RunEvent[]): string[] => {
  const { cluster, onNode } = world
  const count = (type: RunEvent['type'], kind: string): number =>
    events.filter(
      event => event.type === type && 'index' in event && run.lines[event.index]?.spec.kind === kind,
    ).length
  const times = new Map<string, number>()
  for (const change of [...cluster.changes, ...onNode.changes])
    times.set(change, (times.get(change) ?? 0) + 1)
  const of = (change: string): number => times.get(change) ?? 0
  const lies: string[] = []
  const most = (change: string, allowed: number): void => {
    if (of(change) > allowed) lies.push(`${change}: ${of(change)} times, and ${allowed} were asked for`)
  }
  most(`cordon ${node}`, count('StepApproved', 'cordon') + Math.min(1, count('UndoStarted', 'uncordon')))
  most(`uncordon ${node}`, count('StepApproved', 'uncordon') + Math.min(1, count('UndoStarted', 'cordon')))
  for (const ip of world.leaked) {
    most(`move ${ip}`, 1)
    most(`restore ${ip}`, 1)
  }
  for (const change of times.keys())
    if (change.startsWith('evict')) most(change, 1)
    else if (change.startsWith('create') && of(change) > of(`delete ${change.split(' ')[1]}`) + 1)
      lies.push(`${change}: a second one beside the first`)
  return lies
}

/** Everything that is untrue, done twice or unsafe now; empty when all is well. The run waits for a person or has ended. */
export const lies = async (world: World): Promise<string[]> => {
  const run = await world.run()
  const incident = await world.incident()
  const found = world.onNode.robbed().map(who => `a living address was freed: ${who}`)
  if (!run) return [...found, 'there is no run']
  const { events } = await world.history.read<RunEvent>(runStream(run.run))
  const ended = run.status === 'ended'
  if (ended ? !ends.includes(run.outcome ?? '') : !['awaiting', 'paused'].includes(run.status))
    found.push(`the run is ${run.status} ${run.outcome ?? ''}: neither at an end nor waiting for a person`)
  if (ended !== (incident.status !== 'repairing'))
    found.push(`the run is ${run.status}, and the incident ${incident.status}`)
  const places = underRepair((await world.history.read<FleetEvent>(fleetStream)).events)
  if (ended && places.size > 0) found.push('the node keeps its place under repair')
  const texts = await said(world)
  const facts = world.cluster.all.nodes[0]
  if (run.outcome === 'undone' && facts?.cordonedBy === cordonMark(run))
    found.push('undone, and its cordon stands')
  if (run.outcome === 'completed' && !run.lines.every(({ status }) => status === 'done'))
    found.push('completed, and not every step is done')
  return [
    ...found,
    ...cordonLies(texts, world, run),
    ...denialLies(texts, world, run),
    ...run.lines.flatMap((line, index) => lineLies(world, run, texts.card, line, index)),
    ...repeats(world, run, events),
  ]
}
