import { brokenChain, damagedCache, swallowedNotFound, unwritten } from './causes-by-message.js'
import { delFailed, lostAtBoot, lostAtRestart, runtimeSkipsDel } from './causes-by-time.js'
import type { Hypothesis } from './finding.js'
import type { Cause, LeakFacts } from './leak-facts.js'

const causes: Cause[] = [
  lostAtRestart,
  delFailed,
  runtimeSkipsDel,
  brokenChain,
  lostAtBoot,
  damagedCache,
  swallowedNotFound,
  unwritten,
]

/** Why the addresses leaked (P-R3): every hypothesis that the evidence touches, the best supported first. */
export const hypothesesOf = (facts: LeakFacts): Hypothesis[] =>
  causes
    .map(cause => cause(facts))
    .filter(hypothesis => hypothesis !== undefined)
    .sort((a, b) => b.weight - a.weight)
    .map(({ cause, says, for: pro, against, missing }) => ({ cause, says, for: pro, against, missing }))
