import type { Bundle } from '../../src/core/evidence/bundle.js'
import type { History } from '../../src/ports.js'
import { bundleWithoutAnswers } from '../fakes/bundle.js'

/** What every History keeps, whatever it is made of. `open` gives another view of the same, empty store. */
export const historyContract = (open: () => Promise<History>): void => {
  let history: History
  beforeEach(async () => {
    history = await open()
  })

  it('begins empty and gives events back in order', async () => {
    expect(await history.read('incident/node-07')).toEqual({ events: [], length: 0 })
    expect(
      await history.append('incident/node-07', 0, [{ type: 'A' }, { type: 'B', says: 'zwei Wörter' }]),
    ).toBe(true)
    expect(await history.append('incident/node-07', 2, [{ type: 'C', list: [1, null] }])).toBe(true)
    expect(await history.read('incident/node-07')).toEqual({
      events: [{ type: 'A' }, { type: 'B', says: 'zwei Wörter' }, { type: 'C', list: [1, null] }],
      length: 3,
    })
  })

  it('refuses an append that expects another length, and writes nothing of it', async () => {
    await history.append('run/1', 0, [{ n: 1 }])
    expect(await history.append('run/1', 0, [{ n: 2 }])).toBe(false)
    expect(await history.append('run/1', 2, [{ n: 2 }, { n: 3 }])).toBe(false)
    expect((await history.read('run/1')).events).toEqual([{ n: 1 }])
  })

  it('lets exactly one of fifty writers win each length (must show 8)', async () => {
    const stream = 'incident/contended'
    for (const length of [0, 1, 2, 3, 4]) {
      const writers = Array.from({ length: 50 }, (_, writer) => history.append(stream, length, [{ writer }]))
      expect((await Promise.all(writers)).filter(won => won)).toHaveLength(1)
    }
    expect((await history.read(stream)).length).toBe(5)
  })

  it('lists the streams that begin with a prefix, without those that never got an event', async () => {
    for (const stream of ['incident/b', 'run/x', 'incident/a']) await history.append(stream, 0, [{ n: 1 }])
    await history.append('incident/refused', 3, [{ n: 1 }])
    await history.append('incident/nothing', 0, [])
    expect(await history.streams('incident/')).toEqual(['incident/a', 'incident/b'])
    expect(await history.streams('incident/b')).toEqual(['incident/b'])
    expect(await history.streams('run/')).toEqual(['run/x'])
  })

  it('no longer lists what was forgotten; it is still read for a while, and an append takes it back', async () => {
    for (const stream of ['request/a', 'request/b']) await history.append(stream, 0, [{ n: 1 }])
    await history.forget('request/a', 60_000)
    await history.forget('request/a', 60_000)
    expect(await history.streams('request/')).toEqual(['request/b'])
    expect(await history.read('request/a')).toEqual({ events: [{ n: 1 }], length: 1 })
    expect(await history.append('request/a', 1, [{ n: 2 }])).toBe(true)
    expect(await history.streams('request/')).toEqual(['request/a', 'request/b'])
    await history.forget('request/nobody', 60_000)
    expect(await history.streams('request/')).toEqual(['request/a', 'request/b'])
  })

  it('keeps a bundle by its id', async () => {
    const bundle: Bundle = bundleWithoutAnswers('node-07')
    expect(await history.bundle('b-1')).toBeUndefined()
    await history.keepBundle('b-1', bundle, 60_000)
    expect(await history.bundle('b-1')).toEqual(bundle)
  })

  it('knows what was handled, and by its key alone', async () => {
    expect(await history.wasHandled('click/1')).toBe(false)
    await history.markHandled('click/1', 60_000)
    await history.markHandled('click/1', 60_000)
    expect(await history.wasHandled('click/1')).toBe(true)
    expect(await history.wasHandled('click/2')).toBe(false)
  })
}
