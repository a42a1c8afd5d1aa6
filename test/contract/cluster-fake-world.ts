import { fakeCluster, fakeNode, fakePod } from '../fakes/cluster.js'
import type { ClusterWorld } from './cluster.js'

export const fakeWorld = (): ClusterWorld => {
  const cluster = fakeCluster()
  const { all } = cluster
  const events: { uid: string; at: number; text: string }[] = []
  return {
    cluster,
    addNode: async (name, cordon) => {
      const node = fakeNode(name, { unschedulable: cordon !== undefined, cordonedBy: cordon?.by })
      all.nodes.push(node)
      return node.uid
    },
    byHand: async (name, unschedulable) => {
      const node = all.nodes.find(each => each.name === name)
      if (!node) throw new Error(`no node ${name}`)
      Object.assign(node, { unschedulable, cordonedBy: undefined })
      node.cordonedWith = unschedulable ? 'kubectl' : undefined
    },
    addPod: async ({ namespace, name, node, labels = {}, owner }) => {
      const pod = fakePod(namespace, name, { node, labels, controller: owner })
      all.pods.push(pod)
      const rollout = all.rollouts.find(({ uid }) => uid === owner?.uid)
      if (rollout && node !== undefined && !('ready' in labels))
        rollout.missing.push({ node, pod: name, podUid: pod.uid })
      return pod.uid
    },
    addOwner: async (kind, name, of) => {
      const uid = `${kind}-${name}`
      if (of) all.workloads.set(uid, of)
      return uid
    },
    addDaemonSet: async (name, desired, available) => {
      const uid = `ds-${name}`
      const counts = { desired, ready: available, updated: desired, available }
      all.rollouts.push({
        namespace: 'platform',
        name,
        uid,
        generation: 1,
        observedGeneration: 1,
        ...counts,
        missing: [],
      })
      return uid
    },
    addSandboxFailure: async ({ pod, podUid, node, count }) => {
      all.events.push({
        namespace: 'payments',
        pod,
        podUid,
        node,
        count,
        first: 0,
        last: 1,
        message: 'm',
        folded: false,
      })
    },
    addPodEvent: async ({ uid, at, reason, message }) => {
      events.push({ uid, at, text: `${reason}: ${message}` })
      const texts = events.filter(event => event.uid === uid).sort((a, b) => a.at - b.at)
      all.podEvents.set(
        uid,
        texts.map(({ text }) => text),
      )
    },
  }
}
