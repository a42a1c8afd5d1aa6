import { type IncidentEvent, incidentStream, runStream } from '../../src/core/incident/incident.js'
import { foldRun, type RunEvent } from '../../src/core/runbook/run.js'
import { standing } from '../../src/core/runbook/standing.js'
import { heldBack, pause, resumeChanges, stopped, watchStorm } from '../../src/flows/brakes.js'
import { digest, event, failed, t0 } from '../unit/runbook/runs.js'
import { brakeWorld as world, minute } from './brake-world.js'

describe('B9: storm', () => {
  const nodes = ['node-01', 'node-02', 'node-03', 'node-04', 'node-05']
  const stuck = (node: string, at: number): IncidentEvent => ({
    at,
    by: 'cnibot',
    type: 'SymptomSeen',
    symptom: {
      kind: 'stuck-sandbox',
      node,
      workload: { kind: 'Deployment', namespace: 'payments', name: 'api' },
      pod: 'api-1',
      podUid: `uid-${node}`,
      since: at - 5 * minute,
      message: undefined,
      exhausted: false,
    } as (IncidentEvent & { type: 'SymptomSeen' })['symptom'],
  })
  const stormy = async (broken: number) => {
    const made = await world({ nodes })
    const breaks = async (node: string) =>
      made.history.append<IncidentEvent>(incidentStream(node), 3, [stuck(node, made.clock.now())])
    const starts = async (node: string) => {
      const end = { at: made.clock.now(), how: 'started' as const, replacement: undefined }
      const ticket = `payments/Deployment/api uid-${node}`
      const gone: IncidentEvent = { at: end.at, by: 'cnibot', type: 'SymptomGone', ticket, end }
      const { length } = await made.history.read(incidentStream(node))
      await made.history.append<IncidentEvent>(incidentStream(node), length, [gone])
    }
    for (const node of nodes.slice(0, broken)) await breaks(node)
    await watchStorm(made.brakes)()
    return { ...made, breaks, starts }
  }

  test('as many nodes as the threshold are no storm', async () => {
    const { click, fleet } = await stormy(3)
    expect(await fleet()).toEqual([])
    expect(await click('U1', { incident: 'node-01.1' })).toBe('')
  })

  test('one more is: it is told once, no run is opened on its nodes, and others are left alone', async () => {
    const { brakes, click, fleet, jobs } = await stormy(4)
    await watchStorm(brakes)()
    expect(await fleet()).toEqual([{ at: t0 + 10_000, type: 'StormSeen', nodes: nodes.slice(0, 4) }])
    expect(jobs.waiting()).toContainEqual({ kind: 'publish-storm' })
    expect(await click('U1', { incident: 'node-02.1' })).toBe(
      "4 nodes broke at once, node-02 among them: that is not one node's fault, so no repair of a node is offered. An approver ends this with /cni resume storm.",
    )
    expect(await click('U1', { incident: 'node-05.1' })).toBe('')
  })

  test('a run that was open when it came goes no further: no approval, no begun change, no retry; undo still works', async () => {
    const { brakes, click, events, history, waiting } = await stormy(3)
    await history.append<IncidentEvent>(incidentStream('node-07'), 0, [stuck('node-07', brakes.clock.now())])
    await waiting()
    await watchStorm(brakes)()
    const because = /^4 nodes broke at once, node-07 among them/
    const ask = { run: 'node-07.1-r1', index: 0, digest }
    expect(await click('U1', { action: 'approve', ...ask })).toMatch(because)
    expect((await events()).map(({ type }) => type)).toEqual(['RunOpened', 'StepPlanned'])
    await history.append<RunEvent>(runStream('node-07.1-r1'), 2, [
      event(1, 'StepApproved', { index: 0, digest }),
    ])
    const approved = foldRun(await events())!
    expect(await heldBack(brakes, approved, 0)).toMatchObject({
      type: 'PlanOutdated',
      why: '4 nodes broke at once before it began, node-07 among them; it needs a new approval when changes go on',
    })
    expect(await stopped(brakes, 'node-07')).toBe(
      '4 nodes broke at once after it had begun, node-07 among them',
    )
    expect(await stopped(brakes, 'node-05')).toBeUndefined()
    await history.append<RunEvent>(runStream('node-07.1-r1'), 3, [
      event(2, 'StepStarted', { index: 0 }),
      failed(0),
    ])
    const now = standing(foldRun(await events())!)
    expect(await click('U1', { action: 'retry', ...ask, digest: now })).toMatch(because)
    expect(await click('U1', { action: 'undo', ...ask, digest: now })).toBe('')
  })

  test('it grows with its nodes, and is over when no more than the threshold are still broken', async () => {
    const { brakes, breaks, clock, fleet, starts } = await stormy(4)
    clock.time += minute
    await breaks('node-05')
    await watchStorm(brakes)()
    expect((await fleet()).at(-1)).toMatchObject({ type: 'StormSeen', nodes })
    await starts('node-01')
    await watchStorm(brakes)()
    expect((await fleet()).at(-1)?.type).toBe('StormSeen')
    await starts('node-02')
    await watchStorm(brakes)()
    expect((await fleet()).at(-1)?.type).toBe('StormOver')
  })

  test('nodes that broke one after the other over days are no storm', async () => {
    const { brakes, breaks, clock, fleet } = await stormy(3)
    clock.time += 16 * minute
    await breaks('node-04')
    await breaks('node-05')
    await watchStorm(brakes)()
    expect(await fleet()).toEqual([])
  })

  test('an approver may declare it over; what it was made of does not make another one', async () => {
    const { brakes, click, fleet } = await stormy(5)
    expect(await resumeChanges(brakes, 'U1', 'storm')).toContain('ended the storm: changes may go on')
    await watchStorm(brakes)()
    expect((await fleet()).map(e => e.type)).toEqual(['StormSeen', 'Resumed'])
    expect(await click('U1', { incident: 'node-02.1' })).toBe('')
  })

  test('who ends a pause does not end a storm with it, nor the other way round, and is told what still stands', async () => {
    const { brakes, click } = await stormy(5)
    expect(await resumeChanges(brakes, 'U1')).toMatch(/^Nothing is paused\. The storm of 5 nodes goes on/)
    await pause(brakes, 'U2', 'x')
    expect(await resumeChanges(brakes, 'U1')).toBe(
      '<@U1> ended the pause. The storm of 5 nodes goes on, and no repair is offered there: /cni resume storm declares it over.',
    )
    expect(await click('U1', { incident: 'node-02.1' })).toContain('5 nodes broke at once')
    await pause(brakes, 'U2', 'x')
    expect(await resumeChanges(brakes, 'U1', 'storm')).toBe(
      '<@U1> ended the storm. Changes stay paused: /cni resume lets them go on.',
    )
    expect(await click('U1', { incident: 'node-02.1' })).toContain('Changes are paused by <@U2>')
    expect(await resumeChanges(brakes, 'U1', 'storm')).toMatch(/^There is no storm\. Changes stay paused/)
  })
})
