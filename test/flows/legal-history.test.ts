import { type IncidentEvent, incidentStream, runStream } from '../../src/core/incident/incident.js'
import { foldRun, type RunEvent } from '../../src/core/runbook/run.js'
import { legalHistory } from '../../src/flows/legal-history.js'
import { record } from '../../src/flows/record.js'
import { fakeHistory } from '../fakes/history.js'
import { done, event, failed, opened, planned, t0 } from '../unit/runbook/runs.js'

const stream = runStream('node-07.1-r1')
const open = (): ReturnType<typeof fakeHistory> =>
  legalHistory(fakeHistory(), { incidentWindowMs: 86_400_000 })

test('B3: an event that may not follow is refused with one line, and the history stays readable', async () => {
  const history = open()
  expect(await history.append<RunEvent>(stream, 0, [opened(), planned(0, 'cordon')])).toBe(true)
  await expect(history.append<RunEvent>(stream, 2, [done(0, 'cordon', true)])).rejects.toThrow(
    `${stream}: not recorded, it would make this history unreadable: run node-07.1-r1: StepDone cannot follow while it is awaiting`,
  )
  const { events, length } = await history.read<RunEvent>(stream)
  expect(length).toBe(2)
  expect(foldRun(events)?.status).toBe('awaiting')
})

test('B3: of several events one that may not follow keeps all of them out', async () => {
  const history = open()
  await expect(
    history.append<RunEvent>(stream, 0, [opened(), planned(0, 'cordon'), failed(0)]),
  ).rejects.toThrow('StepFailed cannot follow while it is awaiting')
  expect((await history.read(stream)).length).toBe(0)
})

test('B3: whatever appends is checked, `record` too, and an incident as well as a run', async () => {
  const history = open()
  await expect(record<RunEvent>(history, stream, () => [event(0, 'UndoAsked')])).rejects.toThrow(
    'a run history begins with RunOpened, not UndoAsked',
  )
  const incident = incidentStream('node-07')
  const seen: IncidentEvent = { at: t0, by: 'cnibot', type: 'EvidenceWanted', why: 'a test' }
  await history.append<IncidentEvent>(incident, 0, [seen])
  await expect(
    history.append<IncidentEvent>(incident, 1, [{ at: t0, by: 'U1', type: 'TakenBack' }]),
  ).rejects.toThrow('incident node-07.1: TakenBack cannot follow while it is noticed')
  expect((await history.read(incident)).length).toBe(1)
})

test('B3: who is late is told so, not that the event may not follow', async () => {
  const history = open()
  await history.append<RunEvent>(stream, 0, [opened()])
  expect(await history.append<RunEvent>(stream, 0, [opened()])).toBe(false)
  expect(await history.append(`fleet`, 0, [{ any: 'thing' }])).toBe(true)
})
