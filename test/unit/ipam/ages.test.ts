import { isKnown } from '../../../src/core/evidence/bundle.js'
import { isDelFailure } from '../../../src/core/evidence/parse/journal.js'
import { journalBand, journalCovers } from '../../../src/core/diagnosis/journal-band.js'
import { bars, clusters, orphanTimes } from '../../../src/core/ipam/ages.js'
import { measure } from '../../../src/core/ipam/gap.js'
import { realCapture } from '../real-capture.js'

const hour = 3_600_000

describe('ages of orphans', () => {
  test('P-E9: on a real cluster the orphans sit in tight clusters, one a restart', () => {
    const gap = measure(realCapture('4-exhausted'))
    const times = isKnown(gap) ? orphanTimes(gap.value) : []
    expect(times).toHaveLength(208)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(clusters(times, 20_000).length).toBeGreaterThanOrEqual(3)
    expect(clusters(times)).toEqual([{ from: times[0], to: times[207], count: 208 }])
  })

  test('clusters split where more than the distance lies between two', () => {
    expect(clusters([5 * hour, 0, hour, 5.5 * hour])).toEqual([
      { from: 0, to: hour, count: 2 },
      { from: 5 * hour, to: 5.5 * hour, count: 2 },
    ])
    expect(clusters([])).toEqual([])
  })

  test('P-E9: bars count each time once, the end included, what lies outside left out', () => {
    expect(bars([0, 1, 9, 10, 11, -1], 0, 10, 5)).toEqual([2, 0, 0, 0, 2])
    expect(bars([3, 3], 3, 3, 4)).toEqual([2, 0, 0, 0])
  })
})

describe('DEL failures in the journal', () => {
  const line = (at: number, unit: string, text: string) => ({ at, unit, text })
  const journal = {
    units: ['containerd', 'kubelet'],
    since: 0,
    until: 20 * hour,
    reachesBackTo: 0,
    dropped: 0,
    lines: [
      line(hour, 'containerd', 'StopPodSandbox for \\"a\\" failed'),
      line(1.5 * hour, 'kubelet', 'StopPodSandbox from runtime service failed'),
      line(2 * hour, 'containerd', 'RunPodSandbox for x returns sandbox id y'),
      line(9 * hour, 'containerd', 'Failed to destroy network for sandbox \\"b\\"'),
    ],
  }

  test('P-E7: the band: how many, by unit, and in which bursts', () => {
    expect(journalBand(journal, isDelFailure)).toEqual({
      count: 3,
      byUnit: [
        { unit: 'containerd', count: 2 },
        { unit: 'kubelet', count: 1 },
      ],
      bursts: [
        { from: hour, to: 1.5 * hour, count: 2 },
        { from: 9 * hour, to: 9 * hour, count: 1 },
      ],
      first: hour,
      last: 9 * hour,
    })
  })

  test.each([
    ['reaches back and was asked', { reachesBackTo: 0, since: 0 }, true],
    ['starts later', { reachesBackTo: 6 * hour, since: 0 }, false],
    ['was not asked that far', { reachesBackTo: 0, since: 6 * hour }, false],
    ['is empty', { reachesBackTo: undefined, since: 0 }, false],
  ])('P-E7: whether it covers a time: %s', (_name, over, covers) => {
    expect(journalCovers({ ...journal, ...over }, 5 * hour)).toBe(covers)
  })
})
