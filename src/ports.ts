import type { Budget } from './core/drain/budget.js'
import type { Whereabouts } from './core/drain/own-ground.js'
import type { DrainPod } from './core/evictable.js'
import type { Bundle, NodeFacts, PodFacts, Rollout, SandboxEvents } from './core/evidence/bundle.js'
import type { SchedulableChange, TestPodSpec } from './core/requests.js'
import type { Runbook } from './core/runbook/schema.js'

/** Nothing was done; tell the person why. */
export class Refused extends Error {
  override name = 'Refused'
  constructor(
    message: string,
    /** More than fits one line, for who wants to know all of it. */
    readonly output = '',
  ) {
    super(message)
  }
}
/** Could not be reached; worth another try. */
export class Unreachable extends Error {
  override name = 'Unreachable'
}
/** It was tried and did not work; the run pauses and shows `output`. */
export class Failed extends Error {
  override name = 'Failed'
  constructor(
    message: string,
    readonly output = '',
  ) {
    super(message)
  }
}
/** A place in Slack that is not there for us: a message that was deleted, a channel that is archived or closed to the app. */
export class Lost extends Failed {
  override name = 'Lost'
  constructor(
    readonly what: 'message' | 'channel',
    message: string,
    output = '',
  ) {
    super(message, output)
  }
}

export interface Clock {
  now(): number
}

/**
 * Asked right before a change, after what the change depends on was read; throws when somebody else is in charge by now.
 * What is then changed must be guarded by that reading, so that who was held up in between changes nothing either.
 */
export type Guard = () => Promise<void>

/** The cluster, as far as this program asks and changes it. Throws Refused, Unreachable or Failed only. */
export interface Cluster {
  node(name: string): Promise<NodeFacts | undefined>
  nodes(): Promise<NodeFacts[]>
  podsOnNode(node: string): Promise<PodFacts[]>
  pod(namespace: string, name: string): Promise<PodFacts | undefined>
  /** Pods of a controller by its uid: to see where a deleted Pod's replacement went. */
  podsOfController(namespace: string, controllerUid: string): Promise<PodFacts[]>
  sandboxEvents(where: { node?: string; namespace?: string; pod?: string }): Promise<SandboxEvents[]>
  /** All DaemonSets with the nodes that lack their Pod; `node` keeps those that should run there. */
  rollouts(node?: string): Promise<Rollout[]>
  /** Resolves a Pod's controller to the workload people know (ReplicaSet → Deployment, Job → CronJob). */
  workloadOf(
    pod: Pick<PodFacts, 'namespace' | 'name' | 'controller' | 'labels'>,
  ): Promise<{ kind: string; name: string }>
  /**
   * Sets or lifts the cordon in one patch together with our annotation, guarded by the resourceVersion that was read.
   * `cordonedBy` undefined removes the annotation. Returns the state found before.
   */
  setSchedulable(
    node: string,
    change: SchedulableChange,
    guard?: Guard,
  ): Promise<{ wasUnschedulable: boolean; wasCordonedBy: string | undefined }>
  /**
   * Creating a Pod that exists already is not an error: the existing one is returned. `guard` is asked before and after:
   * a Pod that was made although somebody else was in charge by then is deleted again.
   */
  createTestPod(spec: TestPodSpec, guard?: Guard): Promise<PodFacts>
  /** Gone already is not an error. Guarded by uid. */
  deletePod(namespace: string, name: string, uid: string): Promise<void>
  /** Events of this very Pod, newest last, as `reason: message`; an earlier one of its name had another uid. */
  podEvents(namespace: string, name: string, uid: string): Promise<string[]>
  /** Every Pod bound to the node, finished and terminating ones too. */
  podsToDrain(node: string): Promise<DrainPod[]>
  /** Every PodDisruptionBudget with what it allows now. */
  budgets(): Promise<Budget[]>
  /** Asks the server to evict exactly this Pod, with its own grace period. Accepted is not gone: the kubelet ends it. */
  evict(pod: { namespace: string; name: string; uid: string }, guard?: Guard): Promise<Eviction>
  /** Where a host leads, as seen from this process; a Service of `namespace` to the Pods behind it. Never throws. */
  whereabouts(host: string, namespace: string | undefined): Promise<Whereabouts>
}

/**
 * What the server said to an eviction. `gone`: no Pod of this uid any more · `waits`: worth another try, by itself or
 * when somebody makes room · `never`: this Pod is not evicted, whoever asks.
 */
export type Eviction =
  | { outcome: 'accepted' }
  | { outcome: 'gone' }
  | {
      outcome: 'waits'
      /** A budget allows none · the server is busy · its namespace is being deleted, and the Pod with it. */
      because: 'budget' | 'busy' | 'namespace'
      says: string
      retryAfterMs: number | undefined
    }
  | { outcome: 'never'; says: string }

export interface CommandResult {
  /** The one quoted string: shown to people and run. */
  shown: string
  exitCode: number | undefined
  signal: string | undefined
  timedOut: boolean
  truncated: boolean
  stdout: string
  stderr: string
  durationMs: number
}

export interface NodeTarget {
  name: string
  /** The node's InternalIP; a per-node setting wins over it. */
  address: string | undefined
}

/** One of our two scripts with its arguments; nothing else can be run on a node. */
export interface NodeCommand {
  script: 'probe' | 'remove-orphans'
  args: string[]
  /** For remove-orphans: the order's number, then the approved list, line by line. The probe's is the script itself. */
  stdin?: string
}

export interface NodeShell {
  /** The command line exactly as `run` will run it on the node. */
  shown(command: NodeCommand): string
  /** A non-zero exit is a result. Throws Unreachable when the node could not be asked, Refused for a host key that is not pinned. */
  run(
    node: NodeTarget,
    command: NodeCommand,
    options: { timeoutMs: number; maxBytes: number; signal?: AbortSignal },
  ): Promise<CommandResult>
}

export interface Message {
  /** Shown in notifications and to screen readers. */
  text: string
  /** Block Kit blocks. */
  blocks: unknown[]
}

/**
 * One Slack workspace. Knows channels and message ids, nothing about incidents. Throws Unreachable, Failed or Lost; a lost
 * message is the one to edit, or the first one of the thread to post into.
 */
export interface Thread {
  /** `op` makes a repeat after a timeout find the first post instead of posting twice. */
  post(
    channel: string,
    message: Message,
    options: { threadTs?: string; op: string },
  ): Promise<{ channel: string; ts: string }>
  update(channel: string, ts: string, message: Message): Promise<void>
  attach(
    channel: string,
    threadTs: string,
    file: { name: string; text: string; title: string; op: string },
  ): Promise<void>
  permalink(channel: string, ts: string): Promise<string | undefined>
}

export interface Recorded<E> {
  events: E[]
  /** Number of events; what `append` expects. */
  length: number
}

/**
 * Append-only histories. `append` answers false when somebody was first. What it writes it writes to the audit chain too,
 * as far as that is on the record: both or neither.
 */
export interface History {
  read<E>(stream: string): Promise<Recorded<E>>
  append<E>(stream: string, expectedLength: number, events: E[]): Promise<boolean>
  /** Names of all streams that begin with `prefix`, which names a kind at least: `incident/`. Forgotten ones are left out. */
  streams(prefix: string): Promise<string[]>
  /** What is done with: no longer listed, and gone after `ttlMs`. An append within that time takes it back. */
  forget(stream: string, ttlMs: number): Promise<void>
  /** Big, dated things that histories refer to by id: bundles. Kept for `ttlMs`. */
  keepBundle(id: string, bundle: Bundle, ttlMs: number): Promise<void>
  bundle(id: string): Promise<Bundle | undefined>
  /** Whether `markHandled` was called for this key within its time; for clicks and commands that arrive twice. */
  wasHandled(key: string): Promise<boolean>
  /** Said after the deed, never before: of what was marked and then lost in a crash, the second arrival is the only copy. */
  markHandled(key: string, ttlMs: number): Promise<void>
}

/** The chain of what was shown, decided and done. It only grows; forgetting a history takes nothing from it. */
export interface Audit {
  /** Number and hash of the newest entry; undefined as long as there is none. */
  head(): Promise<{ n: number; hash: string } | undefined>
  /** How many lines there are now. */
  length(): Promise<number>
  /** At most `most` lines behind the first `after` ones, as they are stored; none at the end. */
  lines(after: number, most: number): Promise<string[]>
}

export type Job =
  | { kind: 'collect'; node: string; length: number }
  | { kind: 'step'; run: string; node: string; length: number }
  | { kind: 'recount'; node: string; length: number; dueAt: number }
  | { kind: 'publish'; node: string; length: number }
  /** `/cni diagnose`: the worker looks, the bot answers; `request` names the history that holds question and answer. */
  | { kind: 'answer'; request: string; node: string }
  | { kind: 'publish-answer'; request: string }
  /** Both repairs of an open incident are looked at before either starts. */
  | { kind: 'compare'; node: string; length: number }
  | { kind: 'publish-storm' }

export interface Jobs {
  /** The same id twice is once. */
  enqueue(job: Job): Promise<void>
}

export interface Runbooks {
  list(): Promise<Runbook[]>
}

/** JSON lines for operators; the history is for people and audit, the log is not. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
