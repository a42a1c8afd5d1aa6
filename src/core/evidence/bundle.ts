import type { Answer } from './answer.js'
import type { NodeFacts, PodFacts, Rollout, SandboxEvents } from './api-facts.js'

export * from './answer.js'
export type * from './api-facts.js'

/** One address file of host-local. */
export interface Allocation {
  /** The file's name: a canonical address. */
  ip: string
  /** First line of the file, trimmed: 64 hex digits for a CRI sandbox, anything else is foreign, '' for an empty file. */
  owner: string
  ifname: string | undefined
  /** The file's exact content, so that acting can insist on it. At most 512 bytes; longer files are not allocations. */
  content: string
  inode: number
  size: number
  mtime: number
}

/** One network's folder of host-local's store. */
export interface NetworkStore {
  network: string
  dir: string
  allocations: Allocation[]
  /** `lock` and `last_reserved_ip.*`. */
  bookkeeping: string[]
  /** Entries that are neither: sub-folders, links, names that are no canonical address, files too long. */
  foreign: { name: string; why: string }[]
  /** Address files that could not be read, with why. */
  unreadable: { name: string; why: string }[]
  /** What `ls | wc -l` prints: every entry. */
  entries: number
  /** Inode of `lock`; undefined where the plugin has not made one. */
  lockInode: number | undefined
}

export interface AddressRange {
  subnet: string
  rangeStart?: string
  rangeEnd?: string
  gateway?: string
}

export interface Conflist {
  path: string
  /** The network's name: the store's folder. */
  name: string
  cniVersion: string | undefined
  /** Plugin types in order: bridge, portmap, … */
  plugins: string[]
  ipam: { type: string; dataDir: string; rangeSets: AddressRange[][] }
  /** Other configuration files in the folder, in the runtime's order; the runtime reads only the first valid one. */
  others: string[]
}

export type SandboxState = 'ready' | 'notready'
export interface Sandbox {
  id: string
  namespace: string
  pod: string
  podUid: string
  attempt: number
  state: SandboxState
  /** undefined where the runtime gave a time that cannot be (containerd after a crash: 272 years ago). */
  createdAt: number | undefined
}

export interface Runtime {
  /** As the runtime names itself: containerd, cri-o, docker. */
  name: string
  version: string
  endpoint: string
  /** Where the endpoint was found: the kubelet's configuration, its command line, or a known default path. */
  endpointFrom: string
  /** Start of the running process. */
  startedAt: number | undefined
}

/** What the runtime wrote down before it listed the sandbox (design rule 3). */
export interface RuntimeRecords {
  /** The command or folder they came from. */
  source: string
  ids: string[]
}

/** What the runtime says of the owner of one sampled address file. */
export interface OwnerAnswer {
  ip: string
  owner: string
  known: boolean
  /** First line of the runtime's answer. */
  said: string
}

export interface JournalLine {
  at: number
  unit: string
  text: string
}
export interface Journal {
  units: string[]
  /** The window asked for. */
  since: number
  until: number
  /** The oldest entry that exists for these units; undefined when the journal is empty. */
  reachesBackTo: number | undefined
  /** Lines about CNI ADD and DEL only, oldest first. */
  lines: JournalLine[]
  /** How many more matching lines there were than are kept. */
  dropped: number
}

export interface Restarts {
  /** Start times seen within the journal's reach, oldest first. */
  runtime: number[]
  kubelet: number[]
  boots: number[]
}

export interface Host {
  hostname: string
  /** The node's own clock when asked. */
  now: number
  /** The node's clock minus ours. */
  skewMs: number
  bootId: string
  bootedAt: number
}

/** Counted and reported, never touched: the leak's other leftovers. */
export interface Leftovers {
  /** Host-side veths in all, and those without a peer namespace or bridge. */
  veths: number
  orphanedVeths: number
  /** `CNI-…` chains of the nat table; undefined where iptables could not be asked. */
  natChains: number | undefined
  /** Entries of libcni's result cache; undefined where its folder could not be read. */
  cachedResults: number | undefined
  /** Of these the empty ones, on which older libcni fails a DEL. */
  emptyResults?: number
}

/** An address that something on the node still holds or has just talked to. */
export interface HeldAddress {
  ip: string
  by: 'namespace' | 'neighbour' | 'route' | 'host'
  where: string
}

/** The two headline numbers of another node, and the third that decides. */
export interface PeerCount {
  node: string
  counts: Answer<{
    allocations: number
    sandboxes: number
    orphans: number
    young: number
    usable: number | undefined
  }>
}

/**
 * What one look at a node brought back. Every part is either a dated value or the reason there is none. Times are
 * milliseconds since 1970.
 */
export interface Bundle {
  cluster: string
  node: string
  /** When the first question was asked, and how long all of them took. */
  collectedAt: number
  durationMs: number
  /** The command exactly as it ran on the node; undefined where the node was never reached. */
  shown: string | undefined
  facts: Answer<NodeFacts>
  pods: Answer<PodFacts[]>
  events: Answer<SandboxEvents[]>
  rollouts: Answer<Rollout[]>
  host: Answer<Host>
  conflist: Answer<Conflist>
  /** All networks found under the data directory; the conflist's own first. */
  stores: Answer<NetworkStore[]>
  runtime: Answer<Runtime>
  sandboxes: Answer<Sandbox[]>
  records: Answer<RuntimeRecords>
  owners: Answer<OwnerAnswer[]>
  held: Answer<HeldAddress[]>
  journal: Answer<Journal>
  restarts: Answer<Restarts>
  leftovers: Answer<Leftovers>
  peers: PeerCount[]
}

/** The parts a node answers over SSH; the rest of a bundle comes from the API. */
export type NodeAnswers = Pick<
  Bundle,
  | 'host'
  | 'conflist'
  | 'stores'
  | 'runtime'
  | 'sandboxes'
  | 'records'
  | 'owners'
  | 'held'
  | 'journal'
  | 'restarts'
  | 'leftovers'
>
