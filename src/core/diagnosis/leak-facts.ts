import { isKnown } from '../evidence/bundle.js'
import { type AgeCluster, clusters, orphanTimes } from '../ipam/ages.js'
import type { Gap } from '../ipam/gap.js'
import type { Facts } from './facts.js'
import type { Hypothesis } from './finding.js'

/** A leak's facts, with the times of what leaked. */
export interface LeakFacts extends Facts {
  leak: Gap
  times: number[]
  bursts: AgeCluster[]
  now: number
}
export const leakFactsOf = (facts: Facts, leak: Gap): LeakFacts => {
  const times = orphanTimes(leak)
  const { host } = facts.bundle
  return {
    ...facts,
    leak,
    times,
    bursts: clusters(times),
    now: isKnown(host) ? host.value.now : facts.bundle.collectedAt,
  }
}

/** A hypothesis with how much speaks for it; the strongest is shown first. */
export type Weighed = Hypothesis & { weight: number }
export type Cause = (facts: LeakFacts) => Weighed | undefined

export const hourMs = 3_600_000
