import { deleteObject } from './api/index.js'
import { daemonSet, deployment, job, namespace, placeReplicas } from './workloads.js'
import type { World } from './world.js'

/** The two days of node-07. Times are the story's own, UTC. */
export const times = {
  loadTest: Date.UTC(2026, 10, 3, 2, 5),
  begin: Date.UTC(2026, 10, 17, 10, 0),
  payments: { stuck: Date.UTC(2026, 10, 17, 10, 9), deleted: Date.UTC(2026, 10, 17, 10, 40) },
  search: { stuck: Date.UTC(2026, 10, 17, 16, 3), deleted: Date.UTC(2026, 10, 17, 16, 15) },
  ledger: { stuck: Date.UTC(2026, 10, 18, 8, 43), deleted: Date.UTC(2026, 10, 18, 9, 5) },
  exporter: { rolledOut: Date.UTC(2026, 10, 18, 10, 50), found: Date.UTC(2026, 10, 18, 11, 31) },
}

export const brokenNode = 'node-07'

/** How big the world is: the story is the same. `live` and `leaked` fill a /24 to its 253rd address. */
export interface Scale {
  nodes: string[]
  live: number
  leaked: number[]
  /** Pods of every other node; more than the broken one's, so that the scheduler prefers that. */
  others: number
}

const fleet = Array.from({ length: 18 }, (_, i) => `node-${String(i + 1).padStart(2, '0')}`)
export const full: Scale = { nodes: fleet, live: 41, leaked: [71, 71, 70], others: 46 }
export const small: Scale = {
  nodes: ['node-04', 'node-07', 'node-11', 'node-15'],
  live: 10,
  leaked: [81, 81, 81],
  others: 10,
}

export interface Teller {
  say: (line: string) => void
}

const minute = 60_000

/** A load test makes and kills Pods; three times the runtime is killed with its records, and no DEL is ever sent. */
export const loadTest = async (world: World, { say }: Teller, scale: Scale): Promise<void> => {
  const node = world.nodes.node(brokenNode)
  say(`load test on ${brokenNode}: thousands of short-lived Jobs`)
  for (const [round, count] of scale.leaked.entries()) {
    world.clock.jumpTo(times.loadTest + round * 15 * minute)
    const pods = Array.from({ length: count }, (_, i) => ({
      namespace: 'loadtest',
      name: `job-${round}-${i}`,
    }))
    for (let from = 0; from < count; from += 4)
      await Promise.all(pods.slice(from, from + 4).map(pod => node.add({ ...pod, uid: crypto.randomUUID() })))
    node.restartRuntime({ loseMetadata: true })
    say(`containerd on ${brokenNode} was killed and started again; ${count} sandboxes are forgotten`)
  }
  node.logDelFailures({ count: 187, between: [times.loadTest, times.loadTest + 50 * minute] })
}

/** Workloads of one version of the story, which take so many of the broken node's addresses. */
export interface Extra {
  addresses: number
  start(world: World): void
}

/** 18 nodes at work, node-07 the emptiest of them and full to the last address. */
export const startWorkloads = async (
  world: World,
  { say }: Teller,
  scale: Scale,
  also?: Extra,
): Promise<void> => {
  const { store } = world.api
  world.clock.jumpTo(times.begin)
  for (const name of ['payments', 'search', 'batch', 'platform', 'shop', 'cnibot', 'loadtest'])
    if (!store.get('namespaces', undefined, name)) store.create('namespaces', namespace(name))
  store.create('daemonsets', daemonSet('kube-system', 'kube-proxy', true))
  store.create('daemonsets', daemonSet('platform', 'node-agent', true))
  const place = new Map(
    scale.nodes.map((name, i) => [
      name,
      name === brokenNode ? scale.live - (also?.addresses ?? 0) : scale.others + (i % 3),
    ]),
  )
  placeReplicas(store, 'shop', 'storefront', place)
  setSchedulable(world, brokenNode, false)
  also?.start(world)
  store.create('deployments', deployment('payments', 'api', 11))
  store.create('deployments', deployment('search', 'query', 5))
  say(`starting the Pods of ${scale.nodes.length} nodes`)
  await world.settled()
  const node = world.nodes.node(brokenNode)
  const done = await node
    .add({ namespace: 'batch', name: 'hourly-report', uid: crypto.randomUUID() })
    .catch(() => undefined)
  if (done) await node.finish(done.id)
  setSchedulable(world, brokenNode, true)
}

const setSchedulable = (world: World, name: string, schedulable: boolean): void => {
  const { store } = world.api
  const node = store.get('nodes', undefined, name)
  if (!node) throw new Error(`the lab has no node ${name}`)
  const { unschedulable: _, ...spec } = node.spec ?? {}
  store.update('nodes', { ...node, spec: schedulable ? spec : { ...spec, unschedulable: true } })
}

const stuckPod = (world: World, ns: string, prefix: string) =>
  world.api.store
    .list('pods', ns)
    .find(pod => pod.metadata.name.startsWith(prefix) && pod.spec?.nodeName === brokenNode)

const remove = (world: World, resource: string, ns: string, name: string): void => {
  const object = world.api.store.get(resource, ns, name)
  if (object) deleteObject(world.api.store, world.clock, resource, object)
}

const podsOn = (world: World, node: string) =>
  world.api.store.list('pods').filter(pod => pod.spec?.nodeName === node && pod.status?.phase !== 'Succeeded')

/** Makes one node emptier than the broken one, by shrinking the storefront there; answers by how many Pods. */
const makeRoom = async (world: World, node: string): Promise<number> => {
  const { store } = world.api
  const surplus = podsOn(world, node).length - podsOn(world, brokenNode).length + 3
  const spare = podsOn(world, node)
    .filter(p => p.metadata.namespace === 'shop')
    .slice(0, Math.max(0, surplus))
  const set = store.get('replicasets', 'shop', 'storefront')
  if (!set || spare.length < surplus) throw new Error(`${node} cannot be made emptier than ${brokenNode}`)
  store.update('replicasets', {
    ...set,
    spec: { ...set.spec, replicas: Number(set.spec?.replicas) - spare.length },
  })
  for (const one of spare) remove(world, 'pods', 'shop', one.metadata.name)
  await world.settled()
  return spare.length
}

/** Somebody deletes the stuck Pod while another node happens to be emptier: it starts there, and the ticket is closed. */
const deleteStuck = async (world: World, ns: string, prefix: string, emptier: string): Promise<void> => {
  const pod = stuckPod(world, ns, prefix)
  if (!pod) throw new Error(`no Pod of ${ns}/${prefix} is stuck on ${brokenNode}`)
  const room = await makeRoom(world, emptier)
  remove(world, 'pods', ns, pod.metadata.name)
  await world.settled()
  placeReplicas(world.api.store, 'shop', `fill-${prefix}`, new Map([[emptier, room + 1]]))
  await world.settled()
}

const scale = (world: World, ns: string, name: string, replicas: number): void => {
  const found = world.api.store.get('deployments', ns, name)
  if (!found) throw new Error(`no deployment ${ns}/${name}`)
  world.api.store.update('deployments', { ...found, spec: { ...found.spec, replicas } })
}

export interface Scene {
  at: number
  says: string
  /** The ticket the thread must show before the story goes on. */
  shows: string
  play(world: World): Promise<void>
}

/** Four tickets over two days, in their order; each scene also says what the thread shows once the bot has seen it. */
export const scenes: Scene[] = [
  {
    at: times.payments.stuck,
    says: 'payments scales api to 12; the scheduler picks the emptiest node',
    shows: 'payments/api',
    play: async world => scale(world, 'payments', 'api', 12),
  },
  {
    at: times.payments.deleted,
    says: 'payments deletes the stuck Pod; its replacement starts elsewhere at once',
    shows: 'its replacement started on node-04',
    play: world => deleteStuck(world, 'payments', 'api', 'node-04'),
  },
  {
    at: times.search.stuck,
    says: 'search scales query to 6',
    shows: 'search/query',
    play: async world => scale(world, 'search', 'query', 6),
  },
  {
    at: times.search.deleted,
    says: 'search deletes the stuck Pod: "transient registry problem"',
    shows: 'its replacement started on node-11',
    play: world => deleteStuck(world, 'search', 'query', 'node-11'),
  },
  {
    at: times.ledger.stuck,
    says: 'the nightly job does not start',
    shows: 'batch/nightly-ledger',
    play: async world => void world.api.store.create('jobs', job('batch', 'nightly-ledger')),
  },
  {
    at: times.ledger.deleted,
    says: 'batch deletes the Pod and runs it again',
    shows: 'its replacement started on node-15',
    play: world => deleteStuck(world, 'batch', 'nightly-ledger', 'node-15'),
  },
  {
    at: times.exporter.rolledOut,
    says: 'platform rolls out node-exporter on every node',
    shows: 'platform/node-exporter',
    play: async world => void world.api.store.create('daemonsets', daemonSet('platform', 'node-exporter')),
  },
]
