import type { CauseCode } from '../diagnosis/cause.js'
import type { Hypothesis, Sureness } from '../diagnosis/finding.js'
import { once } from '../report/once.js'
import type { Report } from '../report/report.js'
import { addressesAdvice } from './advice/addresses.js'
import { dataplaneAdvice } from './advice/dataplane.js'
import { pluginAdvice } from './advice/plugin.js'
import { podAdvice } from './advice/pod.js'
import { changesFor } from './changes.js'
import { besideTheTrouble } from './beside.js'
import { combine, type Ranked } from './combine.js'
import type { Action, Advice, CauseRule } from './rule.js'
import { addressesRules } from './rules/addresses.js'
import { dataplaneRules } from './rules/dataplane.js'
import { pluginRules } from './rules/plugin.js'
import { podRules } from './rules/pod.js'

/** The answer to "what is the matter here?", in the shape that `cnibot explain --json` prints. */
export interface Answer {
  /** `other` where nothing that was read points anywhere. */
  cause: CauseCode
  /** Part of the same chain, or true beside it; the best supported first. */
  also: CauseCode[]
  confidence: Sureness
  hypotheses: (Pick<Hypothesis, 'for' | 'against' | 'missing'> & { cause: CauseCode })[]
  actions: Action[]
  /** Step kinds that change something and are offered now. */
  changes: string[]
  warnings: string[]
  ask_for: string[]
  /** Whom to call; null where the person who asks can do it. */
  escalate_to: string | null
}

export const causeRules: CauseRule[] = [...addressesRules, ...pluginRules, ...podRules, ...dataplaneRules]
export const advice: Advice[] = [...addressesAdvice, ...pluginAdvice, ...podAdvice, ...dataplaneAdvice]

const adviceOn = ({ cause, way }: Pick<Ranked, 'cause' | 'way'>): Advice | undefined =>
  advice.find(each => each.cause === cause && each.way !== undefined && each.way === way) ??
  advice.find(each => each.cause === cause && each.way === undefined)

const nothingKnown: Pick<Answer, 'actions' | 'ask_for' | 'escalate_to'> = {
  actions: [
    { kind: 'look', why: 'Nothing that was read points at a cause; look at the newest events of the Pod.' },
  ],
  ask_for: [
    'the events of the Pod, whole',
    "the journal of the runtime and the kubelet on the Pod's node around that time",
    'whether one node or all of them show it',
  ],
  escalate_to: null,
}

export const unique = (texts: readonly string[]): string[] => [...new Set(texts)]

const hypothesis = (ranked: Ranked): Answer['hypotheses'][number] => ({
  cause: ranked.cause,
  for: ranked.for.map(({ says }) => says),
  against: ranked.against.map(({ says }) => says),
  missing: ranked.missing,
})

/** Only one of each can be: what is said against touching the one would be untrue of the other. */
const eitherOr: CauseCode[][] = [['ipam-leak', 'ipam-full-no-leak']]

const canBeBoth = (one: CauseCode, other: CauseCode): boolean =>
  !eitherOr.some(pair => pair.includes(one) && pair.includes(other))

/** What a report shows: the causes ranked, what to do first, and what would hurt. */
export const explain = once((report: Report): Answer => {
  const { main, also, all } = combine(
    causeRules.flatMap(rule => rule.read(report)),
    besideTheTrouble(report),
  )
  const hypotheses = all.map(hypothesis)
  if (main === undefined)
    return {
      cause: 'other',
      also: [],
      confidence: 'low',
      hypotheses,
      changes: [],
      warnings: [],
      ...nothingKnown,
    }
  const own = adviceOn(main)
  const beside = also
    .filter(({ cause }) => canBeBoth(main.cause, cause))
    .flatMap(each => adviceOn(each) ?? [])
  return {
    cause: main.cause,
    also: also.map(({ cause }) => cause),
    confidence: main.sure,
    hypotheses,
    actions: own?.actions ?? [],
    changes: changesFor(report, main),
    warnings: unique([...(own?.warnings ?? []), ...beside.flatMap(({ warnings }) => warnings)]),
    ask_for: unique([...main.missing, ...(own?.askFor ?? [])]),
    escalate_to: own?.escalateTo ?? null,
  }
})
