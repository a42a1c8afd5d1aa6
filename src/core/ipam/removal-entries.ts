import { shownDuration } from '../duration.js'
import {
  type Allocation,
  type Bundle,
  type HeldAddress,
  type Host,
  isKnown,
  type PodFacts,
} from '../evidence/bundle.js'
import type { Standing } from './gap.js'
import { canonicalIp, normalIp } from './range-set.js'
import { type RemovalInput, twoReadingsMs } from './removal-input.js'

/** What the rules for one file look at, beside the file; addresses in canonical spelling. */
export interface Judging {
  input: RemovalInput
  host: Host
  heldBy: ReadonlyMap<string, string>
  podAt: ReadonlyMap<string, string>
  /** Ids that the runtime said it knows when asked for each. */
  known: ReadonlySet<string>
  /** Of the earlier reading: listed ids, and `address owner` of every file. undefined where it is incomplete. */
  before: { listed: ReadonlySet<string>; files: ReadonlySet<string> } | undefined
}

const hasEnded = ({ phase }: PodFacts): boolean => phase === 'Succeeded' || phase === 'Failed'

/** Pending too: a Pod whose init containers run has its sandbox and its address, for hours where they wait. */
const podAddresses = (bundle: Bundle): Map<string, string> => {
  const at = new Map<string, string>()
  for (const pod of isKnown(bundle.pods) ? bundle.pods.value : []) {
    if (hasEnded(pod) || pod.hostNetwork || pod.sandboxReady === false) continue
    const which = pod.phase === 'Running' ? 'running Pod' : 'Pod'
    for (const ip of pod.ips) at.set(normalIp(ip) ?? ip, `the ${which} ${pod.namespace}/${pod.name}`)
  }
  return at
}

const fileKey = ({ ip, owner }: Pick<Allocation, 'ip' | 'owner'>): string => `${ip} ${owner}`

const beforeOf = (earlier: Bundle | undefined): Judging['before'] =>
  earlier === undefined || !isKnown(earlier.sandboxes) || !isKnown(earlier.stores)
    ? undefined
    : {
        listed: new Set(earlier.sandboxes.value.map(({ id }) => id)),
        files: new Set(earlier.stores.value.flatMap(({ allocations }) => allocations.map(fileKey))),
      }

/** Everything that is looked up for each file, made once. */
export const judgingFor = (input: RemovalInput, host: Host, held: readonly HeldAddress[]): Judging => {
  const owners = isKnown(input.bundle.owners) ? input.bundle.owners.value : []
  return {
    input,
    host,
    heldBy: new Map(held.map(({ ip, by, where }) => [normalIp(ip) ?? ip, `${by} ${where}`.trimEnd()])),
    podAt: podAddresses(input.bundle),
    known: new Set(owners.filter(answer => answer.known).map(answer => answer.owner)),
    before: beforeOf(input.earlier),
  }
}

export interface EntryVerdict {
  may: 'go' | 'stay'
  why: string
}

/** One rule for one file: why it must stay, or undefined. */
type EntryRule = (allocation: Allocation, judging: Judging) => string | undefined

/**
 * Bookkeeping and other names are not allocations; the plugin itself writes canonical names only. A second check of
 * what the reading already sorted out, because a wrong name would be a wrong path.
 */
const isCanonicalName: EntryRule = ({ ip }) =>
  canonicalIp(ip) === undefined ? 'its name is no canonical address' : undefined

/**
 * The owner must be what the file says: first line, trimmed (host-local, `backend/disk`: id, CR LF, interface). A file of
 * blanks names nobody and is not empty either: the node's script would refuse the whole list for it.
 */
const contentNamesOwner: EntryRule = ({ content, owner }) =>
  (content.split('\n')[0] ?? '').trim() === owner && (owner !== '' || content === '')
    ? undefined
    : 'its content does not name that owner'

/**
 * An empty file is a crash between create and write (containernetworking/plugins#498); no DEL ever matches it. Only one
 * older than the boot cannot belong to anything that still runs.
 */
const emptyOnlyBeforeBoot: EntryRule = ({ owner, mtime }, { host }) =>
  owner !== '' || mtime < host.bootedAt
    ? undefined
    : 'empty, and not older than the boot: its Pod may still run'

/** A namespace, a reachable neighbour, a route or the node itself has the address: somebody may be using it. */
const heldByNothing: EntryRule = ({ ip }, { heldBy }) => {
  const holder = heldBy.get(ip)
  return holder && `still held: ${holder}`
}

/** A Pod of the API that has not ended has this address, whoever the file says owns it. */
const noRunningPodHasIt: EntryRule = ({ ip }, { podAt }) => {
  const pod = podAt.get(ip)
  return pod && `${pod} has this address`
}

/** Asked for this very id, the runtime said that it knows it. */
const runtimeDisownsIt: EntryRule = ({ owner }, { known }) =>
  known.has(owner) ? 'the runtime still knows its owner' : undefined

/**
 * Without the runtime's own records an unlisted owner may be a Pod that is just starting: it must be unlisted in two
 * readings that are further apart than any start takes (containerd 4 min, CRI-O 11 min). While planning there is one
 * reading; acting brings the second.
 */
const unlistedTwice: EntryRule = (allocation, { input: { bundle, earlier }, before }) => {
  if (isKnown(bundle.records) || earlier === undefined) return undefined
  if (before === undefined) return 'the earlier reading is incomplete'
  const apart = bundle.collectedAt - earlier.collectedAt
  if (apart < twoReadingsMs)
    return `unlisted for ${shownDuration(apart)} only; without the runtime's own records ${shownDuration(twoReadingsMs)} are needed`
  if (before.listed.has(allocation.owner)) return 'its sandbox was listed in the earlier reading'
  return before.files.has(fileKey(allocation)) ? undefined : 'the file was not there in the earlier reading'
}

const entryRules: EntryRule[] = [
  isCanonicalName,
  contentNamesOwner,
  emptyOnlyBeforeBoot,
  heldByNothing,
  noRunningPodHasIt,
  runtimeDisownsIt,
  unlistedTwice,
]

const candidate = (allocation: Allocation, judging: Judging): EntryVerdict => {
  for (const rule of entryRules) {
    const why = rule(allocation, judging)
    if (why !== undefined) return { may: 'stay', why }
  }
  const made = `made ${shownDuration(judging.host.now - allocation.mtime)} ago`
  if (allocation.owner === '') return { may: 'go', why: `empty, older than the boot, ${made}` }
  const known = isKnown(judging.input.bundle.records)
  return {
    may: 'go',
    why: `${known ? 'no such sandbox, listed or on record' : 'no such sandbox listed'}; ${made}`,
  }
}

/**
 * One file's fate. Only an orphan or an empty file can go at all: `default-…`, `cnitool-…` and other owners that are no 64
 * hex digits belong to other tools that share the folder, and are only reported.
 */
export const verdictOn = (standing: Standing, judging: Judging): EntryVerdict => {
  switch (standing.standing) {
    case 'live':
      return {
        may: 'stay',
        why:
          standing.because === 'listed'
            ? 'its sandbox lives'
            : 'its sandbox is on record: its Pod may be starting',
      }
    case 'young':
    case 'outside':
      return { may: 'stay', why: standing.because }
    case 'foreign':
      return standing.allocation.owner === ''
        ? candidate(standing.allocation, judging)
        : { may: 'stay', why: standing.because }
    case 'orphaned':
      return candidate(standing.allocation, judging)
  }
}
