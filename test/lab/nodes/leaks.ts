import type { LabNode } from './lab-node.js'
import { type Allocation, newId, newUuid } from './model.js'
import { type DelFailure, delFailures, kubeletStopFailed, runtimeLines } from './wordings.js'

export interface LeakOptions {
  /** The files get times from the first to the second, in milliseconds; default: now. */
  between?: [number, number]
  /** The files' times stand in this many tight groups, one for each restart; default: evenly spread. */
  clusters?: number
}

/** Rejects when the range is full, with the plugin's message; what was taken until then stays leaked. */
export const leak = async (
  node: LabNode,
  count: number,
  { between, clusters }: LeakOptions = {},
): Promise<Allocation[]> => {
  const network = node.cni.network()
  const times = spread(count, between ?? [node.clock.now(), node.clock.now()], clusters)
  const owners = times.map(modified => ({ id: newId(), modified }))
  const addresses = await node.cni.allocateMany(owners)
  const leaked = owners.map(({ id: owner, modified }, index) => ({
    address: addresses[index] ?? '',
    owner,
    ifname: 'eth0',
    modified,
  }))
  for (const { address, owner } of leaked) {
    node.runtime.chains.set(owner, { address, network: network.name, owner, podCidr: node.podCidr })
  }
  node.runtime.render()
  return leaked
}

const spread = (count: number, [from, to]: [number, number], clusters?: number): number[] => {
  const span = to - from
  return Array.from({ length: count }, (_, index) => {
    const part = count === 1 ? 0 : index / (count - 1)
    if (clusters === undefined) return Math.round(from + part * span)
    const group = Math.min(clusters - 1, Math.floor(part * clusters))
    const start = from + (span * group) / clusters
    // Within a group the ADDs follow each other within a minute.
    return Math.round(start + ((index * 997) % 60_000))
  })
}

export interface LogOptions {
  count: number
  between: [number, number]
  how?: DelFailure
}

export const logDelFailures = (node: LabNode, { count, between, how = 'empty-cache' }: LogOptions): void => {
  for (const time of spread(count, between)) {
    const id = newId()
    const text = `rpc error: code = Unknown desc = failed to destroy network for sandbox "${id}": ${delFailures[how]('k8s-pod-network')}`
    const pod = {
      name: `load-gen-${id.slice(0, 5)}`,
      namespace: 'loadtest',
      uid: newUuid(),
      labels: {},
      hostNetwork: false,
      attempt: 0,
    }
    runtimeLines(node.journal).stopFailed(time, id, text)
    kubeletStopFailed(node.journal, time + 1, { id, pod }, text)
  }
}
