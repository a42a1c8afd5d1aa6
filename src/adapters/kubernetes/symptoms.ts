import type { CoreV1Event, V1DaemonSet, V1Node, V1Pod } from '@kubernetes/client-node'
import type { WatchedPod } from '../../core/incident/symptom.js'
import { reasonOf } from './errors.js'
import { PodSymptoms } from './pod-symptoms.js'
import { RolloutSymptoms, trimDaemonSet } from './rollout-symptoms.js'
import { type SandboxEvent, sandboxEvent, sandboxFailureSelector } from './sandbox-events.js'
import type { SymptomWatchOptions } from './symptom-options.js'
import { watchedPod } from './translate.js'
import type { Identified } from './stream.js'
import { startWatch } from './watch.js'
import type { RunningWatch, WatchOptions } from './watch-options.js'
import type { Wire } from './wire.js'

export type { Gone, SymptomSettings, SymptomWatchOptions } from './symptom-options.js'

export interface SymptomWatch {
  /** What a tick does, now; resolves when everything known has been looked at. */
  look(): Promise<void>
  stop(): Promise<void>
  /** Age of each watch's last frame, bookmark or list: wall clock, milliseconds since 1970; 0 before the first. */
  health(): { resource: string; lastProofOfLife: number }[]
  /** Records kept of each resource: follows what is not running, not what runs. */
  kept(): Record<string, number>
}

/** Placed and not yet running: the server filters, so that thousands of running Pods cost nothing here. */
export const pendingPods = 'status.phase=Pending,spec.nodeName!='

interface WatchedNode {
  name: string
  uid: string
  bootId: string
  ready: boolean
  unschedulable: boolean
}

/** Watches for stuck sandboxes and stuck rollouts. What counts as stuck is decided in core/incident. */
export const startSymptomWatch = (options: SymptomWatchOptions): SymptomWatch => {
  const { kube, log, settings } = options
  const shared = { kube, log, ...(settings.timings === undefined ? {} : { timings: settings.timings }) }
  const nodes = watchNodes(shared)
  const nodeExists = (name: string): boolean =>
    nodes.lastProofOfLife() === 0 || [...nodes.records().values()].some(node => node.name === name)
  const podSymptoms = new PodSymptoms({ ...options, nodeExists })
  const rolloutSymptoms = new RolloutSymptoms({ ...options, nodeExists })
  const { pods, events } = watchPods(shared, podSymptoms)
  const daemonsets = watchDaemonSets(shared, rolloutSymptoms)
  const watches = { nodes, pods, events, daemonsets }
  const tick = () => {
    podSymptoms.tick(events.records())
    if (daemonsets.lastProofOfLife() > 0) rolloutSymptoms.look(daemonsets.records())
  }
  const timer = setInterval(() => {
    try {
      tick()
    } catch (error) {
      log.warn({ error: reasonOf(error) }, 'a tick of the symptom watch failed')
    }
  }, settings.tickMs)
  return {
    look: async () => {
      tick()
      await Promise.all([podSymptoms.idle(), rolloutSymptoms.idle()])
    },
    stop: async () => {
      clearInterval(timer)
      await Promise.all(Object.values(watches).map(watch => watch.stop()))
      await Promise.all([podSymptoms.stop(), rolloutSymptoms.stop()])
    },
    health: () =>
      each(watches, (resource, watch) => ({ resource, lastProofOfLife: watch.lastProofOfLife() })),
    kept: () => ({
      ...Object.fromEntries(each(watches, (name, watch) => [name, watch.records().size])),
      tracked: podSymptoms.size,
    }),
  }
}

type Shared = Pick<WatchOptions<Identified, unknown>, 'kube' | 'log' | 'timings'>

const each = <R>(
  watches: Record<string, RunningWatch<unknown>>,
  act: (name: string, watch: RunningWatch<unknown>) => R,
): R[] => Object.entries(watches).map(([name, watch]) => act(name, watch))

const watchNodes = (shared: Shared): RunningWatch<WatchedNode> =>
  startWatch<Wire<V1Node>, WatchedNode>({
    ...shared,
    resource: 'nodes',
    path: '/api/v1/nodes',
    selector: {},
    translate: watchedNode,
    onChange: () => undefined,
  })

const watchPods = (shared: Shared, symptoms: PodSymptoms) => {
  const pods = startWatch<Wire<V1Pod>, WatchedPod>({
    ...shared,
    resource: 'pods',
    path: '/api/v1/pods',
    selector: { fieldSelector: pendingPods },
    translate: watchedPod,
    onChange: ({ upserted, left }) => symptoms.podsChanged(upserted, left),
  })
  const events = startWatch<Wire<CoreV1Event>, SandboxEvent>({
    ...shared,
    resource: 'events',
    path: '/api/v1/events',
    selector: { fieldSelector: sandboxFailureSelector },
    translate: sandboxEvent,
    onChange: ({ upserted }) => symptoms.eventsChanged(upserted, events.records()),
  })
  return { pods, events }
}

const watchDaemonSets = (shared: Shared, symptoms: RolloutSymptoms): RunningWatch<Wire<V1DaemonSet>> => {
  const daemonSets = startWatch<Wire<V1DaemonSet>, Wire<V1DaemonSet>>({
    ...shared,
    resource: 'daemonsets',
    path: '/apis/apps/v1/daemonsets',
    selector: {},
    translate: trimDaemonSet,
    onChange: () => symptoms.look(daemonSets.records()),
    onSynced: () => symptoms.look(daemonSets.records()),
  })
  return daemonSets
}

const watchedNode = (node: Wire<V1Node>): WatchedNode => ({
  name: node.metadata?.name ?? '',
  uid: node.metadata?.uid ?? '',
  bootId: node.status?.nodeInfo?.bootID ?? '',
  ready: (node.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True'),
  unschedulable: node.spec?.unschedulable ?? false,
})
