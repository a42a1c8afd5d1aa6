import { type DrainPod, nameOf } from '../evictable.js'
import type { NodeFacts, PodFacts } from '../evidence/bundle.js'

/** Where a host name leads: addresses, and the nodes of the Pods behind a Service where the API told them. */
export type Whereabouts =
  | { host: string; addresses: string[]; nodes: string[]; pods: string[] }
  | { host: string; why: string }

export interface OwnGroundInput {
  node: Pick<NodeFacts, 'name' | 'internalIp'>
  pods: readonly DrainPod[]
  /** This very Pod; undefined where the process does not know which one it is. */
  self: PodFacts | undefined
  redis: Whereabouts
}

export interface OwnGround {
  /** What of ours runs on this node, and how it is moved. Not empty: the node must not be drained by us. */
  here: string[]
  /** What could not be found out, for the approver to judge. */
  unknown: string[]
}

const label = { name: 'app.kubernetes.io/name', instance: 'app.kubernetes.io/instance' }
const partOf = 'app.kubernetes.io/part-of'

/** The chart's labels; without knowing ourselves, any installation's Pods are taken for ours. */
const isOurs = (pod: DrainPod, self: PodFacts | undefined): boolean => {
  if (self === undefined) return pod.labels[partOf] === 'cnibot' || pod.labels[label.name] === 'cnibot'
  if (pod.uid === self.uid) return true
  if (pod.namespace !== self.namespace) return false
  return (
    pod.labels[partOf] === 'cnibot' ||
    (pod.labels[label.name] === 'cnibot' && pod.labels[label.instance] === self.labels[label.instance])
  )
}

const move = ({ namespace, name, controller }: DrainPod): string =>
  controller === undefined
    ? 'nothing starts it again by itself: move it by hand'
    : `\`kubectl -n ${namespace} delete pod ${name}\` starts it on another node`

const loopback = /^(127\.|::1$|::ffff:127\.)/

type Found = { here?: string; unknown?: string }

/** Redis beside this process is wherever this process is; loopback says nothing of any other machine. */
const besideUs = ({ node, self }: OwnGroundInput, host: string): Found => {
  if (self === undefined) return { unknown: `where Redis runs: ${host} is on the machine of this process` }
  return self.node === node.name
    ? { here: `Redis, beside this process: move Pod ${nameOf(self)} and its Redis to another node` }
    : {}
}

const redisOn = (input: OwnGroundInput): Found => {
  const { node, pods, redis } = input
  if ('why' in redis) return { unknown: `where Redis runs: ${redis.why}` }
  const { host, addresses, nodes } = redis
  if (addresses.length > 0 && addresses.every(address => loopback.test(address))) return besideUs(input, host)
  // A Pod on the host network has the node's address, and so have all others like it.
  const pod = pods.find(
    each =>
      redis.pods.includes(nameOf(each)) || (!each.hostNetwork && each.ips.some(ip => addresses.includes(ip))),
  )
  if (pod)
    return {
      here: `Redis, Pod ${nameOf(pod)}: ${move(pod)}, if its volume can follow; else this node must be drained by hand`,
    }
  if (nodes.includes(node.name) || (node.internalIp !== undefined && addresses.includes(node.internalIp)))
    return { here: `Redis, at ${host} on the node itself: this node must be drained by hand` }
  if (nodes.length > 0) return {}
  return {
    unknown: `where Redis runs: ${host} leads to ${addresses.join(', ')}, which is no Pod and no address of ${node.name}; a Service of that address might still lead here`,
  }
}

/**
 * The bot must not saw off the branch it sits on: evicting its own worker or its Redis ends the drain half way, with
 * nobody left to say so.
 */
export const ownGround = (input: OwnGroundInput): OwnGround => {
  const { pods, self } = input
  const redis = redisOn(input)
  const ours = pods.filter(pod => !pod.mirror && pod.controller?.kind !== 'DaemonSet' && isOurs(pod, self))
  return {
    here: [
      ...ours.map(
        pod => `Pod ${nameOf(pod)}${pod.uid === self?.uid ? ' (this very process)' : ''}: ${move(pod)}`,
      ),
      ...(redis.here === undefined ? [] : [redis.here]),
    ],
    unknown: [
      ...(self === undefined
        ? [
            'which Pod this process is: CNIBOT_POD_NAME is not set, so Pods of cnibot are told by their labels',
          ]
        : []),
      ...(redis.unknown === undefined ? [] : [redis.unknown]),
    ],
  }
}
