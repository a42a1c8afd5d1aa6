import { nameOf } from '../evictable.js'

/** One approved Pod while a node is drained. */
export interface Departure {
  pod: { namespace: string; name: string; uid: string; graceMs: number }
  /** `here`: not yet evicted · `leaving`: the server has accepted it · `late`: did not end in its time. */
  state: 'here' | 'leaving' | 'gone' | 'late' | 'never'
  /** By this start, or by an earlier one as far as that is on record; `no` where somebody else may have. */
  evicted: 'now' | 'before' | 'no'
  /** Why it waits or does not go; '' where there is nothing to say. */
  says: string
}

const andMore = (count: number): string => (count > 1 ? `, and ${count - 1} more like it` : '')

/** `31 of 44, waiting for payments/payments-db-0: PDB payments-db allows 0 (needs 2 healthy, has 2)`. */
export const departureWords = (all: readonly Departure[]): string => {
  const of = (state: Departure['state']): Departure[] => all.filter(each => each.state === state)
  const gone = `${of('gone').length} of ${all.length}`
  const [stuck] = [...of('never'), ...of('late')]
  if (stuck) return `${gone}, stopped at ${nameOf(stuck.pod)}: ${stuck.says}`
  const waiting = of('here').filter(({ says }) => says !== '')
  const [first] = waiting
  if (first) return `${gone}, waiting for ${nameOf(first.pod)}: ${first.says}${andMore(waiting.length)}`
  const leaving = of('leaving').length
  return leaving > 0 ? `${gone}, ${leaving} on their way out` : gone
}

/** Every Pod that is not gone, with why: what a failed drain leaves for people to act on. */
export const departureList = (all: readonly Departure[]): string[] =>
  all
    .filter(({ state }) => state !== 'gone')
    .map(({ pod, state, says, evicted }) =>
      state === 'leaving'
        ? `${nameOf(pod)}: ${evicted === 'no' ? 'on its way out' : 'evicted'}, not gone yet`
        : `${nameOf(pod)}: ${says === '' ? 'not evicted' : says}`,
    )
