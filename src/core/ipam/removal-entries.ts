import { shownDuration } from '../duration.js'
import { type Allocation, type HeldAddress, type Host, isKnown } from '../evidence/bundle.js'
import { isSandboxId, type Standing } from './gap.js'
import { canonicalIp, normalIp } from './range-set.js'
import { type RemovalInput, twoReadingsMs } from './removal-input.js'

/** What the rules for one file look at, beside the file. */
export interface Judging {
  input: RemovalInput
  host: Host
  held: readonly HeldAddress[]
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

/** The owner must be what the file says: first line, trimmed (host-local, `backend/disk`: id, CR LF, interface). */
const contentNamesOwner: EntryRule = ({ content, owner }) =>
  (content.split('\n')[0] ?? '').trim() === owner ? undefined : 'its content does not name that owner'

/**
 * An empty file is a crash between create and write (containernetworking/plugins#498); no DEL ever matches it. Only one
 * older than the boot cannot belong to anything that still runs.
 */
const emptyOnlyBeforeBoot: EntryRule = ({ owner, mtime }, { host }) =>
  owner !== '' || mtime < host.bootedAt
    ? undefined
    : 'empty, and not older than the boot: its Pod may still run'

/** `default-…`, `cnitool-…` and the like belong to other tools that share the folder: reported, never removed. */
const ownerIsSandboxId: EntryRule = ({ owner }) =>
  owner === '' || isSandboxId(owner) ? undefined : 'its owner is no sandbox id of 64 hex digits'

/** A namespace, a reachable neighbour, a route or the node itself has the address: somebody may be using it. */
const heldByNothing: EntryRule = ({ ip }, { held }) => {
  const holder = held.find(entry => normalIp(entry.ip) === ip)
  return holder && `still held: ${holder.by} ${holder.where}`.trimEnd()
}

/** A running Pod of the API has this address, whoever the file says owns it. */
const noRunningPodHasIt: EntryRule = ({ ip }, { input }) => {
  const pods = isKnown(input.bundle.pods) ? input.bundle.pods.value : []
  const pod = pods.find(
    ({ phase, hostNetwork, sandboxReady, ips }) =>
      phase === 'Running' && !hostNetwork && sandboxReady !== false && ips.some(own => normalIp(own) === ip),
  )
  return pod && `the running Pod ${pod.namespace}/${pod.name} has this address`
}

/** Asked for this very id, the runtime said that it knows it. */
const runtimeDisownsIt: EntryRule = ({ owner }, { input }) => {
  const owners = isKnown(input.bundle.owners) ? input.bundle.owners.value : []
  return owners.some(answer => answer.owner === owner && answer.known)
    ? 'the runtime still knows its owner'
    : undefined
}

/**
 * Without the runtime's own records an unlisted owner may be a Pod that is just starting: it must be unlisted in two
 * readings that are further apart than any start takes (containerd 4 min, CRI-O 11 min). While planning there is one
 * reading; acting brings the second.
 */
const unlistedTwice: EntryRule = ({ owner, ip }, { input: { bundle, earlier } }) => {
  if (isKnown(bundle.records) || earlier === undefined) return undefined
  if (!isKnown(earlier.sandboxes) || !isKnown(earlier.stores)) return 'the earlier reading is incomplete'
  const apart = bundle.collectedAt - earlier.collectedAt
  if (apart < twoReadingsMs)
    return `unlisted for ${shownDuration(apart)} only; without the runtime's own records ${shownDuration(twoReadingsMs)} are needed`
  if (owner !== '' && earlier.sandboxes.value.some(({ id }) => id === owner))
    return 'its sandbox was listed in the earlier reading'
  const before = earlier.stores.value.some(({ allocations }) =>
    allocations.some(allocation => allocation.ip === ip && allocation.owner === owner),
  )
  return before ? undefined : 'the file was not there in the earlier reading'
}

const entryRules: EntryRule[] = [
  isCanonicalName,
  contentNamesOwner,
  ownerIsSandboxId,
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

/** One file's fate. Only an orphan, or an empty file, can go at all. */
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
