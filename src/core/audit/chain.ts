import { createHash } from 'node:crypto'
import { canonical } from '../runbook/plan.js'
import type { AuditFacts } from './entry.js'

/** One entry of the chain. Its hash is SHA-256 over its canonical JSON, `previous` included. */
export interface ChainEntry extends AuditFacts {
  /** Number in the chain, from 1. */
  n: number
  /** Hash of the entry before; of the first one, the hash of the cluster's name. */
  previous: string
}

/** The end of a chain: number and hash of its last entry. */
export interface Tip {
  n: number
  hash: string
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** What the first entry stands on: a chain of another cluster does not fit here. */
export const beginOf = (cluster: string): Tip => ({ n: 0, hash: sha256(`cnibot audit of ${cluster}`) })

/** The lines to write behind `tip`, `<hash> <canonical JSON>` each, and the tip after them. */
export const chained = (tip: Tip, facts: readonly AuditFacts[]): { lines: string[]; tip: Tip } => {
  const lines: string[] = []
  let last = tip
  for (const each of facts) {
    const entry: ChainEntry = { ...each, n: last.n + 1, previous: last.hash }
    const text = canonical(entry)
    last = { n: entry.n, hash: sha256(text) }
    lines.push(`${last.hash} ${text}`)
  }
  return { lines, tip: last }
}

/** Reads a line without judging it; undefined where it is none of ours. */
export const readLine = (line: string): { hash: string; text: string; entry: ChainEntry } | undefined => {
  const [, hash, text] = /^([0-9a-f]{64}) (\{.*\})$/s.exec(line) ?? []
  if (hash === undefined || text === undefined) return undefined
  try {
    const entry = JSON.parse(text) as ChainEntry
    return Number.isSafeInteger(entry.n) ? { hash, text, entry } : undefined
  } catch {
    return undefined
  }
}

/** How far a chain was followed. Immutable; a few numbers, however long the chain is. */
export interface Walk {
  cluster: string
  /** The last entry that holds. */
  tip: Tip
  /** Lines read so far. */
  lines: number
  /** Times of the first and the last entry that hold. */
  from: number | undefined
  to: number | undefined
  broken: { n: number; says: string; missing: boolean } | undefined
  /** A hash, or its beginning, that must be in the chain; and whether it was. */
  head: string | undefined
  headSeen: boolean
}

export const startWalk = (cluster: string, head?: string): Walk => ({
  cluster,
  tip: beginOf(cluster),
  lines: 0,
  from: undefined,
  to: undefined,
  broken: undefined,
  head,
  headSeen: false,
})

const spanned = (from: number, to: number): string =>
  from === to ? `entry ${from} is` : `entries ${from} to ${to} are`

/** What is wrong with this line behind that tip. A gap is called missing until what is missing turns up further on. */
const fault = (walk: Walk, line: string): Walk['broken'] => {
  const wanted = walk.tip.n + 1
  const found = readLine(line)
  const bad = (says: string, missing = false) => ({ n: wanted, says, missing })
  if (!found) return bad(`entry ${wanted} was changed: it can no longer be read`)
  const { hash, text, entry } = found
  if (sha256(text) !== hash)
    return bad(`entry ${wanted} was changed: its text (it calls itself ${entry.n}) no longer gives its hash`)
  if (entry.n > wanted)
    return bad(
      `${spanned(wanted, entry.n - 1)} missing: entry ${entry.n} follows ${walk.tip.n === 0 ? 'the beginning' : `entry ${walk.tip.n}`}`,
      true,
    )
  if (entry.n < wanted)
    return bad(`an entry was inserted behind entry ${walk.tip.n}: it calls itself ${entry.n} again`)
  if (entry.previous === walk.tip.hash) return undefined
  return wanted === 1
    ? bad(`entry 1 does not begin the chain of cluster ${walk.cluster}: it is another cluster's`)
    : bad(
        `entry ${wanted} does not stand on this entry ${wanted - 1}: one of the two was put in place of another`,
      )
}

/** A line further on that is the one that was missing: so nothing was taken away, it was moved. */
const foundAgain = (walk: Walk, line: string): Walk['broken'] => {
  const { broken } = walk
  if (!broken?.missing) return broken
  const found = readLine(line)
  if (found?.entry.n !== broken.n || sha256(found.text) !== found.hash) return broken
  const at = walk.lines + 1
  return { ...broken, missing: false, says: `entry ${broken.n} was moved: it stands at place ${at}` }
}

/** One line further. After the first break it only looks for what the break left out. */
export const follow = (walk: Walk, line: string): Walk => {
  const lines = walk.lines + 1
  if (walk.broken) return { ...walk, lines, broken: foundAgain(walk, line) }
  const broken = fault(walk, line)
  const found = readLine(line)
  if (broken || !found) return { ...walk, lines, broken }
  const { hash, entry } = found
  return {
    ...walk,
    lines,
    tip: { n: entry.n, hash },
    from: walk.from ?? entry.at,
    to: entry.at,
    headSeen: walk.headSeen || (walk.head !== undefined && hash.startsWith(walk.head)),
  }
}

export type ChainVerdict =
  | { whole: true; entries: number; from: number | undefined; to: number | undefined; head: string }
  | { whole: false; n: number; says: string }

/** Plans whose digest was made again from the plan that the history holds. */
export interface Compared {
  plans: number
}

export type AuditVerdict = (ChainVerdict & { whole: false }) | (ChainVerdict & { whole: true } & Compared)

/** What a walk to the end has shown. A tail that was cut off leaves no trace but a head that somebody noted before. */
export const verdictOf = (walk: Walk): ChainVerdict => {
  const { broken, tip, from, to, head, headSeen } = walk
  if (broken) return { whole: false, n: broken.n, says: broken.says }
  if (head !== undefined && !headSeen)
    return {
      whole: false,
      n: tip.n + 1,
      says: `the head ${head} is not in the chain, which ends with entry ${tip.n}: its tail was cut off, or all of it was written anew`,
    }
  return { whole: true, entries: tip.n, from, to, head: tip.hash }
}

export const verifyChain = (cluster: string, lines: readonly string[], head?: string): ChainVerdict =>
  verdictOf(lines.reduce(follow, startWalk(cluster, head)))
