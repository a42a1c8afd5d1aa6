import { expect, test } from '@jest/globals'
import { foldIncident, type IncidentEvent, incidentStream } from '../../src/core/incident/incident.js'
import { collectEvidence } from '../../src/flows/collect-evidence.js'
import { fakeCluster } from '../fakes/cluster.js'
import { fakeHistory } from '../fakes/history.js'
import { fakeJobs } from '../fakes/jobs.js'
import { fakeLog } from '../fakes/log.js'

const node = 'node-07'
const day = 86_400_000

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
  const collect = collectEvidence({
    clusterName: 'prod-eu1',
    cluster: {
      ...cluster,
      node: async name => {
        await asked
        return cluster.node(name)
      },
    },
    shell: { shown: () => '', run: () => Promise.reject(new Error('not asked')) },
    clock,
    history,
    jobs: fakeJobs(clock),
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
