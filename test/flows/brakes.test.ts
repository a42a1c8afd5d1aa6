import type { IncidentEvent } from '../../src/core/incident/incident.js'
import { incidentStream, runStream } from '../../src/core/incident/incident.js'
import { foldRun, type RunEvent } from '../../src/core/runbook/run.js'
import { standing } from '../../src/core/runbook/standing.js'
import { heldBack, pause, resumeChanges, stopped } from '../../src/flows/brakes.js'
import { underRepair } from '../../src/flows/fleet.js'
import { runStep } from '../../src/flows/run-step.js'
import { fakeCluster, fakeNode } from '../fakes/cluster.js'
import { workerSettings } from '../fakes/settings.js'
import { digest, event, opened, planned, t0 } from '../unit/runbook/runs.js'
import { brakeWorld as world, minute, run } from './brake-world.js'

const plan = { run, index: 0, digest }

describe('B9: nodes under repair', () => {
  test('a second click on the node that is under repair does not give its place away', async () => {
    const { click, clock, fleet } = await world()
    await click('U1', {})
    clock.time += 5 * minute
    expect(await click('U2', { action: 'cordon' })).toContain('<@U1> was first, 5 min before you')
    clock.time += 175 * minute
    expect(await click('U1', {})).toBe('You opened this 3 h ago; the plan is below.')
    expect(await click('U2', {})).toContain('was first, 3 h before you')
    expect([...underRepair(await fleet()).keys()]).toEqual(['node-07'])
    expect(await click('U2', { incident: 'node-08.1' })).toBe(
      'Not now: node-07 is under repair, and at most 1 may be at a time.',
    )
  })

  test('of many clicks on many nodes at the same moment one opens a run, and every other answer names its node', async () => {
    const nodes = ['node-01', 'node-02', 'node-03', 'node-04', 'node-05']
    const { click, fleet } = await world({ nodes })
    const answers = await Promise.all(nodes.map(node => click('U1', { incident: `${node}.1` })))
    const [taken] = [...underRepair(await fleet()).keys()]
    expect(answers.filter(a => a === '')).toHaveLength(1)
    expect(answers.filter(a => a.startsWith(`Not now: ${taken} is under repair`))).toHaveLength(4)
  })
})

describe('B9: paused', () => {
  test('no run is opened, no plan approved or tried again; the answer says who paused, and why', async () => {
    const { brakes, click, events, incident, waiting } = await world()
    await waiting()
    expect(await pause(brakes, 'U2', 'the network is being rebuilt')).toContain(
      '*Changes are paused* by <@U2>: the network is being rebuilt.',
    )
    const because = /^Changes are paused by <@U2>: the network is being rebuilt\./
    expect(await click('U1', { incident: 'node-08.1' })).toMatch(because)
    expect(await click('U1', { action: 'approve', ...plan })).toMatch(because)
    expect(await events()).toHaveLength(2)
    expect((await incident('node-08')).some(e => e.type === 'RunOpened')).toBe(false)
    await click('U1', { action: 'refuse', ...plan })
    const now = standing(foldRun(await events())!)
    expect(await click('U1', { action: 'retry', ...plan, digest: now })).toMatch(because)
    expect((await events()).at(-1)?.type).toBe('StepRefused')
  })

  test('who may not approve is told that, not that changes are paused', async () => {
    const { brakes, click, waiting } = await world()
    await waiting()
    await pause(brakes, 'U2', 'x')
    expect(await click('U9', { action: 'approve', ...plan })).toContain('not on the approver list')
  })

  test('undo, hold and calling for help still work: what stands half done must not have to stay', async () => {
    const { brakes, click, events, history, waiting } = await world()
    await waiting()
    const failed: RunEvent[] = [
      event(1, 'StepApproved', { index: 0, digest }),
      event(2, 'StepStarted', { index: 0 }),
      event(3, 'StepFailed', { index: 0, error: { class: 'failed', message: 'no', output: '' } }),
    ]
    await history.append<RunEvent>(runStream(run), 2, failed)
    await pause(brakes, 'U2', 'x')
    const now = standing(foldRun(await events())!)
    expect(await click('U1', { action: 'undo', ...plan, digest: now })).toBe('')
    expect((await events()).at(-1)?.type).toBe('UndoAsked')
    expect(await click('U9', { action: 'escalate', incident: 'node-08.1' })).toBe('')
  })

  test('a step that was approved and has not begun is given up at the worker, its approval with it', async () => {
    const { brakes, history, waiting } = await world()
    await waiting()
    await history.append<RunEvent>(runStream(run), 2, [event(1, 'StepApproved', { index: 0, digest })])
    const state = () => history.read<RunEvent>(runStream(run)).then(({ events }) => foldRun(events)!)
    expect(await heldBack(brakes, await state(), 0)).toBeUndefined()
    await pause(brakes, 'U2', 'the network is being rebuilt')
    const instead = await heldBack(brakes, await state(), 0)
    expect(instead).toMatchObject({
      type: 'PlanOutdated',
      why: 'changes were paused before it began (the network is being rebuilt); it needs a new approval when changes go on',
    })
    await history.append<RunEvent>(runStream(run), 3, [instead!])
    expect(await state()).toMatchObject({
      status: 'planning',
      lines: [{ approved: undefined, approvals: [], attempts: [{ approvals: [{ by: 'cnibot' }] }] }, {}, {}],
    })
  })

  test('B2: an approval that nobody carried out before it expired is given up at the worker, and a new one asked for', async () => {
    const { brakes, clock, history, waiting } = await world()
    await waiting()
    await history.append<RunEvent>(runStream(run), 2, [event(1, 'StepApproved', { index: 0, digest })])
    const { events } = await history.read<RunEvent>(runStream(run))
    clock.time = t0 + 1_799_999
    expect(await heldBack(brakes, foldRun(events)!, 0)).toBeUndefined()
    clock.time = t0 + 1_800_000
    expect(await heldBack(brakes, foldRun(events)!, 0)).toMatchObject({
      type: 'PlanOutdated',
      why: 'its approval had expired before it began; it needs a new one',
    })
  })

  test('a step that has begun looks what it has done, but is stopped before its next change; one that only reads is left alone', async () => {
    const { brakes, history, waiting } = await world()
    await waiting()
    const begun = [event(1, 'StepApproved', { index: 0, digest }), event(2, 'StepStarted', { index: 0 })]
    await history.append<RunEvent>(runStream(run), 2, begun)
    await pause(brakes, 'U2', 'x')
    const { events } = await history.read<RunEvent>(runStream(run))
    expect(await heldBack(brakes, foldRun(events)!, 0)).toBeUndefined()
    expect(await stopped(brakes, 'node-07')).toBe('changes were paused after it had begun (x)')
    const reads = [
      opened(),
      planned(0, 'cordon', true),
      event(1, 'StepDone', { index: 0, done: { kind: 'cordon', changed: false, says: '', commands: [] } }),
      planned(1, 'expect'),
    ]
    expect(await heldBack(brakes, foldRun(reads)!, 1)).toBeUndefined()
  })

  test('the worker begins no approved change while it is paused: the node is not touched, and a new plan waits', async () => {
    const { brakes, events, history, jobs, waiting } = await world()
    await waiting()
    await history.append<RunEvent>(runStream(run), 2, [event(1, 'StepApproved', { index: 0, digest })])
    await history.append<IncidentEvent>(incidentStream('node-07'), 3, [
      { at: t0, by: 'U1', type: 'RunOpened', run, runbook: 'leak-reconcile' },
    ])
    await pause(brakes, 'U2', 'x')
    const cluster = fakeCluster({ nodes: [fakeNode('node-07', { uid: 'uid-7' })] })
    const shell = { shown: () => '', run: () => Promise.reject(new Error('no node is asked')) }
    const worker = { ...brakes, cluster, shell, settings: { ...brakes.settings, ...workerSettings } }
    const work = runStep({ ...worker, mayAct: (state, index) => heldBack(worker, state, index) })
    const { signal } = new AbortController()
    for (let job = jobs.take(); job; job = jobs.take()) if (job.kind === 'step') await work(job, signal)
    await work({ run, node: 'node-07', length: 3 }, signal)
    for (let job = jobs.take(); job; job = jobs.take()) if (job.kind === 'step') await work(job, signal)
    expect((await events()).slice(3).map(e => e.type)).toEqual(['PlanOutdated', 'StepPlanned'])
    expect(cluster.changes).toEqual([])
  })

  test('it is on record with who, when and why; resume is too, and then changes go on', async () => {
    const { brakes, click, fleet, waiting } = await world()
    await waiting()
    await pause(brakes, 'U2', 'x')
    expect(await pause(brakes, 'U1', 'y')).toBe('Changes are paused already, by <@U2>: x.')
    expect(await resumeChanges(brakes, 'U1')).toContain('<@U1> ended the pause')
    expect(await resumeChanges(brakes, 'U1')).toBe('Nothing is paused.')
    expect(await fleet()).toEqual([
      { at: t0 + 10_000, type: 'Paused', by: 'U2', why: 'x' },
      { at: t0 + 10_000, type: 'Resumed', by: 'U1', what: 'pause' },
    ])
    expect(await click('U1', { action: 'approve', ...plan })).toBe('')
  })

  test('the setting pauses too, and nobody resumes what it has switched off', async () => {
    const { brakes, click } = await world({ paused: true })
    expect(await click('U1', {})).toBe(
      'Changes are paused by the operator: CNIBOT_PAUSED is set. Unset it and restart to go on. Undo still works.',
    )
    expect(await resumeChanges(brakes, 'U1')).toContain('CNIBOT_PAUSED is set')
    expect(await click('U1', {})).toContain('CNIBOT_PAUSED is set')
  })
})
