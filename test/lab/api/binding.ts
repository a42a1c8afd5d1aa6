import type { KubeObject, LabStore } from '../store.js'
import type { MemoryStore } from './memory-store.js'
import type { ApiRequest } from './request.js'
import { at, type Condition, type Pod, timestamp } from './shapes.js'
import { badRequest, conflict, type Status, success } from './status.js'
import { existing } from './writes.js'

/** The Pod's conditions with one of them set; its transition time moves only when its status does. */
export const withCondition = (pod: Pod, condition: Condition, now: number): Condition[] => {
  const conditions = pod.status.conditions ?? []
  const old = conditions.find(each => each.type === condition.type)
  const lastTransitionTime =
    old?.status === condition.status && old.lastTransitionTime !== undefined
      ? old.lastTransitionTime
      : timestamp(now)
  const { type, status, ...why } = condition
  const generation = pod.metadata.generation
  const next: Condition = {
    type,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    status,
    lastProbeTime: null,
    lastTransitionTime,
    ...why,
  }
  return old === undefined
    ? [...conditions, next]
    : conditions.map(each => (each.type === condition.type ? next : each))
}

/** Gives the Pod its node. */
export const bind = (store: LabStore, pod: Pod, nodeName: string, now: number): KubeObject =>
  store.update('pods', {
    ...pod,
    spec: { ...pod.spec, nodeName },
    status: { ...pod.status, conditions: withCondition(pod, { type: 'PodScheduled', status: 'True' }, now) },
  })

/** @throws ApiError 409 when the Pod has a node already. */
export const bindPod = (store: MemoryStore, request: ApiRequest, body: unknown): Status => {
  const pod = existing(store, request) as Pod
  const node = at(body, 'target.name')
  if (typeof node !== 'string' || node === '') throw badRequest('target.name: Required value')
  const { nodeName } = pod.spec
  if (nodeName !== undefined && nodeName !== '')
    throw conflict(
      request.type,
      pod.metadata.name,
      `pod ${pod.metadata.name} is already assigned to node "${nodeName}"`,
    )
  bind(store, pod, node, store.clock.now())
  return success(201)
}
