import type { V1Node, V1ObjectMeta, V1Pod, V1PodCondition } from '@kubernetes/client-node'
import type { Controller, NodeFacts, PodFacts } from '../../core/evidence/bundle.js'
import { testPodLabel, type WatchedPod } from '../../core/incident/symptom.js'
import { cordonAnnotation } from '../../core/requests.js'
import { cordonOwner } from '../../core/runbook/cordon-mark.js'
import { isRecord, millis, type Wire } from './wire.js'

export const nodeFacts = (node: Wire<V1Node>): NodeFacts => {
  const { metadata, spec, status } = node
  const info = status?.nodeInfo
  return {
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    bootId: info?.bootID ?? '',
    internalIp: status?.addresses?.find(address => address.type === 'InternalIP')?.address,
    conditions: (status?.conditions ?? []).map(condition => ({
      type: condition.type,
      status: condition.status,
      reason: condition.reason ?? '',
      message: condition.message ?? '',
    })),
    unschedulable: spec?.unschedulable ?? false,
    taints: (spec?.taints ?? []).map(taint => ({ key: taint.key, effect: taint.effect })),
    maxPods: Number.parseInt(status?.capacity?.pods ?? '0', 10),
    podCidrs: spec?.podCIDRs ?? (spec?.podCIDR === undefined ? [] : [spec.podCIDR]),
    runtimeVersion: info?.containerRuntimeVersion ?? '',
    kubeletVersion: info?.kubeletVersion ?? '',
    labels: metadata?.labels ?? {},
    ...cordonOwner({
      unschedulable: spec?.unschedulable ?? false,
      mark: metadata?.annotations?.[cordonAnnotation],
      managers: managersOfCordon(metadata),
    }),
    createdAt: createdAt(metadata),
  }
}

/** The managers of `spec.unschedulable`. */
const managersOfCordon = (metadata: Wire<V1ObjectMeta> | undefined): string[] =>
  (metadata?.managedFields ?? []).flatMap(({ manager, fieldsV1 }) => {
    const fields: unknown = fieldsV1
    const spec = isRecord(fields) ? fields['f:spec'] : undefined
    return isRecord(spec) && 'f:unschedulable' in spec ? [manager ?? ''] : []
  })

export const podFacts = (pod: Wire<V1Pod>): PodFacts => {
  const { metadata, spec, status } = pod
  const ips = (status?.podIPs ?? []).map(each => each.ip)
  return {
    namespace: metadata?.namespace ?? '',
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    node: spec?.nodeName,
    phase: status?.phase ?? 'Unknown',
    hostNetwork: spec?.hostNetwork ?? false,
    ips: ips.length > 0 || status?.podIP === undefined ? ips : [status.podIP],
    ready: podCondition(pod, 'Ready')?.status === 'True',
    controller: controllerOf(metadata),
    labels: metadata?.labels ?? {},
    createdAt: createdAt(metadata),
    scheduledAt: scheduledAt(pod),
    startedAt: startedAt(pod),
    deletedAt: deletedAt(metadata),
    sandboxReady: sandboxReady(pod),
    mirror: metadata?.annotations?.['kubernetes.io/config.mirror'] !== undefined,
  }
}

export const watchedPod = (pod: Wire<V1Pod>): WatchedPod => {
  const { metadata, spec, status } = pod
  const containers = status?.containerStatuses ?? []
  const inits = status?.initContainerStatuses ?? []
  const waiting = (statuses: typeof containers, init: boolean) =>
    statuses.flatMap(({ state }) => (state?.waiting ? [{ reason: state.waiting.reason ?? '', init }] : []))
  return {
    namespace: metadata?.namespace ?? '',
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    node: spec?.nodeName,
    phase: status?.phase ?? 'Unknown',
    hostNetwork: spec?.hostNetwork ?? false,
    controller: controllerOf(metadata),
    templateHash: metadata?.labels?.['pod-template-hash'],
    testPod: metadata?.labels?.[testPodLabel] !== undefined,
    createdAt: createdAt(metadata),
    scheduledAt: scheduledAt(pod),
    deletedAt: deletedAt(metadata),
    waiting: [...waiting(inits, true), ...waiting(containers, false)],
    statusesMissing: containers.length === 0 && inits.length === 0,
    sandboxReady: sandboxReady(pod),
    sandboxReadyChangedAt: millis(sandboxCondition(pod)?.lastTransitionTime),
  }
}

export const podCondition = (pod: Wire<V1Pod>, type: string): Wire<V1PodCondition> | undefined =>
  pod.status?.conditions?.find(condition => condition.type === type)

/** Kubernetes 1.28 and older name it PodHasNetwork. */
const sandboxCondition = (pod: Wire<V1Pod>): Wire<V1PodCondition> | undefined =>
  podCondition(pod, 'PodReadyToStartContainers') ?? podCondition(pod, 'PodHasNetwork')

const sandboxReady = (pod: Wire<V1Pod>): boolean | undefined => {
  const status = sandboxCondition(pod)?.status
  return status === 'True' ? true : status === 'False' ? false : undefined
}

export const controllerOf = (metadata: Wire<V1ObjectMeta> | undefined): Controller | undefined => {
  const owner = metadata?.ownerReferences?.find(each => each.controller === true)
  return owner && { kind: owner.kind, name: owner.name, uid: owner.uid }
}

const createdAt = (metadata: Wire<V1ObjectMeta> | undefined): number =>
  millis(metadata?.creationTimestamp) ?? 0

const scheduledAt = (pod: Wire<V1Pod>): number | undefined => {
  const condition = podCondition(pod, 'PodScheduled')
  return condition?.status === 'True' ? millis(condition.lastTransitionTime) : undefined
}

/** When its first container ran; `status.startTime` only says when the kubelet accepted the Pod. */
const startedAt = (pod: Wire<V1Pod>): number | undefined => {
  const all = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
  const starts = all.flatMap(
    ({ state }) => millis(state?.running?.startedAt ?? state?.terminated?.startedAt) ?? [],
  )
  return starts.length > 0 ? Math.min(...starts) : undefined
}

/** When deletion was asked for: the timestamp itself lies the grace period later. */
const deletedAt = (metadata: Wire<V1ObjectMeta> | undefined): number | undefined => {
  const due = millis(metadata?.deletionTimestamp)
  return due === undefined ? undefined : due - (metadata?.deletionGracePeriodSeconds ?? 0) * 1_000
}
