import { type ChainEntry, readLine, verifyChain } from '../../src/core/audit/chain.js'
import type { Audit, History } from '../../src/ports.js'

export const auditCluster = 'audit-contract'

const approved = (at: number) => ({ at, by: 'U1', type: 'StepApproved', index: 0, digest: 'd'.repeat(64) })

const entriesOf = async (audit: Audit): Promise<ChainEntry[]> =>
  (await audit.lines(0, 10_000)).map(line => {
    const read = readLine(line)
    if (!read) throw new Error(`no entry: ${line}`)
    return read.entry
  })

/** What every chain keeps, whatever it is made of. `open` gives a view of the same, empty store of cluster `auditCluster`. */
export const auditContract = (open: () => Promise<History & { audit: Audit }>): void => {
  let history: History
  let audit: Audit
  beforeEach(async () => {
    const opened = await open()
    history = opened
    audit = opened.audit
  })

  it('begins without an entry', async () => {
    expect(await audit.head()).toBeUndefined()
    expect(await audit.lines(0, 10)).toEqual([])
    expect(await audit.length()).toBe(0)
  })

  it('gets an entry for each event that is on the record, with its place in the history, and none for others', async () => {
    await history.append('incident/node-07', 0, [
      { at: 1, by: 'cnibot', type: 'SymptomSeen' },
      { at: 2, by: 'U1', type: 'Held' },
    ])
    await history.append('run/node-07.1-r1', 0, [{ at: 3, by: 'U1', type: 'RunOpened' }, approved(4)])
    await history.append('request/1', 0, [{ at: 5, type: 'Asked' }])
    const entries = await entriesOf(audit)
    expect(entries.map(({ n, stream, position, type }) => [n, stream, position, type])).toEqual([
      [1, 'incident/node-07', 1, 'Held'],
      [2, 'run/node-07.1-r1', 0, 'RunOpened'],
      [3, 'run/node-07.1-r1', 1, 'StepApproved'],
    ])
    const head = await audit.head()
    expect(head).toEqual({ n: 3, hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(verifyChain(auditCluster, await audit.lines(0, 10))).toEqual({
      whole: true,
      entries: 3,
      from: 2,
      to: 4,
      head: head?.hash,
    })
  })

  it('gets nothing of an append that was refused', async () => {
    await history.append('run/node-07.1-r1', 0, [approved(1)])
    expect(await history.append('run/node-07.1-r1', 0, [approved(2)])).toBe(false)
    expect(await history.append('run/node-07.1-r1', 5, [approved(2)])).toBe(false)
    expect(await entriesOf(audit)).toHaveLength(1)
  })

  it('is read in parts, to its end', async () => {
    for (let at = 0; at < 7; at++) await history.append('run/node-07.1-r1', at, [approved(at)])
    const all = await audit.lines(0, 100)
    expect([
      ...(await audit.lines(0, 3)),
      ...(await audit.lines(3, 3)),
      ...(await audit.lines(6, 3)),
    ]).toEqual(all)
    expect(await audit.lines(7, 3)).toEqual([])
    expect(await audit.length()).toBe(7)
  })

  it('keeps its entries when a history is forgotten', async () => {
    await history.append('run/node-07.1-r1', 0, [approved(1)])
    await history.forget('run/node-07.1-r1', 0)
    expect(await entriesOf(audit)).toHaveLength(1)
    await history.append('run/node-07.1-r2', 0, [approved(2)])
    expect(verifyChain(auditCluster, await audit.lines(0, 10))).toMatchObject({ whole: true, entries: 2 })
  })

  it('takes the entries of fifty histories written at the same moment, one behind the other', async () => {
    const writers = Array.from({ length: 50 }, (_, i) =>
      history.append(`run/node-${i}.1-r1`, 0, [{ at: i, by: 'U1', type: 'RunOpened' }, approved(i)]),
    )
    expect(await Promise.all(writers)).toEqual(writers.map(() => true))
    expect(verifyChain(auditCluster, await audit.lines(0, 200))).toMatchObject({ whole: true, entries: 100 })
  })
}
