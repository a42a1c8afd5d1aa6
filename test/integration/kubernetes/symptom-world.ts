import { createCluster } from '../../../src/adapters/kubernetes/cluster.js'
import { type Gone, startSymptomWatch, type SymptomWatch } from '../../../src/adapters/kubernetes/symptoms.js'
import type {
  SymptomSettings,
  SymptomWatchOptions,
} from '../../../src/adapters/kubernetes/symptom-options.js'
import type { Symptom } from '../../../src/core/incident/symptom.js'
import type { KubeObject } from '../../lab/store.js'
import { startTestApi, type TestApi } from './api.js'

export const exhausted =
  'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "4f0c": plugin type="bridge" failed (add): failed to allocate for range 0: no IP addresses available in range set: 10.244.7.1-10.244.7.254'

export const minute = 60_000
const begin = Date.UTC(2026, 10, 4, 11, 0)

export interface SymptomWorld extends TestApi {
  clock: { now(): number; advance(ms: number): void }
  symptoms: Symptom[]
  gone: Gone[]
  warnings: string[]
  /** Quick ones, for `watch`. */
  settings: SymptomSettings
  watch(over?: Partial<SymptomWatchOptions>): SymptomWatch
  node(name: string): void
  owner(kind: 'ReplicaSet' | 'StatefulSet', name: string, of?: { kind: string; name: string }): Owner
  pod(name: string, owner: Owner | undefined, over?: PodOver): KubeObject
  /** What a kubelet that could make the sandbox writes. */
  runs(pod: KubeObject): void
  fails(pod: KubeObject, message?: string): void
  iso(ms?: number): string
}
export interface Owner {
  apiVersion: string
  kind: string
  name: string
  uid: string
}
interface PodOver {
  node?: string
  labels?: Record<string, string>
  hostNetwork?: boolean
}

export const startSymptomWorld = async (startAt = begin): Promise<SymptomWorld> => {
  let time = startAt
  const clock = {
    now: () => time,
    advance: (ms: number) => {
      time += ms
    },
  }
  const api = await startTestApi({ now: clock.now })
  const { store } = api.server
  const symptoms: Symptom[] = []
  const gone: Gone[] = []
  const warnings: string[] = []
  const running: SymptomWatch[] = []
  const settings: SymptomSettings = {
    stuckAfterMs: 5 * minute,
    rolloutStuckAfterMs: 15 * minute,
    tickMs: 20,
    timings: { firstBackoffMs: 20, longestBackoffMs: 50 },
    load: { listPodsMs: 20, readPodMs: 20, longestReadPodMs: 40 },
  }
  const iso = (ms = 0): string => new Date(time + ms).toISOString().replace(/\.\d+Z$/, 'Z')
  const condition = (type: string, status: string) => ({ type, status, lastTransitionTime: iso() })
  let events = 0
  return {
    ...api,
    clock,
    symptoms,
    gone,
    warnings,
    settings,
    iso,
    watch: (over = {}) => {
      const watch = startSymptomWatch({
        kube: api.kube,
        cluster: createCluster(api.kube, clock),
        clock,
        settings,
        onSymptom: symptom => void symptoms.push(symptom),
        onGone: end => void gone.push(end),
        log: {
          info: () => undefined,
          warn: (fields, text) => warnings.push(`${text} ${JSON.stringify(fields)}`),
        },
        ...over,
      })
      running.push(watch)
      return watch
    },
    node: name => {
      const status = { conditions: [condition('Ready', 'True')] }
      store.create('nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: {}, status })
    },
    owner: (kind, name, of) => {
      const apiVersion = 'apps/v1'
      const ownerReferences =
        of === undefined ? [] : [{ apiVersion, ...of, uid: `uid-${of.name}`, controller: true }]
      const spec = {
        selector: { matchLabels: { app: name } },
        template: { metadata: {}, spec: { containers: [] } },
      }
      const metadata = { namespace: 'payments', name, ownerReferences }
      const made = store.create(`${kind.toLowerCase()}s`, { apiVersion, kind, metadata, spec })
      return { apiVersion, kind, name, uid: made.metadata.uid ?? '' }
    },
    pod: (name, owner, { node = 'node-07', labels = {}, hostNetwork = false } = {}) =>
      store.create('pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          namespace: 'payments',
          name,
          labels,
          ownerReferences: owner === undefined ? [] : [{ ...owner, controller: true }],
        },
        spec: { containers: [{ name: 'c', image: 'i' }], nodeName: node, hostNetwork },
        status: {
          phase: 'Pending',
          conditions: [condition('PodScheduled', 'True'), condition('PodReadyToStartContainers', 'False')],
          containerStatuses: [{ name: 'c', state: { waiting: { reason: 'ContainerCreating' } } }],
        },
      }),
    runs: pod => {
      const current = store.get('pods', pod.metadata.namespace, pod.metadata.name)
      if (!current) throw new Error(`${pod.metadata.name} is not there`)
      store.update('pods', {
        ...current,
        status: {
          phase: 'Running',
          podIP: '10.244.7.9',
          conditions: ['PodScheduled', 'PodReadyToStartContainers', 'Ready'].map(type =>
            condition(type, 'True'),
          ),
          containerStatuses: [{ name: 'c', state: { running: { startedAt: iso() } } }],
        },
      })
    },
    fails: ({ metadata: { namespace, name, uid } }, message = exhausted) => {
      events += 1
      store.create('events', {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { namespace: namespace ?? '', name: `${name}.${events}` },
        involvedObject: { kind: 'Pod', namespace, name, uid },
        reason: 'FailedCreatePodSandBox',
        message,
        type: 'Warning',
        count: 1,
        firstTimestamp: iso(),
        lastTimestamp: iso(),
        source: { component: 'kubelet', host: 'node-07' },
      })
    },
    close: async () => {
      await Promise.all(running.map(watch => watch.stop()))
      await api.close()
    },
  }
}
