import {
  type Answer,
  type Bundle,
  isKnown,
  known,
  type NodeAnswers,
  type NodeFacts,
  type PeerCount,
  unknown,
} from '../core/evidence/bundle.js'
import { readNodeAnswers, silentNode } from '../core/evidence/parse/answers.js'
import { measure } from '../core/ipam/gap.js'
import type { Clock, Cluster, NodeCommand, NodeShell } from '../ports.js'

export interface GatherDeps {
  clusterName: string
  cluster: Cluster
  shell: NodeShell
  clock: Clock
  settings: { peers: number; probeTimeoutMs: number; probeMaxBytes: number }
}

/**
 * `count` asks only for what the gap needs, `light` also what the API says of rollouts, `full` adds events, journal,
 * leftovers and the peers.
 */
export type How = 'count' | 'light' | 'full'

const probe = (how: How): NodeCommand => ({ script: 'probe', args: how === 'full' ? [] : ['--light'] })

const reasonFor = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** One question to the API; what it cannot answer stays unknown. */
const asked = async <T>(clock: Clock, what: string, ask: () => Promise<T>): Promise<Answer<T>> => {
  const at = clock.now()
  try {
    return known(await ask(), at)
  } catch (error) {
    return unknown(`${what}: ${reasonFor(error)}`, at)
  }
}

interface NodeLook {
  answers: NodeAnswers
  shown: string | undefined
}

/** One connection, one round trip. */
const askNode = async (
  deps: GatherDeps,
  facts: NodeFacts | undefined,
  name: string,
  how: How,
  signal?: AbortSignal,
): Promise<NodeLook> => {
  const { shell, clock, settings } = deps
  const at = clock.now()
  if (!facts)
    return {
      answers: silentNode(`${name}: the API knows no such node, so its address is not known`, at),
      shown: undefined,
    }
  const command = probe(how)
  try {
    const result = await shell.run({ name, address: facts.internalIp }, command, {
      timeoutMs: settings.probeTimeoutMs,
      maxBytes: settings.probeMaxBytes,
      ...(signal ? { signal } : {}),
    })
    return { answers: readNodeAnswers(result, { at, now: clock.now() }), shown: result.shown }
  } catch (error) {
    return { answers: silentNode(reasonFor(error), at), shown: undefined }
  }
}

const samePool = (a: NodeFacts, b: NodeFacts): number => {
  const keys = [
    'cloud.google.com/gke-nodepool',
    'eks.amazonaws.com/nodegroup',
    'kubernetes.azure.com/agentpool',
    'node.kubernetes.io/instance-type',
    'kubernetes.io/arch',
    'node-role.kubernetes.io/control-plane',
  ]
  return keys.filter(key => a.labels[key] === b.labels[key]).length
}

/** The peers most like this node, ready ones first; the same ones each time, so that readings compare. */
export const pickPeers = (nodes: NodeFacts[], self: NodeFacts, count: number): NodeFacts[] => {
  const ready = (n: NodeFacts): number =>
    n.conditions.some(c => c.type === 'Ready' && c.status === 'True') ? 1 : 0
  return nodes
    .filter(n => n.name !== self.name)
    .toSorted(
      (a, b) => ready(b) - ready(a) || samePool(b, self) - samePool(a, self) || (a.name < b.name ? -1 : 1),
    )
    .slice(0, count)
}

const countPeer = async (deps: GatherDeps, peer: NodeFacts): Promise<PeerCount> => {
  const gap = measure(await gather(deps, peer.name, 'count'))
  if (!isKnown(gap)) return { node: peer.name, counts: gap }
  const { taken, orphaned, young, usable, sandboxes } = gap.value
  const counts = { allocations: taken, sandboxes: sandboxes.total, orphans: orphaned, young, usable }
  return { node: peer.name, counts: known(counts, gap.at) }
}

/** Everything one look at a node can tell: API and node at the same time, peers beside it. Never throws for a silent node. */
export const gather = async (
  deps: GatherDeps,
  name: string,
  how: How,
  signal?: AbortSignal,
): Promise<Bundle> => {
  const { cluster, clock } = deps
  const collectedAt = clock.now()
  const began = performance.now()
  const facts = await asked(clock, `node ${name}`, async () => {
    const found = await cluster.node(name)
    if (!found) throw new Error('the API knows no such node')
    return found
  })
  const self = isKnown(facts) ? facts.value : undefined
  const full = how === 'full'
  const notAsked = unknown('not asked for in a short look', collectedAt)
  const [pods, events, rollouts, look, nodes] = await Promise.all([
    asked(clock, `Pods of ${name}`, () => cluster.podsOnNode(name)),
    full ? asked(clock, 'sandbox events', () => cluster.sandboxEvents({ node: name })) : notAsked,
    how === 'count' ? notAsked : asked(clock, 'DaemonSets', () => cluster.rollouts(name)),
    askNode(deps, self, name, how, signal),
    full && self ? asked(clock, 'nodes', () => cluster.nodes()) : undefined,
  ])
  const others = self && nodes && isKnown(nodes) ? pickPeers(nodes.value, self, deps.settings.peers) : []
  const peers = await Promise.all(others.map(peer => countPeer(deps, peer)))
  return {
    cluster: deps.clusterName,
    node: name,
    collectedAt,
    durationMs: Math.round(performance.now() - began),
    shown: look.shown,
    facts,
    pods,
    events,
    rollouts,
    ...look.answers,
    peers,
  }
}
