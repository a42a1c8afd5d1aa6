import type { CniMessage } from '../diagnosis/cni-message.js'

/**
 * What somebody saw, in one shape: from a saved evidence bundle, a case file or a pasted message. Every part is optional;
 * a part that is absent was not looked at, which is never the same as nothing found.
 */
export interface Report {
  /** What a person typed; may be wrong or loaded, and is never evidence by itself. */
  symptom: string | undefined
  /** Free keys as given, in lower case: distro, runtime, cni, pod_cidr, max_pods, storage, … */
  environment: ReadonlyMap<string, string>
  /** Events, journal, agent logs and what commands printed, in that order. */
  lines: Line[]
  pods: PodRow[]
  node: NodeSeen | undefined
  store: StoreSeen | undefined
  sandboxes: SandboxesSeen | undefined
  rollout: RolloutSeen | undefined
  /** `ip route` by node. */
  routes: { node: string; lines: string[] }[]
  commands: CommandSeen[]
}

export type LineSource = 'event' | 'journal' | 'agent-log' | 'command'

/** One line of text, with where it comes from. */
export interface Line {
  from: LineSource
  /** An event's reason, a journal's unit, the command that printed it; '' for an agent's log. */
  source: string
  /** An event's object: pod/api-1. */
  object: string | undefined
  /** How often an event was seen; 1 for other lines. */
  count: number
  /** Over which time, in milliseconds; undefined where it was not told. */
  overMs: number | undefined
  warning: boolean
  text: string
  /** Not read for what commands print: that is output of many kinds, not a message. */
  reading: CniMessage | undefined
}

/** One line of `kubectl get pods -o wide`. */
export interface PodRow {
  /** Undefined where the namespace was not printed. */
  namespace: string | undefined
  name: string
  ready: number | undefined
  containers: number | undefined
  /** As printed: Running, Init:0/1, ContainerCreating, ErrImagePull, Terminating, … */
  status: string
  restarts: number | undefined
  /** Undefined for `<none>` and where it was not printed. */
  ip: string | undefined
  node: string | undefined
  text: string
}

export interface NodeSeen {
  name: string | undefined
  /** Ready → True, DiskPressure → False, … */
  conditions: ReadonlyMap<string, string>
  readyReason: string | undefined
  readyMessage: string | undefined
  /** key[=value]:effect */
  taints: string[]
  unschedulable: boolean | undefined
  /** All running Pods that are bound to the node, those on the host network too. */
  runningPods: number | undefined
  maxPods: number | undefined
}

/** The address store of a node. */
export interface StoreSeen {
  /** host-local, whereabouts, …; undefined where it was not told. */
  plugin: string | undefined
  dataDir: string | undefined
  /** As told: may name several ranges, or say more in brackets. */
  subnet: string | undefined
  /** Address entries alone, without bookkeeping. */
  count: number | undefined
  bookkeeping: string[]
  /** Some entries, each perhaps with words in brackets: `10.17.3.14 (0 bytes)`. */
  sample: string[]
  /** From a bundle alone: owners compared with the runtime's sandboxes by id. */
  byId: StandingCounts | undefined
}

/** How many address files are what, by owner id (`core/ipam/gap.ts`). */
export interface StandingCounts {
  live: number
  orphaned: number
  young: number
  unreadable: number
  emptyFiles: number
  usable: number | undefined
  /** Whether everything that a removal needs was read (`records` too). */
  complete: boolean
}

export interface SandboxesSeen {
  ready: number | undefined
  notReady: number | undefined
  /** How many of the ready ones use the host network. */
  hostNetwork: number | undefined
  /** For a secondary network. */
  attached: number | undefined
  /** Why there is no list, where the runtime was asked for it. */
  failed: string | undefined
  note: string | undefined
}

export interface RolloutSeen {
  name: string
  desired: number | undefined
  current: number | undefined
  updated: number | undefined
  ready: number | undefined
  available: number | undefined
  missingNode: string | undefined
  nodesTotal: number | undefined
  hostPort: number | undefined
  note: string | undefined
}

export interface CommandSeen {
  cmd: string
  output: string[]
}
