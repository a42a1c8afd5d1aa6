import { z } from 'zod'

/** Shapes of what a saved bundle holds (`bundle.ts` says what each means), with room for the largest node. */
export const time = z.number().min(-8.64e15).max(8.64e15)
const count = z.number().int().min(0).max(1e9)
export const text = z.string().max(1_000_000)
export const name = z.string().max(4_096)
const list = <T extends z.ZodType>(of: T) => z.array(of).max(200_000)
/** A key that JSON leaves out where its value is undefined. */
const maybe = <T extends z.ZodType>(of: T) => of.optional().transform(value => value)

export const shapes = {
  facts: z.object({
    name,
    uid: name,
    bootId: name,
    internalIp: maybe(name),
    conditions: list(z.object({ type: name, status: name, reason: name, message: text })),
    unschedulable: z.boolean(),
    taints: list(z.object({ key: name, effect: name })),
    maxPods: count,
    podCidrs: list(name),
    runtimeVersion: name,
    kubeletVersion: name,
    labels: z.record(name, text),
    cordonedBy: maybe(name),
    cordonedWith: name.optional(),
    createdAt: time,
  }),
  pods: list(
    z.object({
      namespace: name,
      name,
      uid: name,
      node: maybe(name),
      phase: name,
      hostNetwork: z.boolean(),
      ips: list(name),
      ready: z.boolean(),
      controller: maybe(z.object({ kind: name, name, uid: name })),
      labels: z.record(name, text),
      createdAt: time,
      scheduledAt: maybe(time),
      startedAt: maybe(time),
      deletedAt: maybe(time),
      sandboxReady: maybe(z.boolean()),
      mirror: z.boolean(),
    }),
  ),
  events: list(
    z.object({
      namespace: name,
      pod: name,
      podUid: name,
      node: maybe(name),
      count,
      first: time,
      last: time,
      message: text,
      folded: z.boolean(),
    }),
  ),
  rollouts: list(
    z.object({
      namespace: name,
      name,
      uid: name,
      generation: count,
      observedGeneration: count,
      desired: count,
      ready: count,
      updated: count,
      available: count,
      missing: list(z.object({ node: name, pod: maybe(name), podUid: maybe(name) })),
    }),
  ),
  host: z.object({ hostname: name, now: time, skewMs: time, bootId: name, bootedAt: time }),
  conflist: z.object({
    path: name,
    name,
    cniVersion: maybe(name),
    plugins: list(name),
    ipam: z.object({
      type: name,
      dataDir: name,
      rangeSets: list(
        list(
          z.object({
            subnet: name,
            rangeStart: name.optional(),
            rangeEnd: name.optional(),
            gateway: name.optional(),
          }),
        ),
      ),
    }),
    others: list(name),
  }),
  stores: list(
    z.object({
      network: name,
      dir: name,
      allocations: list(
        z.object({
          ip: name,
          owner: name,
          ifname: maybe(name),
          content: name,
          inode: z.number(),
          size: count,
          mtime: time,
        }),
      ),
      bookkeeping: list(name),
      foreign: list(z.object({ name, why: name })),
      unreadable: list(z.object({ name, why: name })),
      entries: count,
      lockInode: maybe(z.number()),
    }),
  ),
  runtime: z.object({ name, version: name, endpoint: name, endpointFrom: name, startedAt: maybe(time) }),
  sandboxes: list(
    z.object({
      id: name,
      namespace: name,
      pod: name,
      podUid: name,
      attempt: count,
      state: z.enum(['ready', 'notready']),
      createdAt: maybe(time),
    }),
  ),
  records: z.object({ source: name, ids: list(name) }),
  owners: list(z.object({ ip: name, owner: name, known: z.boolean(), said: text })),
  held: list(z.object({ ip: name, by: z.enum(['namespace', 'neighbour', 'route', 'host']), where: name })),
  journal: z.object({
    units: list(name),
    since: time,
    until: time,
    reachesBackTo: maybe(time),
    lines: list(z.object({ at: time, unit: name, text })),
    dropped: count,
  }),
  restarts: z.object({ runtime: list(time), kubelet: list(time), boots: list(time) }),
  leftovers: z.object({
    veths: count,
    orphanedVeths: count,
    natChains: maybe(count),
    cachedResults: maybe(count),
    emptyResults: count.optional(),
  }),
} as const

export const peer = z.object({
  node: name,
  counts: z.union([
    z.object({
      at: time,
      value: z.object({
        allocations: count,
        sandboxes: count,
        orphans: count,
        young: count,
        usable: maybe(count),
      }),
    }),
    z.object({ at: time, reason: text }),
  ]),
})
