import type { KubeObject } from '../store.js'
import { sameJson } from './objects.js'
import { admitPodSpec, defaultPodSpec, qosClass } from './pod-defaults.js'
import { isRecord, type Pod, type PodTemplate, type Workload } from './shapes.js'

/**
 * The object as the server would store it: defaulted fields filled in, for the resources where somebody reads them.
 * `fresh` is true on create; a Pod's admission happens only then. `suffix` gives five random characters.
 */
export const withDefaults = (
  resource: string,
  object: KubeObject,
  fresh: boolean,
  suffix: () => string,
): KubeObject => {
  switch (resource) {
    case 'pods':
      return fresh ? newPod(object as Pod, suffix) : object
    case 'deployments':
      return withSpec(object as Workload, deploymentSpec)
    case 'daemonsets':
      return daemonSet(object as Workload)
    case 'statefulsets':
      return withSpec(object as Workload, statefulSetSpec)
    case 'replicasets':
      return withSpec(object as Workload, spec => ({ ...spec, replicas: spec.replicas ?? 1 }))
    case 'jobs':
      return withSpec(object as Workload, spec => jobSpec(object, spec))
    case 'nodes':
      return { ...object, spec: object.spec ?? {}, status: object.status ?? {} }
    case 'namespaces':
      return {
        ...object,
        metadata: {
          ...object.metadata,
          labels: { 'kubernetes.io/metadata.name': object.metadata.name, ...object.metadata.labels },
        },
        spec: object.spec ?? { finalizers: ['kubernetes'] },
        status: object.status ?? { phase: 'Active' },
      }
    case 'poddisruptionbudgets':
      return { ...object, spec: object.spec ?? {}, status: object.status ?? {} }
    case 'events':
      return fresh ? newEvent(object) : object
    default:
      return object
  }
}

const generationKey = 'deprecated.daemonset.template.generation'

/** A DaemonSet counts the changes of its template in an annotation, kept by the server. */
export const withTemplateGeneration = (
  resource: string,
  object: KubeObject,
  stored: KubeObject | undefined,
): KubeObject => {
  if (resource !== 'daemonsets') return object
  const before = Number(stored?.metadata.annotations?.[generationKey] ?? 0)
  const changed = !sameJson(object.spec?.template, stored?.spec?.template)
  const annotations = {
    ...object.metadata.annotations,
    [generationKey]: String(changed ? before + 1 : before),
  }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

const newPod = (pod: Pod, suffix: () => string): KubeObject => {
  const spec = admitPodSpec(defaultPodSpec(pod.spec ?? {}), suffix)
  return { ...pod, spec, status: { phase: 'Pending', qosClass: qosClass(spec), ...pod.status } }
}

type WorkloadSpec = Workload['spec']

const withSpec = (object: Workload, fill: (spec: WorkloadSpec) => WorkloadSpec): KubeObject => {
  const template = object.spec.template
  const spec = {
    ...object.spec,
    template: { ...template, metadata: template.metadata ?? {}, spec: defaultPodSpec(template.spec) },
  }
  return { ...object, spec: fill(spec), status: object.status ?? {} }
}

const deploymentSpec = (spec: WorkloadSpec): WorkloadSpec => ({
  ...spec,
  replicas: spec.replicas ?? 1,
  strategy:
    spec.strategy?.type === 'Recreate'
      ? spec.strategy
      : {
          type: 'RollingUpdate',
          rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%', ...spec.strategy?.rollingUpdate },
        },
  revisionHistoryLimit: spec.revisionHistoryLimit ?? 10,
  progressDeadlineSeconds: spec.progressDeadlineSeconds ?? 600,
})

const daemonSet = (object: Workload): KubeObject => {
  const filled = withSpec(object, spec => ({
    ...spec,
    updateStrategy:
      spec.updateStrategy?.type === 'OnDelete'
        ? spec.updateStrategy
        : {
            type: 'RollingUpdate',
            rollingUpdate: { maxUnavailable: 1, maxSurge: 0, ...spec.updateStrategy?.rollingUpdate },
          },
    revisionHistoryLimit: spec.revisionHistoryLimit ?? 10,
  }))
  return {
    ...filled,
    status: {
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
      ...object.status,
    },
  }
}

const statefulSetSpec = (spec: WorkloadSpec): WorkloadSpec => ({
  ...spec,
  replicas: spec.replicas ?? 1,
  podManagementPolicy: spec.podManagementPolicy ?? 'OrderedReady',
  updateStrategy: spec.updateStrategy ?? { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
  revisionHistoryLimit: spec.revisionHistoryLimit ?? 10,
  persistentVolumeClaimRetentionPolicy: spec.persistentVolumeClaimRetentionPolicy ?? {
    whenDeleted: 'Retain',
    whenScaled: 'Retain',
  },
})

/** The Job's own labels tie its Pods to it; the server makes the selector. */
const jobSpec = (job: KubeObject, spec: WorkloadSpec): WorkloadSpec => {
  const uid = job.metadata.uid ?? ''
  const labels = {
    ...spec.template.metadata?.labels,
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': job.metadata.name,
    'controller-uid': uid,
    'job-name': job.metadata.name,
  }
  const template: PodTemplate = { ...spec.template, metadata: { ...spec.template.metadata, labels } }
  return {
    ...spec,
    parallelism: spec.parallelism ?? 1,
    completions: spec.completions ?? 1,
    backoffLimit: spec.backoffLimit ?? 6,
    selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
    manualSelector: spec.manualSelector ?? false,
    template,
    completionMode: spec.completionMode ?? 'NonIndexed',
    suspend: spec.suspend ?? false,
    podReplacementPolicy: spec.podReplacementPolicy ?? 'TerminatingOrFailed',
  }
}

const newEvent = (event: KubeObject): KubeObject => {
  const source = isRecord(event.source) ? event.source : {}
  return {
    ...event,
    source,
    firstTimestamp: event.firstTimestamp ?? null,
    lastTimestamp: event.lastTimestamp ?? null,
    eventTime: event.eventTime ?? null,
    reportingComponent: event.reportingComponent ?? '',
    reportingInstance: event.reportingInstance ?? '',
  }
}
