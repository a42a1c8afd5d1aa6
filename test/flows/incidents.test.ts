import { type IncidentEvent, incidentStream } from '../../src/core/incident/incident.js'
import { allIncidents } from '../../src/flows/all-incidents.js'
import { Unreachable } from '../../src/ports.js'
import { enqueueRecorded } from '../../src/flows/record.js'
import { fakeHistory } from '../fakes/history.js'
import { fakeLog } from '../fakes/log.js'

const clean: IncidentEvent = { at: 1, by: 'cnibot', type: 'EvidenceWanted', why: 'a test' }
const impossible: IncidentEvent = { at: 2, by: 'cnibot', type: 'TakenBack' }

test('one node whose history cannot be read is named in the log, and the others are there', async () => {
  const history = fakeHistory()
  await history.append(incidentStream('node-07'), 0, [clean])
  await history.append(incidentStream('node-99'), 0, [clean, impossible])
  const log = fakeLog()
  expect((await allIncidents(history, log, 1_000)).map(incident => incident.node)).toEqual(['node-07'])
  expect(JSON.stringify(log)).toContain('node-99')
})

test('what was recorded is not told as failed when only the queue does not answer', async () => {
  const down = { enqueue: () => Promise.reject(new Unreachable('Redis does not answer')) }
  expect(await enqueueRecorded(down, [{ kind: 'publish', node: 'node-07', length: 1 }])).toMatch(
    /^Recorded\./,
  )
  const broken = { enqueue: () => Promise.reject(new Error('a bug')) }
  await expect(enqueueRecorded(broken, [{ kind: 'publish', node: 'node-07', length: 1 }])).rejects.toThrow(
    'a bug',
  )
})
