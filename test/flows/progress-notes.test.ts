import { runStream } from '../../src/core/incident/incident.js'
import { foldRun, type RunEvent, settledLength } from '../../src/core/runbook/run.js'
import { Overtaken } from '../../src/flows/fenced.js'
import { progressNotes } from '../../src/flows/progress-notes.js'
import { Unreachable } from '../../src/ports.js'
import { fakeHistory } from '../fakes/history.js'
import { fakeJobs } from '../fakes/jobs.js'
import { fakeLog } from '../fakes/log.js'
import { done, event, opened, planned, runbook, t0 } from '../unit/runbook/runs.js'

const run = 'node-07.1-r1'
const begun: RunEvent[] = [
  opened(runbook()),
  planned(0, 'cordon'),
  event(1, 'StepApproved', { index: 0, digest: 'a'.repeat(64) }),
  event(2, 'StepStarted', { index: 0, fence: 7 }),
]
const note = (says: string): RunEvent => event(3, 'StepProgressed', { index: 0, says })

const world = async () => {
  const clock = { now: () => t0 }
  const history = fakeHistory(clock)
  const jobs = fakeJobs(clock)
  await history.append(runStream(run), 0, begun)
  const say = progressNotes({ history, jobs, clock, log: fakeLog() }, { run, node: 'node-07' }, 0, {
    fence: 7,
  })
  const events = async () => (await history.read<RunEvent>(runStream(run))).events
  const said = async () => (await events()).flatMap(e => (e.type === 'StepProgressed' ? [e.says] : []))
  return { history, jobs, say, said, events }
}

describe('P-A4: progress as it goes', () => {
  test('is written as a small note and drawn, and not again while the words are the same', async () => {
    const { say, said, jobs } = await world()
    await say('1 of 3')
    await say('1 of 3')
    expect(await said()).toEqual(['1 of 3'])
    expect(jobs.waiting()).toEqual([{ kind: 'publish', node: 'node-07', length: 5 }])
  })
  test('is not written at every look, however fast it changes', async () => {
    const { say, said } = await world()
    for (let n = 0; n < 500; n++) await say(`${n} of 500`)
    expect(await said()).toEqual(['0 of 500'])
  })
  test('B3: an eviction that was accepted is on record at once, however soon after the last note; it is drawn with the next', async () => {
    const { say, jobs, events } = await world()
    await say('1 of 3', [{ pod: 'shop/a', uid: '1' }])
    await say('1 of 3', [{ pod: 'shop/b', uid: '2' }])
    await say('2 of 3')
    const recorded = (await events()).flatMap(e => (e.type === 'StepProgressed' ? (e.evicted ?? []) : []))
    expect(recorded.map(({ pod }) => pod)).toEqual(['shop/a', 'shop/b'])
    expect(jobs.waiting()).toHaveLength(1)
    expect(foldRun(await events())?.lines[0]?.evicted).toEqual(recorded)
  })
  test('B3: one that could not be written down while the store was away is with the next note', async () => {
    const { history, say, events } = await world()
    const { append } = { append: history.append.bind(history) }
    history.append = () => Promise.reject(new Unreachable('redis gave no answer'))
    await say('1 of 3', [{ pod: 'shop/a', uid: '1' }])
    history.append = append
    await say('1 of 3')
    await say('1 of 3')
    expect((await events()).slice(4)).toEqual([
      expect.objectContaining({ type: 'StepProgressed', evicted: [{ pod: 'shop/a', uid: '1' }] }),
    ])
  })
  test('is no reason for a step to fail: without the store it goes on', async () => {
    const { history, say, said } = await world()
    const { append } = { append: history.append.bind(history) }
    history.append = () => Promise.reject(new Unreachable('redis gave no answer'))
    await say('1 of 3')
    history.append = append
    expect(await said()).toEqual([])
  })
  test('B3: of a worker that was overtaken stops it, and writes nothing', async () => {
    const { history, say, said } = await world()
    await history.append(runStream(run), 4, [event(3, 'StepStarted', { index: 0, fence: 8 })])
    await expect(say('1 of 3')).rejects.toThrow(Overtaken)
    expect(await said()).toEqual([])
  })
})

describe('notes of progress in a history', () => {
  const lineOf = (events: RunEvent[]) => foldRun(events)?.lines[0]
  test('the newest is kept, and they change no state', () => {
    const state = foldRun([...begun, note('1 of 3'), note('2 of 3')])
    expect(state?.status).toBe('acting')
    expect(state?.lines[0]).toMatchObject({ status: 'acting', progress: { says: '2 of 3' } })
  })
  test('a new start begins without one; one that comes after the end is harmless', () => {
    const again = event(4, 'StepStarted', { index: 0, fence: 8 })
    expect(lineOf([...begun, note('1 of 3'), again])?.progress).toBeUndefined()
    const ended = [...begun, done(0, 'cordon', true)]
    expect(foldRun([...ended, note('3 of 3')])).toEqual(foldRun(ended))
  })
  test('B3: who was evicted is known to every later start and plan of the step, each once', () => {
    const evicted = [{ pod: 'shop/a', uid: '1' }]
    const noted = event(3, 'StepProgressed', { index: 0, says: '1 of 3', evicted })
    const again = event(4, 'StepStarted', { index: 0, fence: 8 })
    expect(lineOf([...begun, noted, noted, again])?.evicted).toEqual(evicted)
    const error = { class: 'failed', message: 'm', output: '' }
    const failed = [event(5, 'StepFailed', { index: 0, error }), event(6, 'RetryAsked', { index: 0 })]
    expect(lineOf([...begun, noted, ...failed])?.evicted).toEqual(evicted)
  })
  test('they do not move the job in charge: nobody joins it for them', () => {
    expect(settledLength([...begun, note('1 of 3'), note('2 of 3')])).toBe(settledLength(begun))
  })
})
