import type { Counts } from './counts.js'

export interface Soaked {
  counts: Counts
  seed: number
  runtimes: string
  stores: number
  wallMs: number
  /** Another tool's script, or undefined for ours. */
  other: string | undefined
  /** Between so many pairs of statements our script can die. */
  statements: number
  /** SHA-256 of the script that was run. */
  digest: string
  /** Why the soak itself came to an early end. */
  broken: string | undefined
}

/** Whether it ended as it must: nothing live freed or given out twice, nothing approved left behind; and something removed. */
export const isClean = ({ counts, other }: Soaked): boolean =>
  counts.freed.length === 0 &&
  counts.duplicates.length === 0 &&
  (other !== undefined || (counts.left.length === 0 && counts.addressesRemoved > 0))

const shown = (ms: number): string => {
  const seconds = Math.round(ms / 1000)
  return seconds < 90 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

const number = (value: number): string => value.toLocaleString('en-US')

const row = (what: string, value: string): string => `${`${what} `.padEnd(36, '.')} ${value}`

const examples = (what: string, list: readonly string[]): string[] =>
  list.length === 0 ? [] : ['', `${what}:`, ...list.slice(0, 20).map(each => `  ${each}`)]

/** Places with a line number are one row: how many places, how many times. */
const faultRows = ({ counts: { faults }, statements }: Soaked): string[] => {
  const groups = new Map<string, { places: number; times: number }>()
  for (const [where, times] of Object.entries(faults)) {
    const name = where.replace(/ line \d+$/, ' a line')
    const group = groups.get(name) ?? { places: 0, times: 0 }
    groups.set(name, { places: group.places + 1, times: group.times + times })
  }
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { places, times }]) =>
      row(`  ${name}`, `${number(times)}${places > 1 ? `, at ${places} of ${statements} places` : ''}`),
    )
}

/** What a person reads at the end. */
export const report = (soaked: Soaked): string => {
  const { counts, seed, runtimes, stores, wallMs, other, digest } = soaked
  return [
    '',
    row('rounds', `${number(counts.rounds)} on ${stores} stores, seed ${seed}, runtime ${runtimes}`),
    row('script', `${other ?? 'ours, through plan, approval and worker'} (sha256 ${digest.slice(0, 12)}…)`),
    row('ADDs', `${number(counts.adds)}, and ${number(counts.full)} that found the range full`),
    row('DELs', number(counts.dels)),
    row(
      'restarts of the runtime',
      `${number(counts.restarts)}, ${number(counts.restartsWithLoss)} with loss of metadata`,
    ),
    row('jumps of the clock', number(counts.clockJumps)),
    row('plans made', number(counts.plans)),
    row(
      'tries to remove',
      `${number(counts.scripts)}, ${number(counts.refusals)} steps refused and planned again`,
    ),
    row('Pods starting beside them', number(counts.starting)),
    row('orphans given to new Pods meanwhile', number(counts.handedOver)),
    row('undone', number(counts.undone)),
    'killed, cut off or held up:',
    ...faultRows(soaked),
    row('addresses removed', number(counts.addressesRemoved)),
    row('longest time under the lock', other === undefined ? `${counts.longestLockMs} ms` : 'not known'),
    row('longest ADD or DEL', `${number(counts.longestPluginMs)} ms`),
    row('wall time', `${shown(wallMs)}, ${(counts.rounds / (wallMs / 1000)).toFixed(1)} rounds a second`),
    '',
    row('LIVE ADDRESSES FREED', number(counts.freed.length)),
    row('ADDRESSES GIVEN OUT TWICE', number(counts.duplicates.length)),
    ...(other === undefined ? [row('APPROVED ORPHANS LEFT WRONGLY', number(counts.left.length))] : []),
    ...examples('freed while alive', counts.freed),
    ...examples('given out twice', counts.duplicates),
    ...(other === undefined ? examples('left behind', counts.left) : []),
    ...(soaked.broken === undefined ? [] : ['', `THE SOAK BROKE OFF: ${soaked.broken}`]),
  ].join('\n')
}
