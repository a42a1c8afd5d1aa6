import { tellHead } from '../../../src/audit-head.js'
import { fakeHistory } from '../../fakes/history.js'

test('the head of the record is logged when it has moved, and not when nothing happened', async () => {
  const told: object[] = []
  const log = { info: (fields: object) => told.push(fields), warn: () => {}, error: () => {} }
  const history = fakeHistory()
  const tell = tellHead(history.audit, log)
  await tell()
  expect(told).toEqual([])
  await history.append('run/node-07.1-r1', 0, [{ at: 1, by: 'U1', type: 'RunOpened' }])
  await tell()
  await tell()
  await history.append('run/node-07.1-r1', 1, [{ at: 2, by: 'U1', type: 'StepRefused' }])
  await tell()
  const head = (await history.audit.head())?.hash
  expect(told).toEqual([
    { audit: { entries: 1, head: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    { audit: { entries: 2, head } },
  ])
})
