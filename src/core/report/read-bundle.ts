import { readCniMessage } from '../diagnosis/cni-message.js'
import { factsOf, isHappening } from '../diagnosis/facts.js'
import { isFinished } from '../evictable.js'
import { type Bundle, isKnown, type PodFacts, valueIn } from '../evidence/bundle.js'
import { type Gap, measure, storeInUse } from '../ipam/gap.js'
import { foldLines } from './fold-lines.js'
import { once } from './once.js'
import type { Line, PodRow, Report, StandingCounts } from './report.js'

/** What still happens; where nothing does any more, what did. An ended trouble is no part of the one that goes on. */
const eventLines = (bundle: Bundle): Line[] => {
  const all = (valueIn(bundle.events) ?? [])
    .filter(event => event.node === undefined || event.node === bundle.node)
    .map(event => ({ event, reading: readCniMessage(event.message) }))
  const happening = all.filter(({ event, reading }) => isHappening(bundle, event.last, reading))
  return (happening.length > 0 ? happening : all).map(({ event, reading }) => ({
    from: 'event',
    source: 'FailedCreatePodSandBox',
    object: `pod/${event.pod}`,
    count: event.count,
    overMs: event.last - event.first,
    warning: true,
    text: event.message,
    reading,
  }))
}

const journalLines = ({ journal }: Bundle): Line[] =>
  foldLines(
    (valueIn(journal)?.lines ?? []).map(({ unit, text }) => ({
      from: 'journal',
      source: unit,
      object: undefined,
      count: 1,
      overMs: undefined,
      warning: false,
      text,
      reading: undefined,
    })),
  ).map(line => ({ ...line, reading: readCniMessage(line.text) }))

const podRow = (pod: PodFacts): PodRow => ({
  namespace: pod.namespace,
  name: pod.name,
  ready: pod.ready ? 1 : 0,
  containers: undefined,
  status: pod.deletedAt === undefined ? pod.phase : 'Terminating',
  restarts: undefined,
  ip: pod.ips[0],
  node: pod.node,
  text: `${pod.namespace}/${pod.name} ${pod.phase}`,
})

const nodeOf = ({ facts, pods, node }: Bundle): Report['node'] => {
  if (!isKnown(facts)) return undefined
  const { conditions, taints, unschedulable, maxPods } = facts.value
  const ready = conditions.find(({ type }) => type === 'Ready')
  return {
    name: node,
    conditions: new Map(conditions.map(({ type, status }) => [type, status])),
    readyReason: ready?.reason,
    readyMessage: ready?.message,
    taints: taints.map(({ key, effect }) => `${key}:${effect}`),
    unschedulable,
    runningPods: valueIn(pods)?.filter(pod => !isFinished(pod)).length,
    maxPods,
  }
}

/** Whether all was read that decides about a file, and none of the store's files is in doubt. */
const isComplete = ({ facts, host, conflist, records, held }: Bundle, gap: Gap): boolean =>
  [facts, host, conflist, records, held].every(answer => 'value' in answer) &&
  gap.unreadable === 0 &&
  gap.usable !== undefined

const standingCounts = (bundle: Bundle): StandingCounts | undefined => {
  const { gap: measured, emptyFiles } = factsOf(bundle)
  if (!isKnown(measured)) return undefined
  const gap = measured.value
  const { live, orphaned, young, unreadable, usable } = gap
  return { live, orphaned, young, unreadable, usable, emptyFiles, complete: isComplete(bundle, gap) }
}

const noFiles: NonNullable<Report['store']> = {
  plugin: undefined,
  dataDir: undefined,
  subnet: undefined,
  count: undefined,
  bookkeeping: [],
  sample: [],
  byId: undefined,
}

const storeOf = (bundle: Bundle): Report['store'] => {
  const conflist = valueIn(bundle.conflist)
  const stores = valueIn(bundle.stores)
  const own = stores && storeInUse(stores, conflist)
  if (own === undefined) return undefined
  const plugin = conflist?.ipam.type ?? 'host-local'
  // Files that another address manager left unused say nothing about what is taken.
  if (plugin !== 'host-local') return { ...noFiles, plugin }
  return {
    plugin,
    dataDir: own.dir,
    subnet: conflist?.ipam.rangeSets.flatMap(set => set.map(({ subnet }) => subnet)).join(', '),
    count: own.allocations.length + own.unreadable.length,
    bookkeeping: own.bookkeeping,
    sample: own.allocations.slice(0, 8).map(({ ip, size }) => `${ip} (${size} bytes)`),
    byId: standingCounts(bundle),
  }
}

/** An empty list while Pods run there comes from a runtime that was the wrong one to ask: no list. */
const whyNoList = (bundle: Bundle): string | undefined => {
  const { host, sandboxes } = bundle
  if (!isKnown(host)) return undefined
  if (!isKnown(sandboxes)) return sandboxes.reason
  const measured = sandboxes.value.length === 0 ? measure(bundle) : undefined
  return measured === undefined || isKnown(measured) ? undefined : measured.reason
}

const sandboxesOf = (bundle: Bundle): Report['sandboxes'] => {
  const { sandboxes, pods } = bundle
  const failed = whyNoList(bundle)
  const none = {
    ready: undefined,
    notReady: undefined,
    hostNetwork: undefined,
    attached: undefined,
    note: undefined,
  }
  if (failed !== undefined) return { ...none, failed }
  if (!isKnown(sandboxes)) return undefined
  const onHost = valueIn(pods)
    ?.filter(pod => pod.hostNetwork)
    .map(({ uid }) => uid)
  const ready = sandboxes.value.filter(({ state }) => state === 'ready')
  return {
    ...none,
    failed: undefined,
    ready: ready.length,
    notReady: sandboxes.value.length - ready.length,
    hostNetwork: onHost && ready.filter(({ podUid }) => onHost.includes(podUid)).length,
  }
}

const environmentOf = ({ conflist, runtime, facts }: Bundle): ReadonlyMap<string, string> => {
  const seen = valueIn(runtime)
  const told: [string, string | undefined][] = [
    ['runtime', seen && `${seen.name} ${seen.version}`],
    ['cni', valueIn(conflist)?.plugins.join(' + ')],
    ['pod_cidr', valueIn(facts)?.podCidrs.join(', ')],
    ['max_pods', valueIn(facts)?.maxPods.toString()],
  ]
  return new Map(told.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])))
}

/** A rollout that is stuck on this node; where several are, the one that lacks the fewest Pods. */
const rolloutOf = ({ rollouts, node }: Bundle): Report['rollout'] => {
  const [stuck] = (valueIn(rollouts) ?? [])
    .filter(({ missing }) => missing.some(each => each.node === node))
    .toSorted((a, b) => a.missing.length - b.missing.length)
  return (
    stuck && {
      name: `${stuck.namespace}/${stuck.name}`,
      desired: stuck.desired,
      current: undefined,
      updated: stuck.updated,
      ready: stuck.ready,
      available: stuck.available,
      missingNode: node,
      nodesTotal: undefined,
      hostPort: undefined,
      note: undefined,
    }
  )
}

/** One look at a node in the shape of a report: counts by owner id, events, journal, conditions and Pods. */
export const reportOf = once(
  (bundle: Bundle): Report => ({
    symptom: undefined,
    environment: environmentOf(bundle),
    lines: [...eventLines(bundle), ...journalLines(bundle)],
    pods: (valueIn(bundle.pods) ?? []).map(podRow),
    node: nodeOf(bundle),
    store: storeOf(bundle),
    sandboxes: sandboxesOf(bundle),
    rollout: rolloutOf(bundle),
    routes: [],
    commands: [],
  }),
)
