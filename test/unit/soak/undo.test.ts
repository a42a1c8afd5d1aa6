import { notPutBack } from '../../soak/removal/undo.js'
import type { StoreFile } from '../../soak/removal/truth.js'

const file = (ip: string, owner: string): StoreFile => ({ ip, owner, mtime: 0 })
const before = [file('10.0.0.2', 'a')]
const nothing = { before, kept: [], store: [], late: new Set<string>(), leftBehind: [] }
const told = '10.0.0.2: given out since, to sandbox b; its Pod could not be asked'

describe('B4: after an undo the soak counts as left', () => {
  test.each<[string, Partial<Parameters<typeof notPutBack>[0]>]>([
    ['a file that is nowhere', {}],
    ['one of another owner that nobody told of', { store: [file('10.0.0.2', 'b')], kept: before }],
    ['one that lies in quarantine while its address is free', { kept: before }],
    ['one that another was told of', { kept: before, leftBehind: [told.replace('.2:', '.20:')] }],
  ])('%s', (_what, over) => {
    expect(notPutBack({ ...nothing, ...over })).toEqual(['10.0.0.2'])
  })
  test.each<[string, Partial<Parameters<typeof notPutBack>[0]>]>([
    ['one that is back', { store: before }],
    ['one whose address was given out since, as the card says', { kept: before, leftBehind: [told] }],
    ['one that a late DEL has taken', { late: new Set(['a']) }],
  ])('and not %s', (_what, over) => {
    expect(notPutBack({ ...nothing, ...over })).toEqual([])
  })
})
