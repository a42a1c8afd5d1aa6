import { fakeCluster, type FakeCluster, fakeNode, fakePod, fakeRollout } from '../fakes/cluster.js'
import type { FakePod } from '../fakes/drain.js'
import type { Bundle } from '../../src/core/evidence/bundle.js'
import type { EvictedPod } from '../../src/core/runbook/run.js'
import { drain } from '../../src/steps/drain.js'
import type { StepContext } from '../../src/steps/step.js'
import { fold, opened, runbook, t0 } from '../unit/runbook/runs.js'
import { ownSettings } from '../fakes/settings.js'

export const replicaSet = { kind: 'ReplicaSet', name: 'api-5d4f', uid: 'rs' }
export const daemonSet = { kind: 'DaemonSet', name: 'agent', uid: 'ds' }

export const onNode = (namespace: string, name: string, over: Partial<FakePod> = {}): FakePod => ({
  ...fakePod(namespace, name, {
    node: 'node-07',
    phase: 'Running',
    ready: true,
    controller: replicaSet,
    sandboxReady: true,
  }),
  ...over,
})

const agentRollout = fakeRollout('platform', 'agent', 'ds')

export const agentPod = onNode('platform', 'agent-x', { controller: daemonSet })

export interface DrainBench {
  cluster: FakeCluster
  ctx: StepContext
  /** What was said of how far it is, each once. */
  said: string[]
  /** Evictions that were told as accepted, in order. */
  noted: EvictedPod[]
  abort: AbortController
  plan(): ReturnType<typeof drain.plan>
  act(plan: Awaited<ReturnType<typeof drain.plan>>): ReturnType<typeof drain.act>
}

/** A cordoned node with these Pods and a DaemonSet's; looks follow each other every 2 ms. */
export const bench = (
  pods: FakePod[],
  params: {
    deadline?: number
    pod_deadline?: number
    evict_unmanaged?: boolean
    keepEmptyDirs?: boolean
    /** The node as it is read; the runbook removes addresses after the drain then. */
    clears?: Bundle
  } = {},
): DrainBench => {
  const node = fakeNode('node-07', { uid: 'uid-7', bootId: 'boot-7', unschedulable: true, cordonedBy: 'us' })
  const cluster = fakeCluster({ nodes: [node], pods: [...pods, agentPod], rollouts: [agentRollout] })
  cluster.draining.whereabouts.set('redis', {
    host: 'redis',
    addresses: ['10.244.9.9'],
    nodes: ['node-09'],
    pods: ['ops/redis-0'],
  })
  const { clears } = params
  const spec = {
    kind: 'drain' as const,
    delete_emptydir_data: params.keepEmptyDirs !== true,
    evict_unmanaged: params.evict_unmanaged ?? false,
    deadline: params.deadline ?? 30_000,
    pod_deadline: params.pod_deadline ?? 30_000,
  }
  const said: string[] = []
  const noted: EvictedPod[] = []
  const abort = new AbortController()
  const unused = async (): Promise<never> => {
    throw new Error('a drain does not ask this')
  }
  const ctx: StepContext = {
    run: fold(
      opened(runbook({ steps: [{ kind: 'drain' }, ...(clears ? [{ kind: 'remove-orphans' }] : [])] })),
    ),
    index: 0,
    cluster,
    shell: { shown: () => '', run: unused },
    clock: { now: () => t0 },
    settings: ownSettings,
    signal: abort.signal,
    measure: clears ? async () => ({ bundle: clears, id: '' }) : unused,
    bundle: unused,
    progress: async (says, evicted = []) => {
      noted.push(...evicted)
      if (said.at(-1) !== says) said.push(says)
    },
  }
  const plan = () => drain.plan(spec, ctx)
  return { cluster, ctx, said, noted, abort, plan, act: made => drain.act(made, ctx) }
}

/** What was asked to be evicted, in order. */
export const evictions = ({ cluster }: DrainBench): string[] =>
  cluster.changes.filter(change => change.startsWith('evict ')).map(change => change.slice(6))

export const many = (count: number, over = {}) =>
  Array.from({ length: count }, (_, n) => onNode('shop', `front-${String(n).padStart(2, '0')}`, over))

/** Runs `then` once this was said. */
export const whenSaid = (world: DrainBench, says: RegExp, then: () => void): void => {
  const { ctx } = world
  const progress = ctx.progress.bind(ctx)
  let done = false
  ctx.progress = async (words, evicted) => {
    await progress(words, evicted)
    if (done || !says.test(words)) return
    done = true
    then()
  }
}
