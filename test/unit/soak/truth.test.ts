import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Truth } from '../../soak/removal/truth.js'

let store: string
let away: string
let truth: Truth

beforeEach(() => {
  store = mkdtempSync(join(tmpdir(), 'cnibot-truth-'))
  away = join(store, 'away')
  mkdirSync(away)
  truth = new Truth(store)
})
afterEach(() => rmSync(store, { recursive: true, force: true }))

const file = (ip: string, owner: string): void => writeFileSync(join(store, ip), `${owner}\r\neth0`)
const live = (id: string, ip: string): void => {
  truth.begin(id)
  file(ip, id)
  truth.added(id, ip)
}
const putAway = (ip: string): void => renameSync(join(store, ip), join(away, ip))

describe('B1: what the soak holds for true', () => {
  it('counts a live address whose file is gone, once', () => {
    live('a', '10.0.0.2')
    rmSync(join(store, '10.0.0.2'))
    truth.check()
    truth.check()
    expect(truth.freed).toEqual(['10.0.0.2 of a: no file'])
  })

  it('counts one whose file was taken before its ADD had answered', () => {
    truth.begin('a')
    truth.added('a', '10.0.0.2')
    expect(truth.freed).toHaveLength(1)
  })

  it('counts one whose file is another owner’s now, and an address that two living have', () => {
    live('a', '10.0.0.2')
    live('b', '10.0.0.2')
    truth.check()
    expect(truth.freed).toEqual(['10.0.0.2 of a: now of b'])
    expect(truth.duplicates).toEqual(['10.0.0.2 given to b while a lives'])
  })

  it('counts what was put away from one that lives, is being made or is being ended, and not from a dead one', () => {
    live('living', '10.0.0.2')
    live('ending', '10.0.0.3')
    truth.deleting('ending')
    truth.begin('starting')
    file('10.0.0.4', 'starting')
    live('dead', '10.0.0.5')
    truth.lose('dead')
    for (const ip of ['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5']) putAway(ip)
    expect(truth.checkTaken(away)).toBe(4)
    expect(new Set(truth.freed.map(line => line.split(' ')[0]))).toEqual(
      new Set(['10.0.0.2', '10.0.0.3', '10.0.0.4']),
    )
  })

  it('expects no file of one that is being ended or is dead', () => {
    live('ending', '10.0.0.2')
    truth.deleting('ending')
    live('dead', '10.0.0.3')
    truth.lose('dead')
    for (const ip of ['10.0.0.2', '10.0.0.3']) rmSync(join(store, ip))
    truth.check()
    expect(truth.freed).toEqual([])
  })
})
