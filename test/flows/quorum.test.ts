import { runStream } from '../../src/core/incident/incident.js'
import { foldRun, type RunEvent } from '../../src/core/runbook/run.js'
import { standing } from '../../src/core/runbook/standing.js'
import { contextOf, plan as planStep } from '../../src/flows/step-events.js'
import { fakeCluster, fakeNode } from '../fakes/cluster.js'
import { fakeLog } from '../fakes/log.js'
import { digest, fold, opened, planned, runbook } from '../unit/runbook/runs.js'
import { clickWorld } from './click-world.js'
import { workerSettings } from '../fakes/settings.js'

const run = 'node-07.1-r1'
const plan = { run, index: 0, digest }

/** A run whose first step waits for as many people as are asked for. */
const waitingFor = async (approvals: number, more: Parameters<typeof clickWorld>[0] = {}) => {
  const world = await clickWorld({ approvers: ['U1', 'U2', 'U3'], ...more })
  const waits = { ...planned(0, 'cordon'), approvals } as RunEvent
  await world.history.append<RunEvent>(runStream(run), 0, [opened(), waits])
  const events = async () => (await world.history.read<RunEvent>(runStream(run))).events
  const state = async () => foldRun(await events())
  const approve = (by: string, value = {}) => world.click(by, { action: 'approve', ...plan, ...value })
  return { ...world, events, state, approve }
}

test('B2: a change that two must approve runs after two different people, and the first is told who is missing', async () => {
  const { approve, state } = await waitingFor(2)
  expect(await approve('U1')).toBe('Your approval is recorded. One more person must approve it too.')
  expect(await state()).toMatchObject({ status: 'awaiting', lines: [{ approvals: [{ by: 'U1' }] }, {}, {}] })
  expect(await approve('U2')).toBe('')
  const line = (await state())?.lines[0]
  expect(line?.status).toBe('approved')
  expect(line?.approvals.map(each => each.by)).toEqual(['U1', 'U2'])
})

test('B2: nobody counts twice, however often they click', async () => {
  const { approve, state, events } = await waitingFor(2)
  await approve('U1')
  expect(await approve('U1')).toMatch(/^You approved this 1 s ago\. One more person must approve it too\.$/)
  await Promise.all([approve('U1'), approve('U1')])
  expect(await events()).toHaveLength(3)
  expect((await state())?.status).toBe('awaiting')
})

test('B2: three people at the same moment are two approvals; the third is told who was first', async () => {
  const { approve, events, state } = await waitingFor(2)
  const answers = await Promise.all(['U1', 'U2', 'U3'].map(by => approve(by)))
  expect((await events()).filter(e => e.type === 'StepApproved')).toHaveLength(2)
  expect((await state())?.status).toBe('acting')
  expect(answers.filter(a => /approved this .* before you\. It is running\.$/.test(a))).toHaveLength(1)
})

test('B2: an approval lapses with its plan: the next plan needs both people again', async () => {
  const { approve, click, clock, history, state } = await waitingFor(2)
  await approve('U1')
  clock.time += 3_600_000
  expect(await approve('U2')).toContain('has expired')
  expect((await state())?.lines[0]?.attempts).toMatchObject([
    { approvals: [{ by: 'U1' }], approved: undefined, why: expect.stringContaining('expired') },
  ])
  const again = { ...planned(0, 'cordon'), approvals: 2, expiresAt: clock.time + 1 } as RunEvent
  await history.append<RunEvent>(runStream(run), 4, [again])
  expect(await click('U2', { action: 'approve', ...plan })).toContain('One more person')
  expect((await state())?.status).toBe('awaiting')
})

test('B2: somebody who approved first may still refuse while the others are awaited', async () => {
  const { approve, click, state } = await waitingFor(2)
  await approve('U1')
  expect(await click('U1', { action: 'refuse', ...plan })).toBe('')
  expect(await state()).toMatchObject({ status: 'paused', lines: [{ refused: { by: 'U1' } }, {}, {}] })
})

test('B2: where self-approval is off, whoever opened the run counts neither alone nor as one of two', async () => {
  const { approve, state } = await waitingFor(2, { selfApproval: false })
  expect(await approve('U1')).toContain('You opened this run; somebody else must approve')
  await approve('U2')
  expect(await approve('U1')).toContain('somebody else must approve')
  expect(await approve('U3')).toBe('')
  expect((await state())?.lines[0]?.approvals.map(each => each.by)).toEqual(['U2', 'U3'])
})

test('B2: where self-approval is off, whoever opened the run may still refuse', async () => {
  const { click, state } = await waitingFor(1, { selfApproval: false })
  expect(await click('U1', { action: 'refuse', ...plan })).toBe('')
  expect((await state())?.status).toBe('paused')
})

test('B2: a risk with a list of its own is approved by that list alone', async () => {
  const { approve } = await waitingFor(1, { byRisk: { medium: ['U3'] } })
  expect(await approve('U2')).toBe(
    'You are not on the approver list for *medium* steps. @medium-approvers may approve.',
  )
  expect(await approve('U3')).toBe('')
})

test('B2: a quorum that the list cannot reach is said to who approves, with what to do', async () => {
  const few = await waitingFor(3, { approvers: ['U1', 'U2'] })
  expect(await few.approve('U1')).toContain(
    '2 more people must approve it too. But only 1 more on the list (@sre-oncall) may approve this, so it cannot be reached',
  )
  expect(await few.approve('U2')).toContain('But nobody else on the list (@sre-oncall) may approve this')
  const opener = await waitingFor(2, { approvers: ['U1', 'U2'], selfApproval: false })
  expect(await opener.approve('U2')).toMatch(/But nobody else on the list .* put more people on the list/)
  const enough = await waitingFor(2, { approvers: ['U1', 'U2'] })
  expect(await enough.approve('U2')).not.toContain('cannot be reached')
})

test('B2: a refused plan that is tried again keeps who refused it', async () => {
  const { click, state } = await waitingFor(1)
  await click('U2', { action: 'refuse', ...plan })
  await click('U1', { action: 'retry', ...plan, digest: standing((await state())!) })
  expect((await state())?.lines[0]).toMatchObject({
    refused: undefined,
    attempts: [{ refused: { by: 'U2' }, approvals: [] }],
  })
})

test('B3: the same person’s click delivered again after a restart is told that it counts already', async () => {
  const { approve, events } = await waitingFor(1)
  await approve('U1')
  expect(await approve('U1')).toBe('You approved this 1 s ago. It is running.')
  expect((await events()).filter(e => e.type === 'StepApproved')).toHaveLength(1)
})

test.each([
  ['low', 1],
  ['medium', 2],
  ['high', 3],
] as const)('B2: the worker writes into a plan of %s risk that %i must approve it', async (risk, many) => {
  const { deps } = await clickWorld()
  const settings = { ...workerSettings, incidentWindowMs: 1, approvals: { low: 1, medium: 2, high: 3 } }
  const shell = { shown: () => '', run: () => Promise.reject(new Error('no node is asked')) }
  const cluster = fakeCluster({ nodes: [fakeNode('node-07', { uid: 'uid-7' })] })
  const worker = { ...deps, cluster, shell, log: fakeLog(), settings }
  const planOf = async (book: object) => {
    const state = fold(opened(runbook({ risk, ...book })))
    return planStep(worker, state, contextOf(worker, state, 0, new AbortController().signal))
  }
  expect(await planOf({})).toMatchObject({ type: 'StepPlanned', approvals: many })
  expect(await planOf({ prerequisites: ['It can'] })).toMatchObject({ type: 'StepPlanned', approvals: 1 })
})
