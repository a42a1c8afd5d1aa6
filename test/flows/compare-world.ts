import type { FakePod } from '../fakes/drain.js'
import { foldIncident, type IncidentEvent, incidentStream } from '../../src/core/incident/incident.js'
import { runbookSchema } from '../../src/core/runbook/schema.js'
import { compareRepairs } from '../../src/flows/compare-repairs.js'
import { Unreachable } from '../../src/ports.js'
import { renderThread } from '../../src/view/thread.js'
import { fakeCluster, fakeNode } from '../fakes/cluster.js'
import { fakeLog } from '../fakes/log.js'
import { runbook, t0 } from '../unit/runbook/runs.js'
import { leaked } from '../fakes/verdict.js'
import type { FakeNode } from '../saga/fake-node.js'
import { clickWorld } from './click-world.js'

export const windowMs = 3 * 86_400_000
export const minute = 60_000

const drainBook = {
  ...runbookSchema.parse({
    name: 'leak-drain',
    title: 'Drain',
    risk: 'high',
    answers: ['allocations-leaked'],
    steps: [
      { kind: 'cordon' },
      { kind: 'drain', delete_emptydir_data: true },
      { kind: 'remove-orphans', older_than: '20m' },
    ],
  }),
  digest: 'e'.repeat(64),
}

const reconcileBook = {
  ...runbook({ steps: [{ kind: 'cordon' }, { kind: 'remove-orphans', older_than: '10m' }] }),
  name: 'leak-reconcile',
}

const settings = {
  peers: 0,
  probeTimeoutMs: 1_000,
  probeMaxBytes: 1_000,
  bundleTtlMs: 1,
  incidentWindowMs: windowMs,
  ticketWindowMs: 1,
  orphansToOpen: 1,
  measureAgainAfterMs: 30 * minute,
  testPodNamespace: 'cnibot',
  own: { podNamespace: 'ops', podName: 'cni-worker-1', redisHost: 'redis' },
}

export const world = async (pods: FakePod[] = [], machine?: FakeNode) => {
  const made = await clickWorld({ uncompared: true })
  const nodes = [fakeNode('node-07', machine ? { bootId: machine.bootId } : {})]
  const cluster = fakeCluster({ nodes, pods })
  const list = async () => [reconcileBook, drainBook]
  const deps = {
    ...made.deps,
    cluster,
    log: fakeLog(),
    runbooks: { list },
    settings,
    shell: machine?.shell(() => undefined) ?? {
      shown: () => 'probe',
      run: async () => {
        throw new Unreachable('node-07 did not answer')
      },
    },
  }
  const both = { ...leaked, runbooks: ['leak-reconcile', 'leak-drain'] }
  const seen: IncidentEvent = {
    at: t0 + 1,
    by: 'cnibot',
    type: 'EvidenceCollected',
    bundle: 'b',
    counts: undefined,
    reason: undefined,
    verdict: both,
  }
  await made.history.append<IncidentEvent>(incidentStream('node-07'), 2, [seen])
  const compare = () => compareRepairs(deps)({ node: 'node-07' }, new AbortController().signal)
  const incident = async () => foldIncident('node-07', await made.incident(), windowMs)!
  const drawn = async () =>
    renderThread({
      cluster: 'prod-eu1',
      incident: await incident(),
      runs: [],
      bundles: new Map(),
      approversNamed: '@sre',
      now: made.clock.time,
      timeZone: 'UTC',
    })
  const card = async () => (await drawn()).findLast(each => each.key.startsWith('compare-'))?.message
  const head = async () => (await drawn())[0]!.message
  return { ...made, deps, cluster, compare, incident: incident, card, head }
}

const cells = (message: { blocks: unknown[] }): string[][] => {
  const block = message.blocks.find(
    (each): each is { rows: { text: string }[][] } =>
      typeof each === 'object' && each !== null && 'rows' in each,
  )
  return (block?.rows ?? []).map(row => row.map(cell => cell.text))
}
export const row = (message: { blocks: unknown[] }, name: string): string[] =>
  cells(message).find(([first]) => first === name) ?? []
