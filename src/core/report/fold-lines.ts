import type { Line } from './report.js'

/** Below this many lines nothing is folded. */
const few = 200
/** So many different ones are read of one journal; they are chosen by whether they may tell of trouble. */
const mostKinds = 250

const trouble =
  /fail|error|cannot|could not|unable|denied|refus|timed? ?out|deadline|not found|no such|unhealthy|not ready|evict|pressure|oom|kill|panic|fatal|warn|invalid|missing|already|conflict|unauthorized|forbidden|expired|exhaust|no ip|duplicate|leak|stale|drop|reject|unreachable/i

/** Lines that differ in times, ids, addresses and numbers only are of one kind. */
const kindOf = (text: string): string =>
  text
    .slice(0, 600)
    .replaceAll(/[0-9a-f]{8,64}/g, '#')
    .replaceAll(/\d{1,20}/g, '#')

/**
 * A journal holds thousands of lines and a few dozen kinds of them: each kind once, with how often it was seen, those that
 * may tell of trouble first where there are too many. Few lines stay as they are.
 */
export const foldLines = (lines: readonly Line[]): Line[] => {
  if (lines.length <= few) return [...lines]
  const kinds = new Map<string, Line>()
  for (const line of lines) {
    const key = `${line.source} ${kindOf(line.text)}`
    const same = kinds.get(key)
    kinds.set(key, same ? { ...same, count: same.count + line.count } : line)
  }
  const all = [...kinds.values()]
  if (all.length <= mostKinds) return all
  const tells = new Map(all.map(line => [line, trouble.test(line.text)]))
  return [...all.filter(line => tells.get(line)), ...all.filter(line => !tells.get(line))].slice(0, mostKinds)
}
