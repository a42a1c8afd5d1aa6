import { trend } from '../../../src/core/ipam/trend.js'

const day = 86_400_000
const at = (days: number, orphans: number, taken = orphans + 40) => ({
  at: days * day,
  orphans,
  usable: 253,
  taken,
})

describe('trend', () => {
  test('ten a day, sixty left: six days', () => {
    expect(trend([at(0, 133), at(1, 143), at(2, 153)])).toEqual({
      perDay: expect.closeTo(10),
      exhaustedAt: expect.closeTo(8 * day, -2),
    })
  })

  test('one burst among many quiet days does not decide', () => {
    const points = [0, 1, 2, 3, 4, 5, 6, 7].map(days => at(days, days < 6 ? 0 : 100))
    expect(trend(points)).toEqual({ perDay: 0, exhaustedAt: undefined })
  })

  test('a repair is no growth and predicts nothing', () => {
    expect(trend([at(0, 208), at(1, 0), at(2, 0)])).toMatchObject({ exhaustedAt: undefined })
  })

  test('the order of the measurements does not matter', () => {
    expect(trend([at(2, 153), at(0, 133), at(1, 143)])).toEqual(trend([at(0, 133), at(1, 143), at(2, 153)]))
  })

  test('a range that is already used up is used up now', () => {
    expect(trend([at(0, 193), at(1, 203), at(2, 213)])).toMatchObject({ exhaustedAt: 2 * day })
  })

  test.each([
    ['none', []],
    ['two', [at(0, 1), at(1, 2)]],
    ['three within minutes', [at(0, 1), at(0.001, 2), at(0.002, 3)]],
  ])('%s are too few to say', (_name, points) => {
    expect(trend(points)).toBe('too few to say')
  })
})
