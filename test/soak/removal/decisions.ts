import { Draw } from './draw.js'
import type { RuntimeKind } from './runtime-kinds.js'

/** One thing the churn does. Which Pod it is done to is a fraction of how many there are then. */
export interface Operation {
  kind: 'start' | 'stop' | 'leak' | 'late DEL'
  which: number
  /** What a new sandbox comes to. */
  fate: 'list' | 'rolled back' | 'leaks'
  /** From its ADD until it is listed, or until a failed DEL is tried again; the node's clock. */
  listAfterMs: number
  delFails: boolean
  /** Real, before it. */
  waitMs: number
  /** How far the node's clock moves with it. */
  passMs: number
}

export interface Restart {
  /** How much of what the runtime knew is gone: 0 is none of it. */
  loss: number
  /** Of the lost, how many run on without the runtime. */
  keepsRunning: number
  /** Of the lost Pods, how many the kubelet makes a new sandbox for. */
  recreates: number
  downMs: number
}

/** What goes wrong during one try to remove. Places are fractions, since the script may grow. */
export type Fault =
  | { what: 'nothing' }
  | { what: 'script killed at a statement'; place: number }
  | { what: 'script killed in the middle of moving' }
  | { what: 'script killed from outside'; afterMs: number }
  | { what: 'script stands still'; place: number; sessionLost: boolean }
  | { what: 'session lost while the list is sent'; part: number }
  | { what: 'session lost after the list' }
  | { what: 'worker killed at a line'; place: number }
  | { what: 'worker killed from outside'; afterMs: number }

export interface Decisions {
  before: Operation[]
  whilePlanning: Operation[]
  whileWaiting: Operation[]
  whileActing: Operation[]
  restart: (Restart & { when: 'before the plan' | 'before acting' | 'while acting' }) | undefined
  /** The node's clock against everybody else's, from this round on. */
  skewMs: number | undefined
  /** The runtime's own records cannot be read: at all, or only when acting. */
  recordsSilent: 'never' | 'always' | 'while acting'
  /** The runtime lists nothing for a moment while acting. */
  listsNothing: boolean
  /** The runtime's list lacks a part of what lives, for a moment while acting; its records are whole. */
  listsPart: boolean
  /** So long after acting began, an orphan's address is freed after all and given to a new Pod at once. */
  handOverAfterMs: number | undefined
  olderThanMs: number
  /** Read the node with the real probe instead of its double. */
  probe: boolean
  /** Real waits between the questions of one reading. */
  readingWaitsMs: number[]
  /** One for each try; after the last nothing goes wrong any more. */
  faults: Fault[]
  undo: { fault: Fault } | undefined
}

const minute = 60_000

/** containerd lists a sandbox after up to 4 minutes, CRI-O after up to 11; mostly it takes seconds. */
const listAfter = (draw: Draw, kind: RuntimeKind): number => {
  const longest = kind === 'crio' ? 10.5 * minute : 4 * minute
  const kindOf = draw.next()
  if (kindOf < 0.5) return draw.from(1_000, 8_000)
  return kindOf < 0.85 ? draw.from(8_000, 60_000) : draw.from(60_000, longest)
}

const operation = (draw: Draw, kind: RuntimeKind, starts: number): Operation => {
  const which = draw.next()
  const what = draw.next()
  const comes = draw.next()
  return {
    kind: what < starts ? 'start' : what < 0.95 ? 'stop' : 'late DEL',
    which,
    fate: comes < 0.86 ? 'list' : comes < 0.94 ? 'rolled back' : 'leaks',
    listAfterMs: listAfter(draw, kind),
    delFails: draw.chance(0.12),
    waitMs: draw.from(0, 12),
    passMs: draw.from(200, 4_000),
  }
}

/** A Pod whose address nobody gives back: something to remove in every round. */
const leak = (draw: Draw): Operation => ({
  ...operation(draw, 'containerd-1', 1),
  kind: 'leak',
  fate: 'leaks',
  listAfterMs: 1_000,
})

const operations = (draw: Draw, kind: RuntimeKind, count: number, starts = 0.55): Operation[] =>
  Array.from({ length: count }, () => operation(draw, kind, starts))

const fault = (draw: Draw): Fault => {
  const place = draw.next()
  const kind = draw.next()
  if (kind < 0.13) return { what: 'script killed at a statement', place }
  if (kind < 0.155) return { what: 'script killed in the middle of moving' }
  if (kind < 0.2) return { what: 'script killed from outside', afterMs: draw.from(0, 150) }
  if (kind < 0.28) return { what: 'script stands still', place, sessionLost: draw.chance(0.4) }
  if (kind < 0.31) return { what: 'session lost while the list is sent', part: place }
  if (kind < 0.34) return { what: 'session lost after the list' }
  if (kind < 0.41) return { what: 'worker killed at a line', place }
  return kind < 0.43
    ? { what: 'worker killed from outside', afterMs: draw.from(0, 150) }
    : { what: 'nothing' }
}

const restart = (draw: Draw): Decisions['restart'] => {
  const [drawn, when, size] = [draw.next(), draw.next(), draw.next()]
  const downMs = draw.from(0, 4)
  if (drawn > 0.2) return undefined
  return {
    loss: drawn > 0.13 ? 0 : size < 0.8 ? 0.05 + size * 0.4 : 1,
    keepsRunning: 0.2,
    recreates: 0.6,
    downMs,
    when: when < 0.5 ? 'before the plan' : when < 0.75 ? 'before acting' : 'while acting',
  }
}

const skew = (draw: Draw): number | undefined => {
  const [drawn, size] = [draw.next(), draw.next() * 2 - 1]
  if (drawn > 0.12) return undefined
  // Far off it is not trusted, and files made meanwhile look old, or not made yet, once it is set right.
  return Math.round(drawn < 0.04 ? size * 24 * 60 * minute : size * 4.5 * minute)
}

/** Everything that is left to chance in one round; the same seed and number give the same. */
export const decide = (seed: number, round: number, kind: RuntimeKind): Decisions => {
  const draw = new Draw(seed, round)
  const silent = draw.next()
  const tries = draw.pick([1, 1, 1, 1, 2])
  return {
    before: [
      ...operations(draw, kind, draw.from(1, 2)),
      ...Array.from({ length: draw.from(1, 3) }, () => leak(draw)),
    ],
    whilePlanning: operations(draw, kind, draw.from(0, 2), 0.7),
    whileWaiting: operations(draw, kind, draw.from(0, 1)),
    whileActing: operations(draw, kind, draw.from(1, 3), 0.65),
    restart: restart(draw),
    skewMs: skew(draw),
    recordsSilent: silent < 0.05 ? 'always' : silent < 0.08 ? 'while acting' : 'never',
    listsNothing: draw.chance(0.03),
    listsPart: draw.chance(0.04),
    handOverAfterMs: draw.chance(0.3) ? draw.from(0, 150) : undefined,
    olderThanMs: draw.pick([0, 0, minute, 15 * minute]),
    probe: draw.chance(0.02),
    readingWaitsMs: Array.from({ length: 4 }, () => (draw.chance(0.5) ? 0 : draw.from(0, 6))),
    faults: Array.from({ length: tries }, () => fault(draw)),
    undo: draw.chance(0.05) ? { fault: fault(draw) } : undefined,
  }
}
