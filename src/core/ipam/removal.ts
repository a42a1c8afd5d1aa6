import { isKnown, type NetworkStore } from '../evidence/bundle.js'
import { compare, type Standing, storeInUse } from './gap.js'
import { type Judging, judgingFor, verdictOn } from './removal-entries.js'
import { type RemovalInput, twoReadingsMs } from './removal-input.js'
import { refusals } from './removal-refusals.js'

export { quarantineRoot, type RemovalInput, twoReadingsMs } from './removal-input.js'

/** One address file that may go, exactly as it was read: acting insists on every field. */
export interface RemovalEntry {
  ip: string
  owner: string
  ifname: string | undefined
  content: string
  inode: number
  size: number
  mtime: number
  why: string
}
export interface KeptEntry {
  ip: string
  owner: string
  why: string
}

export interface RemovalList {
  network: string
  dir: string
  /** Inode of the plugin's `lock` file, so that the lock taken is the one the plugin takes. */
  lockInode: number
  /** May go, in the store's order. */
  remove: RemovalEntry[]
  /** All other entries of the folder but the bookkeeping, each with its reason. */
  keep: KeptEntry[]
  /** Whose cordon the node is under, as its annotation says; undefined for a cordon of somebody else's. */
  cordonedBy: string | undefined
  bootId: string
  runtimeStartedAt: number | undefined
  /** When the reading was taken, and the earlier one it was compared with; undefined where there was none. */
  readAt: number
  comparedWith: number | undefined
  /**
   * Where the runtime's own records could not be read: the owners must be unlisted again in a reading no earlier than
   * this (our clock). undefined where the records were read.
   */
  secondReadingFrom: number | undefined
}
/** Nothing may be removed, and every reason why. */
export interface RemovalRefused {
  refused: string[]
}
export type RemovalPlan = RemovalList | RemovalRefused

/**
 * Which orphans may go. First everything that forbids touching this node at all, all reasons at once; then each file by
 * its own rules. What cannot be decided from a reading is decided under the lock on the node: same inode, same content.
 */
export const planRemoval = (input: RemovalInput): RemovalPlan => {
  const refused = refusals(input)
  const { bundle, earlier } = input
  const { stores, conflist, sandboxes, host, held, records } = bundle
  // Each of these is refused by a rule above; the compiler asks again.
  if (!isKnown(stores) || !isKnown(conflist) || !isKnown(sandboxes) || !isKnown(host) || !isKnown(held))
    return { refused }
  const store = storeInUse(stores.value, conflist.value)
  if (refused.length > 0 || store?.lockInode === undefined) return { refused }
  const recorded = isKnown(records) ? records.value : undefined
  const gap = compare({
    store,
    conflist: conflist.value,
    sandboxes: sandboxes.value,
    records: recorded,
    now: host.value.now,
    youngerThanMs: Math.max(input.settings.olderThanMs, recorded === undefined ? twoReadingsMs : 0),
  })
  return {
    network: store.network,
    dir: store.dir,
    lockInode: store.lockInode,
    ...sorted(gap.standings, judgingFor(input, host.value, held.value), store),
    cordonedBy: isKnown(bundle.facts) ? bundle.facts.value.cordonedBy : undefined,
    bootId: host.value.bootId,
    runtimeStartedAt: isKnown(bundle.runtime) ? bundle.runtime.value.startedAt : undefined,
    readAt: bundle.collectedAt,
    comparedWith: earlier?.collectedAt,
    secondReadingFrom: recorded === undefined ? (earlier ?? bundle).collectedAt + twoReadingsMs : undefined,
  }
}

const sorted = (
  standings: readonly Standing[],
  judging: Judging,
  store: NetworkStore,
): Pick<RemovalList, 'remove' | 'keep'> => {
  const remove: RemovalEntry[] = []
  const keep: KeptEntry[] = []
  for (const standing of standings) {
    const { allocation } = standing
    const { ip, owner } = allocation
    const verdict = verdictOn(standing, judging)
    if (verdict.may === 'go') remove.push({ ...allocation, why: verdict.why })
    else keep.push({ ip, owner, why: verdict.why })
  }
  // An unreadable file may be a living Pod's: it stays, and is named (law 5).
  for (const { name, why } of store.unreadable)
    keep.push({ ip: name, owner: '', why: `could not be read: ${why}` })
  for (const { name, why } of store.foreign)
    keep.push({ ip: name, owner: '', why: `is no address file: ${why}` })
  return { remove, keep }
}

const sameFile = (a: RemovalEntry, b: RemovalEntry): boolean =>
  a.ip === b.ip &&
  a.owner === b.owner &&
  a.inode === b.inode &&
  a.content === b.content &&
  a.mtime === b.mtime

const whyDropped = (
  approved: RemovalEntry,
  again: RemovalEntry | undefined,
  kept: KeptEntry | undefined,
): string => {
  const now = again ?? kept
  if (now === undefined) return 'the file is no longer there'
  if (now.owner !== approved.owner) return 'the file has another owner now'
  return kept?.why ?? 'the file was written again since the plan'
}

/**
 * What may really be removed: approved ∩ still orphan in the fresh reading, never more. Everything approved that is not
 * in the result is named with its reason. `fresh` must have been compared with the plan's own reading: without one,
 * a restart or lost sandboxes since then would go unnoticed, and nothing is left.
 */
export const stillApproved = (
  fresh: RemovalPlan,
  approved: readonly RemovalEntry[],
): { remove: RemovalEntry[]; dropped: KeptEntry[] } => {
  const drop = (why: string) => approved.map(({ ip, owner }) => ({ ip, owner, why }))
  if ('refused' in fresh) return { remove: [], dropped: drop(fresh.refused.join('; ')) }
  if (fresh.comparedWith === undefined)
    return {
      remove: [],
      dropped: drop('the reading behind the approved plan is not kept any more: plan again'),
    }
  const again = new Map(fresh.remove.map(entry => [entry.ip, entry]))
  const kept = new Map(fresh.keep.map(entry => [entry.ip, entry]))
  const remove: RemovalEntry[] = []
  const dropped: KeptEntry[] = []
  for (const entry of approved) {
    const { ip, owner } = entry
    const other = again.get(ip)
    if (other !== undefined && sameFile(other, entry)) remove.push(entry)
    else dropped.push({ ip, owner, why: whyDropped(entry, other, kept.get(ip)) })
  }
  return { remove, dropped }
}
