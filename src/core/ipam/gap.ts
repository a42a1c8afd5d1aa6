import {
  type Allocation,
  type Answer,
  type Bundle,
  type Conflist,
  isKnown,
  known,
  type NetworkStore,
  type PodFacts,
  type RuntimeRecords,
  type Sandbox,
  unknown,
} from '../evidence/bundle.js'
import { setFinder } from './range-set.js'
import { type SetCount, setCounts, tightest } from './set-counts.js'

export type { SetCount } from './set-counts.js'

/** Where one allocation stands, by its owner's id. */
export type Standing =
  | { allocation: Allocation; standing: 'live'; because: 'listed' | 'recorded' }
  | { allocation: Allocation; standing: 'young'; because: string }
  | { allocation: Allocation; standing: 'orphaned' }
  | { allocation: Allocation; standing: 'foreign'; because: string }
  | { allocation: Allocation; standing: 'outside'; because: string }

/** Allocations against sandboxes, by container id; counts are only for the headline. */
export interface Gap {
  network: string
  standings: Standing[]
  /**
   * Address files in the range set that has the fewest left, `usable` is of the same set; with one set, all files
   * inside the ranges. Where the ranges are not known, all address files.
   */
  taken: number
  live: number
  orphaned: number
  young: number
  foreign: number
  outside: number
  unreadable: number
  /** Addresses the range sets can give; undefined where the conflist could not be read. */
  usable: number | undefined
  /** Every range set; empty where the conflist could not be read. */
  sets: SetCount[]
  sandboxes: { total: number; ready: number; notReady: number; hostNetwork: number | undefined }
  /** Ready Pod-network sandboxes that own no allocation; undefined where the API's Pods are not known. */
  withoutAddress: number | undefined
}

/** 64 lower-case hex digits: what containerd, CRI-O and Docker call a sandbox. */
export const isSandboxId = (owner: string): boolean => /^[0-9a-f]{64}$/.test(owner)

export interface Compared {
  store: NetworkStore
  conflist?: Conflist
  sandboxes: readonly Sandbox[]
  /** The runtime's own earlier records; undefined where they could not be read. */
  records: RuntimeRecords | undefined
  pods?: readonly PodFacts[]
  /** The node's clock. */
  now: number
  /** Unlisted and younger than this is a Pod that may still be starting. */
  youngerThanMs: number
}

const foreignOwner = (owner: string): string =>
  owner === '' ? 'the file is empty: no owner was ever written' : 'its owner is no sandbox of the runtime'

/**
 * By container id. A sandbox owns its address in every state, NotReady too, and so does one that the runtime has only
 * written down so far: on containerd and CRI-O the address file exists before the sandbox is listed.
 */
const standingOf = (
  allocation: Allocation,
  input: Compared,
  listed: ReadonlySet<string>,
  recorded: ReadonlySet<string>,
  inside: (ip: string) => boolean,
): Standing => {
  const { owner, ip, mtime } = allocation
  const living = listed.has(owner) ? 'listed' : recorded.has(owner) ? 'recorded' : undefined
  if (!inside(ip)) {
    const because = `in none of the configured ranges${living ? '; its sandbox lives' : ''}`
    return { allocation, standing: 'outside', because }
  }
  if (!isSandboxId(owner)) return { allocation, standing: 'foreign', because: foreignOwner(owner) }
  if (living) return { allocation, standing: 'live', because: living }
  const age = input.now - mtime
  if (age < 0) return { allocation, standing: 'young', because: "its time lies ahead of the node's clock" }
  if (age < input.youngerThanMs)
    return {
      allocation,
      standing: 'young',
      because: `made ${Math.round(age / 1_000)} s ago: its Pod may still be starting`,
    }
  return { allocation, standing: 'orphaned' }
}

/** The API's Pod behind a sandbox. A static Pod's sandbox carries the kubelet's uid, not the mirror Pod's: then by name. */
const podFinder = (pods: readonly PodFacts[]): ((sandbox: Sandbox) => PodFacts | undefined) => {
  const byUid = new Map(pods.map(pod => [pod.uid, pod]))
  const byName = new Map(pods.map(pod => [`${pod.namespace}/${pod.name}`, pod]))
  return sandbox => byUid.get(sandbox.podUid) ?? byName.get(`${sandbox.namespace}/${sandbox.pod}`)
}

const sandboxCounts = (input: Compared): Pick<Gap, 'sandboxes' | 'withoutAddress'> => {
  const { sandboxes, store, pods } = input
  const ready = sandboxes.filter(sandbox => sandbox.state === 'ready')
  const counts = { total: sandboxes.length, ready: ready.length, notReady: sandboxes.length - ready.length }
  if (pods === undefined)
    return { sandboxes: { ...counts, hostNetwork: undefined }, withoutAddress: undefined }
  const find = podFinder(pods)
  const owners = new Set(store.allocations.map(allocation => allocation.owner))
  const hostNetwork = sandboxes.filter(sandbox => find(sandbox)?.hostNetwork).length
  const without = ready.filter(sandbox => find(sandbox)?.hostNetwork === false && !owners.has(sandbox.id))
  return { sandboxes: { ...counts, hostNetwork }, withoutAddress: without.length }
}

/** Allocations of one network against the runtime's sandboxes, id by id. */
export const compare = (input: Compared): Gap => {
  const listed = new Set(input.sandboxes.map(sandbox => sandbox.id))
  const recorded = new Set(input.records?.ids)
  const { store } = input
  const rangeSets = input.conflist?.ipam.rangeSets ?? []
  const setOf = setFinder(rangeSets)
  // Without ranges nothing is known to be outside them.
  const inside = (ip: string): boolean => rangeSets.length === 0 || setOf(ip) !== undefined
  const standings = store.allocations.map(one => standingOf(one, input, listed, recorded, inside))
  const count = (standing: Standing['standing']): number =>
    standings.filter(entry => entry.standing === standing).length
  const sets = setCounts(store, input.conflist)
  const tight = tightest(sets)
  return {
    network: store.network,
    standings,
    taken: tight?.taken ?? standings.length - count('outside'),
    live: count('live'),
    orphaned: count('orphaned'),
    young: count('young'),
    foreign: count('foreign'),
    outside: count('outside'),
    unreadable: store.unreadable.length,
    usable: tight?.usable,
    sets,
    ...sandboxCounts(input),
  }
}

/** The store of the network that the runtime uses: the conflist's own; without a conflist, the only one there is. */
export const storeInUse = (
  stores: readonly NetworkStore[],
  conflist: Conflist | undefined,
): NetworkStore | undefined =>
  conflist === undefined
    ? stores.length === 1
      ? stores[0]
      : undefined
    : stores.find(store => store.network === conflist.name)

/** With the runtime's own records the in-flight window is closed; a minute is for clocks that disagree a little. */
export const youngWithRecords = 60_000
/** Without them: longer than any runtime takes from the address file to the listed sandbox (CRI-O: 11 minutes). */
export const youngWithoutRecords = 15 * 60_000

/**
 * A Pod that must have a sandbox on its node: up for a while, on the Pod network or not, and not on its way out. One whose
 * init containers still run is Pending and has one, as far as the kubelet says so.
 */
export const mustHaveSandbox = (pod: PodFacts, at: number): boolean =>
  (pod.phase === 'Running' || (pod.phase === 'Pending' && pod.sandboxReady === true)) &&
  pod.deletedAt === undefined &&
  pod.sandboxReady !== false &&
  pod.ips.length > 0 &&
  (pod.startedAt ?? pod.createdAt) < at - 60_000

/**
 * An empty list while Pods run there is no answer: a second runtime's endpoint answers politely with nothing.
 * Returns why the list cannot be believed.
 */
const emptyListDoubt = (
  bundle: Bundle,
  sandboxes: readonly Sandbox[],
  allocations: number,
): string | undefined => {
  if (sandboxes.length > 0) return undefined
  if (!isKnown(bundle.pods))
    return allocations > 0
      ? `the runtime lists no sandbox, and the API's Pods are not known: ${bundle.pods.reason}`
      : undefined
  const running = bundle.pods.value.filter(pod => mustHaveSandbox(pod, bundle.collectedAt))
  if (running.length === 0) return undefined
  return `the runtime lists no sandbox although ${running.length} Pods run on this node: check which runtime endpoint was asked`
}

/**
 * The gap of one bundle, or why there is none: no store, no sandbox list, an empty list that cannot be true, no clock.
 * A conflist, records or Pods that are missing leave their own parts of the result undefined.
 */
export const measure = (bundle: Bundle): Answer<Gap> => {
  const at = bundle.collectedAt
  if (!isKnown(bundle.stores)) return unknown(bundle.stores.reason, at)
  if (!isKnown(bundle.sandboxes)) return unknown(bundle.sandboxes.reason, at)
  if (!isKnown(bundle.host)) return unknown(bundle.host.reason, at)
  const conflist = isKnown(bundle.conflist) ? bundle.conflist.value : undefined
  if (conflist !== undefined && conflist.ipam.type !== 'host-local')
    return unknown(
      `addresses are given by ${conflist.ipam.type}, not by host-local: there is no store to count`,
      at,
    )
  const store = storeInUse(bundle.stores.value, conflist)
  if (store === undefined) return unknown(noStore(bundle.stores.value, conflist), at)
  const doubt = emptyListDoubt(bundle, bundle.sandboxes.value, store.allocations.length)
  if (doubt !== undefined) return unknown(doubt, at)
  const records = isKnown(bundle.records) ? bundle.records.value : undefined
  const gap = compare({
    store,
    ...(conflist && { conflist }),
    sandboxes: bundle.sandboxes.value,
    records,
    ...(isKnown(bundle.pods) && { pods: bundle.pods.value }),
    now: bundle.host.value.now,
    youngerThanMs: records === undefined ? youngWithoutRecords : youngWithRecords,
  })
  return known(gap, at)
}

const noStore = (stores: readonly NetworkStore[], conflist: Conflist | undefined): string =>
  conflist === undefined
    ? `${stores.length} networks have a store and the configuration that would name one could not be read`
    : `network ${conflist.name} has no store under ${conflist.ipam.dataDir}: the plugin has not run yet, or keeps it elsewhere`

/** Whether a new Pod finds no address; undefined where the ranges are not known. */
export const isExhausted = (gap: Pick<Gap, 'taken' | 'usable'>): boolean | undefined =>
  gap.usable === undefined ? undefined : gap.taken >= gap.usable

/** The headline's numbers, without the list of allocations. */
export const countsOf = (gap: Gap): Omit<Gap, 'standings'> => {
  const { standings: _, ...counts } = gap
  return counts
}

/** The allocations of one standing, in the store's order. */
export const allocationsWith = (gap: Gap, standing: Standing['standing']): Allocation[] =>
  gap.standings.filter(entry => entry.standing === standing).map(entry => entry.allocation)
