import type { CauseCode } from '../../diagnosis/cause.js'
import { noneLeft } from '../../report/addresses.js'
import { type CauseRule, clue } from '../rule.js'

const words: [CauseCode, RegExp][] = [
  ['ipam-leak', noneLeft],
  ['ipam-full-no-leak', noneLeft],
  [
    'ipam-leak',
    /\b(?:leak\w*|never (?:released|freed)|not (?:being )?(?:released|freed|reclaimed)|piling up|keeps? growing)\b.{0,80}|.{0,80}\b(?:orphan\w*|stale)\b/i,
  ],
  ['ipam-leak', /\b(?:no|out of|ran out of|run out of) (?:more |free )?(?:ips?|ip addresses|addresses)\b/i],
  [
    'ipam-full-no-leak',
    /\b(?:no|out of|ran out of|run out of) (?:more |free )?(?:ips?|ip addresses|addresses)\b/i,
  ],
  ['sandbox-name-conflict', /failed to reserve sandbox name|name is reserved|is reserved for/i],
  ['cni-del-failing', /KillPodSandbox|failed to destroy network|network teardown/i],
]

const aboutAddresses = /\b(?:ips?|address\w*|ipam|pool|reserv\w*|cni)\b/i

const told: CauseRule = {
  name: 'addresses-in-symptom',
  source: 'what a person typed: may be wrong, and counts only where nothing else was given',
  read: ({ symptom = '' }) => {
    const text = symptom.slice(0, 2_000)
    if (!aboutAddresses.test(text) && !/sandbox/i.test(text)) return []
    return words
      .filter(([, pattern]) => pattern.test(text))
      .map(([cause]) => ({ cause, for: [clue('the words of the one who asks point there', 'hints')] }))
  },
}

export const toldRules: CauseRule[] = [told]
