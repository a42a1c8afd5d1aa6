import type { CoreV1Event } from '@kubernetes/client-node'
import type { PodFacts } from '../../core/evidence/bundle.js'
import { testPodLabel } from '../../core/incident/symptom.js'
import { testPodBody, type TestPodSpec } from '../../core/requests.js'
import { type Clock, type Cluster, type Guard, Refused } from '../../ports.js'
import { call, callUnless, pages } from './call.js'
import type { Kube } from './connect.js'
import { draining } from './drain.js'
import { oneLine } from './errors.js'
import { eventTime } from './event-time.js'
import { readRollouts } from './rollouts.js'
import { mergeSandboxEvents, sandboxEvent, sandboxFailureSelector } from './sandbox-events.js'
import { deletePod, setSchedulable } from './schedulable.js'
import { controllerOf, nodeFacts, podFacts } from './translate.js'
import { workloadResolver } from './workloads.js'

/** ports.Cluster over one API server. Every list is paged; every call has the connection's deadline. */
export const createCluster = (kube: Kube, clock: Clock): Cluster => ({
  node: async name => {
    const node = await callUnless(kube, [404], `read node ${name}`, () => kube.core.readNode({ name }))
    return node && nodeFacts(node)
  },
  nodes: async () => (await pages(kube, 'list nodes', page => kube.core.listNode(page))).map(nodeFacts),
  podsOnNode: node => readPodsOnNode(kube, node),
  pod: (namespace, name) => readPod(kube, namespace, name),
  podsOfController: async (namespace, controllerUid) => {
    const pods = await pages(kube, `list the Pods in ${namespace}`, page =>
      kube.core.listNamespacedPod({ namespace, ...page }),
    )
    return pods.filter(pod => controllerOf(pod.metadata)?.uid === controllerUid).map(podFacts)
  },
  sandboxEvents: async where => {
    const events = await readSandboxEvents(kube, where)
    return mergeSandboxEvents(events).filter(event => where.node === undefined || event.node === where.node)
  },
  rollouts: async node => {
    const daemonSets = await pages(kube, 'list DaemonSets', page =>
      kube.apps.listDaemonSetForAllNamespaces(page),
    )
    const rollouts = await readRollouts(kube, daemonSets, clock.now())
    if (node === undefined) return rollouts
    const here = new Set((await readPodsOnNode(kube, node)).map(pod => pod.controller?.uid))
    return rollouts.filter(({ uid, missing }) => here.has(uid) || missing.some(each => each.node === node))
  },
  ...draining(kube),
  workloadOf: workloadResolver(kube),
  setSchedulable: (node, change, guard) => setSchedulable(kube, node, change, guard),
  createTestPod: (spec, guard) => createTestPod(kube, spec, guard),
  deletePod: (namespace, name, uid) => deletePod(kube, namespace, name, uid),
  podEvents: async (namespace, name, uid) => {
    const fieldSelector = `involvedObject.kind=Pod,involvedObject.name=${name},involvedObject.uid=${uid}`
    const events = await pages(kube, `list the events of Pod ${namespace}/${name}`, page =>
      kube.core.listNamespacedEvent({ namespace, fieldSelector, ...page }),
    )
    return events
      .sort((a, b) => eventTime(a) - eventTime(b))
      .map(event => `${event.reason ?? ''}: ${oneLine(event.message ?? '', 1_024)}`)
  },
})

const readPodsOnNode = async (kube: Kube, node: string): Promise<PodFacts[]> => {
  const fieldSelector = `spec.nodeName=${node}`
  const pods = await pages(kube, `list the Pods on ${node}`, page =>
    kube.core.listPodForAllNamespaces({ fieldSelector, ...page }),
  )
  return pods.map(podFacts)
}

const readPod = async (kube: Kube, namespace: string, name: string): Promise<PodFacts | undefined> => {
  const pod = await callUnless(kube, [404], `read Pod ${namespace}/${name}`, () =>
    kube.core.readNamespacedPod({ namespace, name }),
  )
  return pod && podFacts(pod)
}

const readSandboxEvents = async (kube: Kube, where: { namespace?: string; pod?: string }) => {
  const { namespace, pod } = where
  const fieldSelector =
    pod === undefined ? sandboxFailureSelector : `${sandboxFailureSelector},involvedObject.name=${pod}`
  const events = await pages<CoreV1Event>(kube, 'list the sandbox events', page =>
    namespace === undefined
      ? kube.core.listEventForAllNamespaces({ fieldSelector, ...page })
      : kube.core.listNamespacedEvent({ namespace, fieldSelector, ...page }),
  )
  return events.map(sandboxEvent)
}

const createTestPod = async (kube: Kube, spec: TestPodSpec, guard?: Guard): Promise<PodFacts> => {
  const { namespace, name } = spec
  const node = await callUnless(kube, [404], `read node ${spec.node}`, () =>
    kube.core.readNode({ name: spec.node }),
  )
  if (!node)
    throw new Refused(`could not create test Pod ${namespace}/${name}: there is no node ${spec.node}`)
  const body = testPodBody(spec)
  await guard?.()
  const made = await callUnless(kube, [409], `create test Pod ${namespace}/${name}`, () =>
    kube.core.createNamespacedPod({ namespace, body }),
  )
  if (made) {
    await guard?.().catch(async (error: unknown) => {
      await deletePod(kube, namespace, name, made.metadata?.uid ?? '')
      throw error
    })
    return podFacts(made)
  }
  const existing = await call(kube, `read Pod ${namespace}/${name}`, () =>
    kube.core.readNamespacedPod({ namespace, name }),
  )
  if (existing.metadata?.labels?.[testPodLabel] === undefined)
    throw new Refused(
      `did not create test Pod ${namespace}/${name}: a Pod of that name exists and is not one of ours`,
    )
  return podFacts(existing)
}
