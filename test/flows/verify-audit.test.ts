import { beginOf, chained, readLine } from '../../src/core/audit/chain.js'
import { type AuditFacts, eventDigest } from '../../src/core/audit/entry.js'
import { type Plan, planDigest, planSubject } from '../../src/core/runbook/plan.js'
import { verifyAudit } from '../../src/flows/verify-audit.js'
import type { Audit, History } from '../../src/ports.js'
import { fakeHistory } from '../fakes/history.js'
import { done, event, fold, opened, planOf, t0 } from '../unit/runbook/runs.js'

const cluster = 'prod-eu1'
const stream = 'run/node-07.1-r1'
const plan: Plan = { ...planOf('cordon'), commands: ['PATCH /api/v1/nodes/node-07'], title: 'Cordon node-07' }
const digest = planDigest(plan, planSubject(fold(opened()), 0))

const recorded = async (): Promise<History & { audit: Audit }> => {
  const history = fakeHistory(undefined, cluster)
  await history.append(stream, 0, [
    opened(),
    event(1, 'StepPlanned', { index: 0, plan, digest, expiresAt: t0 + 1_800_000 }),
    event(2, 'StepApproved', { by: 'U2', index: 0, digest }),
    event(3, 'StepStarted', { index: 0 }),
    event(4, 'StepProgressed', { index: 0, says: 'half way' }),
    done(0, 'cordon', true),
  ])
  return history
}

/** The whole chain written anew, as somebody would who can write to the store: every hash fits. */
const forged = async (
  audit: Audit,
  change: (facts: AuditFacts) => AuditFacts,
): Promise<Pick<Audit, 'lines' | 'length' | 'head'>> => {
  const was = (await audit.lines(0, 100)).flatMap(line => readLine(line)?.entry ?? [])
  const { lines } = chained(
    beginOf(cluster),
    was.map(({ n: _n, previous: _previous, ...facts }) => change(facts)),
  )
  return {
    lines: async (after, most) => lines.slice(after, after + most),
    length: async () => lines.length,
    head: async () => undefined,
  }
}

const on =
  (type: string, change: Partial<AuditFacts>) =>
  (facts: AuditFacts): AuditFacts =>
    facts.type === type ? { ...facts, ...change } : facts

test('a record that was left alone is whole', async () => {
  const history = await recorded()
  const unchanged = await forged(history.audit, facts => facts)
  expect(await verifyAudit({ history, audit: unchanged, cluster })).toMatchObject({ whole: true, entries: 5 })
})

test.each<[string, (facts: AuditFacts) => AuditFacts, number, string]>([
  [
    'another approver',
    on('StepApproved', { by: 'U9' }),
    3,
    'event 3 of run/node-07.1-r1: it says otherwise on by',
  ],
  [
    'another digest and time of an approval',
    on('StepApproved', { plan: 'e'.repeat(64), at: 1 }),
    3,
    'event 3 of run/node-07.1-r1: it says otherwise on at, plan',
  ],
  [
    'another command',
    on('StepPlanned', { commands: ['PATCH /api/v1/nodes/node-08'] }),
    2,
    'event 2 of run/node-07.1-r1: it says otherwise on commands',
  ],
  [
    'another result',
    on('StepDone', { says: 'nothing', changed: false }),
    5,
    'event 6 of run/node-07.1-r1: it says otherwise on changed, says',
  ],
  [
    'an outcome that no event has',
    on('StepDone', { outcome: 'held' }),
    5,
    'event 6 of run/node-07.1-r1: it says otherwise on outcome',
  ],
  [
    'a result left out',
    facts => {
      const { says: _says, ...rest } = facts
      return facts.type === 'StepDone' ? rest : facts
    },
    5,
    'event 6 of run/node-07.1-r1: it says otherwise on says',
  ],
])('an entry with %s is found although every hash fits', async (_what, change, n, says) => {
  const history = await recorded()
  const audit = await forged(history.audit, change)
  expect(await verifyAudit({ history, audit, cluster })).toEqual({
    whole: false,
    n,
    says: `entry ${n} does not follow from ${says}`,
  })
})

test('an entry of an event that is not on the record is found', async () => {
  const history = await recorded()
  const { events } = await history.read(stream)
  const audit = await forged(
    history.audit,
    on('StepDone', { type: 'StepProgressed', position: 4, event: eventDigest(events[4]) }),
  )
  expect(await verifyAudit({ history, audit, cluster })).toMatchObject({
    n: 5,
    says: 'entry 5 tells of event 5 of run/node-07.1-r1, which does not belong on the record',
  })
})

test.each<[string, (all: AuditFacts[]) => AuditFacts[]]>([
  [
    'an approval replaced by a second entry of the start',
    all => [...all.slice(0, 2), all[3]!, ...all.slice(3)],
  ],
  ['an approval moved behind the end', all => [...all.slice(0, 2), ...all.slice(3), all[2]!]],
  ['every entry twice', all => [...all, ...all]],
])('a chain written anew with %s is named, though each entry fits its event', async (_what, change) => {
  const history = await recorded()
  const was = (await history.audit.lines(0, 100)).flatMap(line => readLine(line)?.entry ?? [])
  const facts = was.map(({ n: _n, previous: _previous, ...each }): AuditFacts => each)
  const { lines } = chained(beginOf(cluster), change(facts))
  const audit = {
    lines: async (after: number, most: number) => lines.slice(after, after + most),
    length: async () => lines.length,
    head: async () => undefined,
  }
  const verdict = await verifyAudit({ history, audit, cluster })
  expect(verdict).toMatchObject({ whole: false, says: expect.stringContaining('out of its turn') })
})
