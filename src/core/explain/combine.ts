import { type CauseCode, causeCodes } from '../diagnosis/cause.js'
import type { Sureness } from '../diagnosis/finding.js'
import type { Clue, Suspicion, Weight } from './rule.js'

/** One cause with everything that was said about it. */
export interface Ranked {
  cause: CauseCode
  way: string | undefined
  for: Clue[]
  against: Clue[]
  missing: string[]
  score: number
  sure: Sureness
}

const points: Record<Weight, number> = { proves: 8, supports: 4, hints: 1 }

/** Hints add up to less than one supporting observation, however many there are. */
const worth = (clues: readonly Clue[]): number => {
  const hints = clues.filter(clue => clue.weight === 'hints').length
  const rest = clues.filter(clue => clue.weight !== 'hints').map(clue => points[clue.weight])
  return rest.reduce((sum, each) => sum + each, 0) + Math.min(hints, 3) * points.hints
}

/**
 * What follows from what: where the second is seen together with the first, the first is the cause and the second is part
 * of its chain. An agent whose image cannot be pulled is down, a full disk makes empty address files.
 */
const leadsTo: Partial<Record<CauseCode, CauseCode[]>> = {
  'image-pull': ['cni-agent-down', 'cni-config-missing', 'node-not-ready', 'route-missing'],
  'volume-mount': ['secret-or-configmap-missing'],
  'secret-or-configmap-missing': ['volume-mount', 'cni-agent-down'],
  'node-pressure': [
    'cni-agent-down',
    'image-pull',
    'scheduling-blocked',
    'node-not-ready',
    'cni-config-missing',
  ],
  'node-not-ready': ['scheduling-blocked'],
  'runtime-error': ['node-not-ready', 'cni-agent-down', 'scheduling-blocked'],
  'cni-agent-down': [
    'cni-config-missing',
    'node-not-ready',
    'scheduling-blocked',
    'route-missing',
    'sandbox-name-conflict',
    'cni-del-failing',
  ],
  'cni-config-missing': ['node-not-ready', 'scheduling-blocked', 'cni-del-failing'],
  'cni-config-wrong': [
    'cni-config-missing',
    'duplicate-ip',
    'route-missing',
    'cni-agent-down',
    'node-not-ready',
  ],
  'cni-plugin-missing': ['cni-del-failing', 'ipam-leak', 'node-not-ready'],
  'cni-auth': ['cni-del-failing', 'cni-agent-down'],
  'duplicate-ip': ['ipam-leak'],
  'scheduling-blocked': ['cni-agent-down'],
  'app-not-listening': ['service-no-endpoints'],
  'drain-blocked': ['scheduling-blocked'],
  'pdb-blocked': ['scheduling-blocked', 'drain-blocked'],
}

const isRuledOut = ({ against }: Ranked): boolean => against.some(clue => clue.weight === 'proves')

const mergedOf = (cause: CauseCode, all: readonly Suspicion[]): Ranked => {
  const pro = unique(all.flatMap(each => each.for))
  const against = unique(all.flatMap(each => each.against ?? []))
  const strongest = all.toSorted((a, b) => worth(b.for) - worth(a.for))
  return {
    cause,
    way: strongest.find(each => each.way !== undefined)?.way,
    for: pro.toSorted((a, b) => points[b.weight] - points[a.weight]),
    against,
    missing: [...new Set(all.flatMap(each => each.missing ?? []))],
    score: worth(pro) - worth(against),
    sure: 'low',
  }
}

const unique = (clues: readonly Clue[]): Clue[] =>
  [...new Map(clues.toReversed().map(clue => [clue.says, clue])).values()].toReversed()

const proven = (ranked: Ranked): boolean => ranked.for.some(clue => clue.weight === 'proves')

/**
 * high: something proves it, nothing but hints speaks against it, and no other cause that it does not explain is proven.
 * medium: proven with a doubt left, or supported and nearest by a supporting observation. low: the rest.
 */
const surenessOf = (main: Ranked, others: readonly Ranked[], behind: readonly CauseCode[]): Sureness => {
  const doubt = main.against.some(clue => clue.weight !== 'hints')
  const explained = [...(leadsTo[main.cause] ?? []), ...behind]
  const rivals = others.filter(each => !explained.includes(each.cause))
  const rivalled = rivals.some(rival => proven(rival))
  if (proven(main)) return doubt || rivalled ? 'medium' : 'high'
  const supports = main.for.filter(clue => clue.weight === 'supports').length
  const near = rivals.some(rival => rival.score >= main.score - 1)
  if (supports >= 2 && !doubt && !near) return 'medium'
  return supports >= 1 && !doubt && !near ? 'medium' : 'low'
}

export interface Combined {
  main: Ranked | undefined
  /** Part of the same chain, or true beside it: supported at least once. */
  also: Ranked[]
  /** Every cause that anything speaks for, the best first. */
  all: Ranked[]
}

/**
 * Ranks what the rules suspect: by what speaks for and against, and by what follows from what. Causes that are `behind`
 * are true beside the trouble that was reported, and come after any other that is supported.
 */
export const combine = (suspicions: readonly Suspicion[], behind: readonly CauseCode[] = []): Combined => {
  const ranked = causeCodes
    .map(cause => suspicions.filter(each => each.cause === cause))
    .flatMap(all => (all[0] ? [mergedOf(all[0].cause, all)] : []))
  const possible = ranked.filter(each => !isRuledOut(each) && each.score > 0 && each.for.length > 0)
  const solid = possible.filter(({ score }) => score >= points.supports)
  const leads = (a: Ranked, b: Ranked): boolean => leadsTo[a.cause]?.includes(b.cause) ?? false
  const isBehind = ({ cause }: Ranked): boolean => behind.includes(cause)
  const pushed = solid.some(each => !isBehind(each))
  const follows = (b: Ranked): boolean =>
    (isBehind(b) && pushed) || solid.some(a => leads(a, b) && !leads(b, a) && !isBehind(a))
  const followed = new Set(solid.filter(follows).map(({ cause }) => cause))
  const order = possible.toSorted(
    (a, b) => Number(followed.has(a.cause)) - Number(followed.has(b.cause)) || b.score - a.score,
  )
  const [first, ...rest] = order
  const main = first && { ...first, sure: surenessOf(first, rest, behind) }
  const also = rest.filter(({ score }) => score >= points.supports)
  const out = ranked.filter(each => !order.includes(each) && each.for.length > 0)
  return { main, also, all: [...(main ? [main] : []), ...rest, ...out] }
}
