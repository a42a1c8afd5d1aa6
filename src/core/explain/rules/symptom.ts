import type { CauseCode } from '../../diagnosis/cause.js'
import { readCniMessage } from '../../diagnosis/cni-message.js'
import { type CauseRule, clue } from '../rule.js'

/** What somebody typed may be wrong: it decides only where nothing else was seen. */
export const symptomRule = (name: string, family: ReadonlySet<CauseCode>): CauseRule => ({
  name,
  source: "a person's words, which may quote a message",
  read: ({ symptom: text }) => {
    const [cause] = text === undefined ? [] : readCniMessage(text.slice(0, 4_000)).causes
    return cause === undefined || !family.has(cause)
      ? []
      : [{ cause, for: [clue('the words of who asked point to it', 'hints')] }]
  },
})
