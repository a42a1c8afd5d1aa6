import { expect, test } from '@jest/globals'
import { foldIncident, type IncidentEvent, incidentStream } from '../../src/core/incident/incident.js'
import { type CollectDeps, collectEvidence } from '../../src/flows/collect-evidence.js'
import { fakeCluster } from '../fakes/cluster.js'
import { fakeHistory } from '../fakes/history.js'
import { fakeJobs } from '../fakes/jobs.js'
import { fakeLog } from '../fakes/log.js'

const node = 'node-07'
const day = 86_400_000

const depsOf = (deps: Pick<CollectDeps, 'clock' | 'history' | 'cluster'>): CollectDeps => ({
  ...deps,
  clusterName: 'prod-eu1',
  shell: { shown: () => '', run: () => Promise.reject(new Error('not asked')) },
  jobs: fakeJobs(deps.clock),
  runbooks: { list: async () => [] },
  log: fakeLog(),
  settings: {
    peers: 0,
    probeTimeoutMs: 1_000,
    probeMaxBytes: 1_000,
    bundleTtlMs: day,
    incidentWindowMs: 3 * day,
    ticketWindowMs: 2 * day,
    orphansToOpen: 1,
  },
})

test('a look that was overtaken does not answer what was asked for after it began', async () => {
  const clock = { time: Date.UTC(2026, 10, 18, 10, 50), now: () => clock.time }
  const history = fakeHistory(clock)
  const stream = incidentStream(node)
  const add = async (event: Record<string, unknown>): Promise<void> => {
    const { length } = await history.read(stream)
    await history.append(stream, length, [{ at: clock.time, by: 'cnibot', ...event }])
  }
  const state = async () => foldIncident(node, (await history.read<IncidentEvent>(stream)).events, 3 * day)
  let answer = (): void => undefined
  const asked = new Promise<void>(resolve => {
    answer = resolve
  })
  const cluster = fakeCluster()
  const afterAsked = async (name: string) => {
    await asked
    return await cluster.node(name)
  }
  const collect = collectEvidence(depsOf({ clock, history, cluster: { ...cluster, node: afterAsked } }))

  await add({ type: 'EvidenceWanted', why: 'a symptom was seen' })
  const slow = collect({ node }, new AbortController().signal)
  const quick = { counts: undefined, reason: 'no answer', bundle: 'quick' }
  const verdict = { findings: [], hypotheses: [], says: [], doNot: [], next: [], runbooks: [] }
  await add({ type: 'EvidenceCollected', ...quick, verdict })
  clock.time += 41 * 60_000
  await add({ type: 'EvidenceWanted', why: 'the last reading is old' })
  answer()
  await slow

  expect((await state())?.evidence.map(each => each.bundle)).toEqual(['quick'])
  expect((await state())?.evidenceWanted).toEqual({ at: clock.time, why: 'the last reading is old' })
  await collect({ node }, new AbortController().signal)
  expect((await state())?.evidence).toHaveLength(2)
  expect((await state())?.evidenceWanted).toBeUndefined()
})

test('a look is as old as its beginning, and answers nothing that was asked for meanwhile', async () => {
  const clock = { time: Date.UTC(2026, 10, 18, 8, 43), now: () => clock.time }
  const history = fakeHistory(clock)
  const stream = incidentStream(node)
  const began = clock.time
  const wanted = (at: number): IncidentEvent => ({
    at,
    by: 'cnibot',
    type: 'EvidenceWanted',
    why: 'a symptom',
  })
  await history.append(stream, 0, [wanted(began)])
  const cluster = fakeCluster()
  const slow = async (name: string) => {
    clock.time += 2 * 3_600_000
    return await cluster.node(name)
  }
  await collectEvidence(depsOf({ clock, history, cluster: { ...cluster, node: slow } }))(
    { node },
    new AbortController().signal,
  )

  const { events } = await history.read<IncidentEvent>(stream)
  const state = foldIncident(node, events, 3 * day)
  expect(state?.evidence.map(each => each.at)).toEqual([began])
  expect(state?.evidenceWanted).toBeUndefined()

  const later = foldIncident(node, [...events.slice(0, 1), wanted(began + 1), ...events.slice(1)], 3 * day)
  expect(later?.evidence).toHaveLength(1)
  expect(later?.evidenceWanted?.at).toBe(began + 1)
})
