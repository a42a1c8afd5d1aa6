import { createHistory } from '../../../src/adapters/redis/history.js'
import { record } from '../../../src/flows/record.js'

/** usage: audit-writer <redis url> <cluster> <name> <streams>: appends to shared histories and says each one, until it is killed. */
const [url = '', cluster = '', name = '', streams = '1'] = process.argv.slice(2)
const history = createHistory({ url, cluster, deadlineMs: 20_000 })
for (let n = 0; ; n++) {
  const stream = `run/node-${n % Number(streams)}.1-r1`
  const approved = { at: n, by: name, type: 'StepApproved', index: n, digest: 'd'.repeat(64) }
  const note = { at: n, by: name, type: 'StepProgressed', index: n, says: 'a note that is not on the record' }
  await record(history, stream, () => (n % 3 === 0 ? [note, approved] : [approved]))
  process.stdout.write(`${n}\n`)
}
