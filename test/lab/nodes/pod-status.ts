import { createHash } from 'node:crypto'
import type { KubeObject } from '../store.js'
import type { Sandbox } from './model.js'
import { secondsTime } from './sandbox-events.js'

interface Mount {
  name: string
  mountPath: string
  readOnly?: boolean
}

interface Container {
  name: string
  image: string
  volumeMounts?: Mount[]
}

interface Condition {
  type: string
  status: string
  lastTransitionTime?: string
  [key: string]: unknown
}

/** A Pod, as far as a kubelet reads it. */
export interface PodObject extends KubeObject {
  spec: {
    nodeName?: string
    hostNetwork?: boolean
    containers: Container[]
    initContainers?: Container[]
  }
  status?: { phase?: string; conditions?: Condition[]; startTime?: string; [key: string]: unknown }
}

type Verdicts = Record<string, { status: 'True' | 'False'; reason?: string; message?: string }>

const order = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled']

/** The conditions in the kubelet's order; a transition time moves only when the status does. */
const conditions = (pod: PodObject, now: number, verdicts: Verdicts): Condition[] =>
  order.map(type => {
    const old = pod.status?.conditions?.find(each => each.type === type)
    const { status, ...why } = verdicts[type] ?? { status: 'True' as const }
    return {
      type,
      observedGeneration: pod.metadata.generation ?? 1,
      status,
      lastProbeTime: null,
      lastTransitionTime:
        old?.status === status && old.lastTransitionTime !== undefined
          ? old.lastTransitionTime
          : secondsTime(now),
      ...why,
    }
  })

const names = (containers: Container[]): string => `[${containers.map(each => each.name).join(' ')}]`

const unready = (pod: PodObject): Verdicts => {
  const message = `containers with unready status: ${names(pod.spec.containers)}`
  const verdict = { status: 'False' as const, reason: 'ContainersNotReady', message }
  return { PodReadyToStartContainers: { status: 'False' }, Ready: verdict, ContainersReady: verdict }
}

const common = (pod: PodObject, hostIp: string, now: number) => ({
  ...pod.status,
  observedGeneration: pod.metadata.generation ?? 1,
  hostIP: hostIp,
  hostIPs: [{ ip: hostIp }],
  startTime: pod.status?.startTime ?? secondsTime(now),
  resources: {},
})

const user = { linux: { uid: 0, gid: 0, supplementalGroups: [0] } }

const imageId = (image: string): string => `sha256:${createHash('sha256').update(image).digest('hex')}`

const mounts = (container: Container) =>
  container.volumeMounts?.map(({ name, mountPath, readOnly }) => ({
    name,
    mountPath,
    ...(readOnly === undefined ? {} : { readOnly, recursiveReadOnly: 'Disabled' }),
  }))

const containerStatus = (
  container: Container,
  state: Record<string, unknown>,
  more: Record<string, unknown>,
) => {
  const volumeMounts = mounts(container)
  return {
    name: container.name,
    state,
    lastState: {},
    ready: false,
    restartCount: 0,
    image: container.image,
    imageID: imageId(container.image),
    started: false,
    ...more,
    ...(volumeMounts === undefined ? {} : { volumeMounts }),
  }
}

/** No sandbox yet: everything waits. */
export const waitingStatus = (pod: PodObject, hostIp: string, now: number): Record<string, unknown> => {
  const init = pod.spec.initContainers ?? []
  const waiting = (reason: string) => (container: Container) =>
    containerStatus(container, { waiting: { reason } }, { imageID: '' })
  const uninitialized: Verdicts =
    init.length === 0
      ? {}
      : {
          Initialized: {
            status: 'False',
            reason: 'ContainersNotInitialized',
            message: `containers with incomplete status: ${names(init)}`,
          },
        }
  return {
    ...common(pod, hostIp, now),
    phase: 'Pending',
    conditions: conditions(pod, now, { ...unready(pod), ...uninitialized }),
    ...(init.length === 0 ? {} : { initContainerStatuses: init.map(waiting('PodInitializing')) }),
    containerStatuses: pod.spec.containers.map(
      waiting(init.length === 0 ? 'ContainerCreating' : 'PodInitializing'),
    ),
  }
}

export const runningStatus = (
  pod: PodObject,
  sandbox: Sandbox,
  hostIp: string,
  now: number,
  restartCount: number,
): Record<string, unknown> => {
  const podIp = sandbox.network?.address ?? hostIp
  const containerID = `containerd://${sandbox.containerId}`
  const done = { exitCode: 0, reason: 'Completed', startedAt: secondsTime(now), finishedAt: secondsTime(now) }
  const init = (pod.spec.initContainers ?? []).map(container =>
    containerStatus(container, { terminated: done }, { ready: true, resources: {} }),
  )
  return {
    ...common(pod, hostIp, now),
    phase: 'Running',
    conditions: conditions(pod, now, {}),
    podIP: podIp,
    podIPs: [{ ip: podIp }],
    ...(init.length === 0 ? {} : { initContainerStatuses: init }),
    containerStatuses: pod.spec.containers.map(container =>
      containerStatus(
        container,
        { running: { startedAt: secondsTime(now) } },
        { ready: true, started: true, restartCount, containerID, resources: {}, user },
      ),
    ),
  }
}

/** The work is done: no readiness, and `podIP` stays although the address went back. */
export const succeededStatus = (
  pod: PodObject,
  sandbox: Sandbox,
  hostIp: string,
  now: number,
): Record<string, unknown> => {
  const completed = { status: 'False' as const, reason: 'PodCompleted' }
  const containerID = `containerd://${sandbox.containerId}`
  return {
    ...common(pod, hostIp, now),
    phase: 'Succeeded',
    conditions: conditions(pod, now, {
      PodReadyToStartContainers: { status: 'False' },
      Initialized: { status: 'True', reason: 'PodCompleted' },
      Ready: completed,
      ContainersReady: completed,
    }),
    containerStatuses: pod.spec.containers.map(container =>
      containerStatus(
        container,
        {
          terminated: {
            exitCode: 0,
            reason: 'Completed',
            startedAt: secondsTime(Number(sandbox.createdAt / 1_000_000n)),
            finishedAt: secondsTime(now),
            containerID,
          },
        },
        { containerID, resources: {}, user },
      ),
    ),
  }
}

/** The sandbox vanished under a running Pod: phase stays Running, the address is gone from the status. */
export const lostStatus = (
  pod: PodObject,
  sandbox: Sandbox,
  hostIp: string,
  now: number,
  restartCount: number,
): Record<string, unknown> => {
  const { podIP: _podIp, podIPs: _podIps, ...rest } = common(pod, hostIp, now) as Record<string, unknown>
  const containerID = `containerd://${sandbox.containerId}`
  return {
    ...rest,
    phase: 'Running',
    conditions: conditions(pod, now, unready(pod)),
    containerStatuses: pod.spec.containers.map(container =>
      containerStatus(
        container,
        {
          terminated: {
            exitCode: 255,
            reason: 'Unknown',
            startedAt: secondsTime(Number(sandbox.createdAt / 1_000_000n)),
            finishedAt: secondsTime(now),
            containerID,
          },
        },
        { containerID, restartCount, resources: {}, user },
      ),
    ),
  }
}
