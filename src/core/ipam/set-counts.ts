import type { Conflist, NetworkStore } from '../evidence/bundle.js'
import { setFinder, usableOfSet } from './range-set.js'

/** One range set's share: index as in the error message's `range 0`. */
export interface SetCount {
  index: number
  subnets: string[]
  taken: number
  /** undefined where the plugin would refuse a range of this set. */
  usable: number | undefined
}

/** Address files of each range set; files in no set are left out. */
export const setCounts = (store: NetworkStore, conflist: Conflist | undefined): SetCount[] => {
  const rangeSets = conflist?.ipam.rangeSets ?? []
  const find = setFinder(rangeSets)
  const taken = rangeSets.map(() => 0)
  for (const { ip } of store.allocations) {
    const index = find(ip)
    if (index !== undefined) taken[index] = (taken[index] ?? 0) + 1
  }
  return rangeSets.map((set, index) => ({
    index,
    subnets: set.map(range => range.subnet),
    taken: taken[index] ?? 0,
    usable: usableOfSet(set),
  }))
}

/** The set that is used up first; none where any of them cannot be read. */
export const tightest = (sets: readonly SetCount[]): SetCount | undefined => {
  const left = (set: SetCount): number => (set.usable ?? Number.NaN) - set.taken
  if (sets.some(set => set.usable === undefined)) return undefined
  return [...sets].sort((a, b) => left(a) - left(b))[0]
}
