import { type IncidentEvent, incidentStream, runStream } from '../../src/core/incident/incident.js'
import type { RunEvent } from '../../src/core/runbook/run.js'
import { standing } from '../../src/core/runbook/standing.js'
import { type FleetEvent, fleetStream, underRepair } from '../../src/flows/fleet.js'
import { nothingFound } from '../fakes/verdict.js'
import { digest, done, event, failed, fold, opened, planned, t0 } from '../unit/runbook/runs.js'
import { clickWorld as world } from './click-world.js'

test('two clicks at the same moment from two people: one run, and the second is told who was first', async () => {
  const { click, incident, history, jobs } = await world()
  const answers = await Promise.all([click('U1', {}), click('U2', {})])
  const events = await incident()
  expect(events.filter(e => e.type === 'RunOpened')).toHaveLength(1)
  expect(answers.filter(a => a === '')).toHaveLength(1)
  expect(answers.find(a => a !== '')).toMatch(/^<@U[12]> was first/)
  expect(underRepair((await history.read<FleetEvent>(fleetStream)).events).size).toBe(1)
  expect(jobs.waiting()).toContainEqual({ kind: 'step', run: 'node-07.1-r1', node: 'node-07', length: 0 })
})

test('B9: a second node is refused while one is under repair, and the answer names it', async () => {
  const { click, incident } = await world()
  await click('U1', {})
  expect(await click('U2', { incident: 'node-08.1' })).toBe(
    'Not now: node-07 is under repair, and at most 1 may be at a time.',
  )
  expect((await incident('node-08')).some(e => e.type === 'RunOpened')).toBe(false)
})

const waiting = async () => {
  const all = await world()
  await all.history.append<RunEvent>(runStream('node-07.1-r1'), 0, [opened(), planned(0, 'cordon')])
  const runEvents = async () => (await all.history.read<RunEvent>(runStream('node-07.1-r1'))).events
  const plan = { run: 'node-07.1-r1', index: 0, digest }
  return { ...all, runEvents, plan }
}

test('two approvals at the same moment: one event, the other person is told who approved', async () => {
  const { click, runEvents, plan } = await waiting()
  const answers = await Promise.all([
    click('U1', { action: 'approve', ...plan }),
    click('U2', { action: 'approve', ...plan }),
  ])
  expect((await runEvents()).filter(e => e.type === 'StepApproved')).toHaveLength(1)
  expect(answers.find(a => a !== '')).toMatch(/^<@U[12]> approved this .* before you/)
})

test('a click by somebody else is answered and changes nothing', async () => {
  const { click, runEvents, plan } = await waiting()
  expect(await click('U9', { action: 'approve', ...plan })).toContain('not on the approver list')
  expect(await runEvents()).toHaveLength(2)
})

test('an expired plan is not approved: it is marked outdated and planned again', async () => {
  const { click, clock, runEvents, jobs, plan } = await waiting()
  clock.time = t0 + 3_600_000
  expect(await click('U1', { action: 'approve', ...plan })).toContain('has expired')
  expect((await runEvents()).at(-1)).toMatchObject({
    type: 'PlanOutdated',
    why: expect.stringContaining('expired'),
  })
  expect(jobs.waiting()).toContainEqual({ kind: 'step', run: 'node-07.1-r1', node: 'node-07', length: 3 })
})

test('an outdated plan is refused with a sentence, and the newest stays', async () => {
  const { click, runEvents, plan } = await waiting()
  expect(await click('U1', { action: 'approve', ...plan, digest: 'b'.repeat(64) })).toContain('outdated')
  expect(await runEvents()).toHaveLength(2)
})

test('a button of another cluster does nothing here', async () => {
  const { click, incident } = await world()
  expect(await click('U1', { cluster: 'other' })).toContain('belongs to cluster other')
  expect(await incident()).toHaveLength(3)
})

test('P-A1: hold is an end of its own; P-P6: closing by hand needs a reason', async () => {
  const { click, incident } = await world()
  expect(await click('U1', { action: 'close' })).toContain('needs a reason')
  expect(await click('U1', { action: 'hold' })).toBe('')
  expect((await incident()).at(-1)).toMatchObject({ type: 'Held', by: 'U1' })
  expect(await click('U1', { action: 'close' }, 'the node was replaced')).toBe('')
})

test('while an undo is at work nobody can end the run: what it puts back is still to be written down', async () => {
  const { click, history, runEvents, plan } = await waiting()
  const begun = ['UndoAsked', 'UndoStarted'].map(type => ({ at: t0, by: 'U1', type, index: 0 }) as RunEvent)
  await history.append<RunEvent>(runStream('node-07.1-r1'), 2, begun)
  expect(await click('U2', { action: 'hold', ...plan })).toContain('Not now: the run is undoing')
  expect(await runEvents()).toHaveLength(4)
})

test.each(['reconcile', 'cordon', 'hold', 'close'] as const)(
  '%s is for approvers, and says so',
  async action => {
    const { click, incident } = await world()
    expect(await click('U9', { action }, 'because')).toContain('not on the approver list')
    expect(await incident()).toHaveLength(3)
  },
)

test('anybody may call for help', async () => {
  const { click, incident } = await world()
  expect(await click('U9', { action: 'escalate' })).toBe('')
  expect((await incident()).at(-1)).toMatchObject({ type: 'Escalated', to: '@platform' })
})

test('B2: undo and retry are bound to where the run stood: an older card reverses and repeats nothing that came later', async () => {
  const { click, history, plan, runEvents } = await waiting()
  const stood = async () => standing(fold(...(await runEvents())))
  const atFirst = await stood()
  const begun = [event(1, 'StepApproved', { index: 0, digest }), event(2, 'StepStarted', { index: 0 })]
  await history.append<RunEvent>(runStream('node-07.1-r1'), 2, [...begun, failed(0)])
  const old = { ...plan, digest: atFirst }
  const moved = 'The run has moved on since the card with this button was drawn'
  expect(await click('U1', { action: 'undo', ...old })).toContain(moved)
  expect(await click('U1', { action: 'retry', ...old })).toContain(moved)
  expect(await click('U1', { action: 'undo', run: plan.run, index: 0 })).toContain(moved)
  expect(await runEvents()).toHaveLength(5)
  const onceFailed = await stood()
  expect(await click('U1', { action: 'retry', ...plan, digest: onceFailed })).toBe('')
  const again = [planned(0, 'cordon'), ...begun, done(0, 'cordon', true), planned(1, 'expect'), failed(1)]
  await history.append<RunEvent>(runStream('node-07.1-r1'), 6, again)
  expect(await click('U1', { action: 'retry', ...plan, digest: onceFailed })).toContain(moved)
  expect(await click('U1', { action: 'undo', ...plan, digest: onceFailed })).toContain(moved)
  expect(await runEvents()).toHaveLength(12)
  expect(await click('U1', { action: 'undo', ...plan, digest: await stood() })).toBe('')
})

test('hold on an older card still ends the run: it changes nothing', async () => {
  const { click, history, plan, runEvents } = await waiting()
  const begun = [event(1, 'StepApproved', { index: 0, digest }), event(2, 'StepStarted', { index: 0 })]
  await history.append<RunEvent>(runStream('node-07.1-r1'), 2, [...begun, failed(0)])
  expect(await click('U1', { action: 'hold', ...plan })).toBe('')
  expect((await runEvents()).at(-1)).toMatchObject({ type: 'RunEnded', outcome: 'held' })
})

test('undo and retry are for a run that waits for a decision, and say so otherwise', async () => {
  const { click, plan } = await waiting()
  expect(await click('U1', { action: 'retry', ...plan })).toContain('Not now: the run is awaiting')
})

test.each([
  ['reconcile', 'leak-reconcile'],
  ['cordon', 'cordon'],
] as const)(
  'P-A6: an old card that still has its button %s opens nothing that the newest verdict does not offer',
  async (action, name) => {
    const { click, history, incident } = await world()
    const verdict = { ...nothingFound, cause: 'runtime-error', headline: 'The runtime is silent' }
    const seen: IncidentEvent = {
      at: t0 + 5_000,
      by: 'cnibot',
      type: 'EvidenceCollected',
      bundle: 'b-2',
      counts: undefined,
      reason: undefined,
      verdict,
    }
    const before = await incident()
    await history.append<IncidentEvent>(incidentStream('node-07'), before.length, [seen])
    expect(await click('U1', { action })).toBe(
      `${name} is not offered any more: The runtime is silent. Look at the newest message.`,
    )
    expect(await incident()).toHaveLength(before.length + 1)
    expect((await history.read(fleetStream)).events.map(event => (event as FleetEvent).type)).toEqual([
      'Taken',
      'Freed',
    ])
  },
)
