import { type IncidentEvent, incidentStream, runStream } from '../../src/core/incident/incident.js'
import type { RunEvent } from '../../src/core/runbook/run.js'
import { resume } from '../../src/flows/resume.js'
import { Unreachable } from '../../src/ports.js'
import { digest, done, event, opened, planned, t0 } from '../unit/runbook/runs.js'
import { buttonsOf, shown } from '../unit/view/shown.js'
import { onNode } from './drain-context.js'
import { minute, row, world } from './compare-world.js'

test('P-A2: a repair is chosen on the comparison alone, which anybody may ask for; one look is asked for, and a second click is told so', async () => {
  const { click, jobs, incident, head } = await world()
  expect(buttonsOf(await head()).join()).toMatch(/cnibot:compare: Compare repairs/)
  expect(buttonsOf(await head()).join()).not.toMatch(/cnibot:(reconcile|drain)/)
  expect(await click('U9', { action: 'compare' })).toMatch(/^Looking at both repairs, read only\./)
  expect(await click('U1', { action: 'compare' })).toMatch(/being looked at already/)
  expect(jobs.waiting()).toEqual([{ kind: 'compare', node: 'node-07', length: 4 }])
  expect((await incident()).status).toBe('diagnosed')
})

test('P-A2: no repair begins before both were shown side by side, whichever button is clicked', async () => {
  const { click, incident } = await world()
  expect(await click('U1', { action: 'reconcile' })).toBe(
    'Compare the repairs first: a repair is chosen on the card that shows both.',
  )
  expect((await incident()).runs).toEqual([])
})

test('P-A2: a job that was lost in a crash is asked for again', async () => {
  const { click, deps, jobs } = await world()
  await click('U9', { action: 'compare' })
  for (let job = jobs.take(); job; ) job = jobs.take()
  await resume(deps)()
  expect(jobs.waiting()).toContainEqual({ kind: 'compare', node: 'node-07', length: 4 })
})

test('P-A2: one card shows both repairs for this node: what moves, what is in the way, what is lost, how long it takes', async () => {
  const { click, compare, card, cluster } = await world([
    onNode('payments', 'api-1'),
    onNode('payments', 'db-0', { labels: { app: 'db' } }),
    onNode('search', 'cache-1', { emptyDirs: ['scratch'] }),
  ])
  cluster.draining.budgets.push({
    namespace: 'payments',
    name: 'payments-db',
    selector: { matchLabels: { app: 'db' }, matchExpressions: [] },
    allowed: 0,
    healthy: 1,
    desired: 1,
    expected: 1,
    counted: true,
    unhealthyMayGo: false,
  })
  await click('U9', { action: 'compare' })
  await compare()
  const message = (await card())!
  expect(row(message, 'Pods that move')).toEqual(['Pods that move', 'none', '3 (1 waits on budgets), 0 stay'])
  expect(row(message, 'in the way')[2]).toBe('1 Pod held back by a budget; not all is known, see below')
  expect(row(message, 'can go wrong')[2]).toContain('data in emptyDir of 1 Pod is lost')
  expect(
    row(message, 'undo')
      .slice(1)
      .map(cell => cell.slice(0, 3)),
  ).toEqual(['yes', 'no:'])
  expect(row(message, 'takes about').slice(1)).toEqual(['no past run here', 'no past run here'])
  const text = shown(message)
  expect(text).toMatch(/\*Wait:\* payments\/db-0 \(.*payments-db/)
  expect(text).toContain('*emptyDir data:* search/cache-1')
  expect(buttonsOf(message)).toEqual([
    'cnibot:reconcile: Reconcile in place…',
    'cnibot:drain: Drain…',
    'cnibot:hold: Hold',
  ])
})

test('P-A2: what could not be read says why in its place, and is never a zero', async () => {
  const { click, compare, card, cluster } = await world()
  cluster.failing.set('budgets', new Unreachable('the API server did not answer'))
  await click('U9', { action: 'compare' })
  await compare()
  const message = (await card())!
  expect(row(message, 'addresses given back').slice(1)).toEqual([
    'not known, see below',
    'not known, see below',
  ])
  expect(row(message, 'Pods that move')[2]).toBe('not known, see below')
  expect(shown(message)).toContain('*Addresses* not known: ')
  expect(shown(message)).toContain('*Pods* not known: the API server did not answer')
})

test('P-A2: the time expected is that of completed runs in this fleet, without what approvals took', async () => {
  const { click, compare, card, history } = await world()
  for (const [n, seconds] of [40, 20, 60].entries()) {
    const node = `node-${20 + n}`
    const run = `${node}.1-r1`
    const work: RunEvent[] = [
      opened(),
      planned(0, 'cordon'),
      event(10 * minute, 'StepApproved', { index: 0, digest }),
      event(10 * minute, 'StepStarted', { index: 0 }),
      { ...done(0, 'cordon', true), at: t0 + 10 * minute + seconds * 1_000 },
    ]
    await history.append<RunEvent>(runStream(run), 0, work)
    await history.append<IncidentEvent>(incidentStream(node), 0, [
      { at: t0, by: 'cnibot', type: 'Opened', why: 'full' },
      { at: t0, by: 'U1', type: 'RunOpened', run, runbook: 'leak-reconcile' },
      { at: t0 + 1, by: 'U1', type: 'RunEnded', run, outcome: 'completed', says: '', recountAt: undefined },
    ])
  }
  await click('U9', { action: 'compare' })
  await compare()
  expect(row((await card())!, 'takes about').slice(1)).toEqual([
    '40 s at work (median of 3 runs here, 20 s to 60 s), and what the approvals take',
    'no past run here',
  ])
})

test('P-A2: histories of other nodes that cannot be read are left out and logged; the look comes to its end', async () => {
  const { click, compare, card, deps, history } = await world()
  for (const node of ['node-20', 'node-21']) {
    const run = `${node}.1-r1`
    await history.append<IncidentEvent>(incidentStream(node), 0, [
      { at: t0, by: 'cnibot', type: 'Opened', why: 'full' },
      { at: t0, by: 'U1', type: 'RunOpened', run, runbook: 'leak-reconcile' },
      { at: t0 + 1, by: 'U1', type: 'RunEnded', run, outcome: 'completed', says: '', recountAt: undefined },
    ])
  }
  await history.append<RunEvent>(runStream('node-20.1-r1'), 0, [planned(0, 'cordon')])
  const work = [opened(), planned(0, 'cordon'), event(1, 'StepApproved', { index: 0, digest })]
  const end = [event(2, 'StepStarted', { index: 0 }), { ...done(0, 'cordon', true), at: t0 + 40_002 }]
  await history.append<RunEvent>(runStream('node-21.1-r1'), 0, [...work, ...end])
  await click('U9', { action: 'compare' })
  await compare()
  expect(row((await card())!, 'takes about')[1]).toBe(
    '40 s at work (1 run here), and what the approvals take',
  )
  expect(JSON.stringify(deps.log.lines)).toContain('run/node-20.1-r1 cannot be read')
})

test('P-A2: a look that never came to its end can be asked for again after some minutes', async () => {
  const { click, clock, compare, incident } = await world()
  await click('U9', { action: 'compare' })
  clock.time += 4 * minute
  expect(await click('U1', { action: 'compare' })).toMatch(/being looked at already/)
  clock.time += 2 * minute
  expect(await click('U1', { action: 'compare' })).toMatch(/^Looking at both repairs/)
  await compare()
  expect((await incident()).comparisons).toHaveLength(1)
})

test('P-A2: once a choice was made the card keeps its words and loses its buttons', async () => {
  const { click, compare, card } = await world()
  await click('U9', { action: 'compare' })
  await compare()
  expect(await click('U1', { action: 'reconcile' })).toBe('')
  const message = (await card())!
  expect(buttonsOf(message)).toEqual([])
  expect(shown(message)).toContain('A choice was made')
})

test('P-A2: a cordon is no choice, and a comparison from before a repair is none to choose on again', async () => {
  const { click, clock, compare, card, history, incident } = await world()
  await click('U9', { action: 'compare' })
  await compare()
  const at = clock.time + minute
  const ended = (run: string, runbook: string): IncidentEvent[] => [
    { at, by: 'U1', type: 'RunOpened', run, runbook },
    { at: at + 1, by: 'U1', type: 'RunEnded', run, outcome: 'held', says: '', recountAt: undefined },
    { at: at + 2, by: 'U1', type: 'Released' },
  ]
  const add = async (events: IncidentEvent[]) =>
    history.append<IncidentEvent>(
      incidentStream('node-07'),
      (await history.read(incidentStream('node-07'))).length,
      events,
    )
  await add(ended('node-07.1-r1', 'cordon'))
  expect(buttonsOf((await card())!)).not.toEqual([])
  await add(ended('node-07.1-r2', 'leak-drain'))
  expect(buttonsOf((await card())!)).toEqual([])
  expect(await click('U1', { action: 'reconcile' })).toMatch(/^Compare the repairs first/)
  expect((await incident()).runs).toHaveLength(2)
})

test('P-A2: a look that somebody overtook is not shown twice', async () => {
  const { click, compare, incident } = await world()
  await click('U9', { action: 'compare' })
  await Promise.all([compare(), compare()])
  expect((await incident()).comparisons).toHaveLength(1)
})
