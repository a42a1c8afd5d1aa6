/** What one store's rounds came to; all stores' are added up for the report. */
export interface Counts {
  rounds: number
  adds: number
  dels: number
  /** ADDs that found the range full. */
  full: number
  restarts: number
  restartsWithLoss: number
  clockJumps: number
  plans: number
  /** Pods that had their address, or were about to, and were in no list yet when a try to remove began. */
  starting: number
  /** Runs of the script, or of the other tool's. */
  scripts: number
  refusals: number
  addressesRemoved: number
  undone: number
  /** Orphans whose address was freed and given to a new Pod while they were to be removed. */
  handedOver: number
  /** Where something was killed, cut or stood still, and how often. */
  faults: Record<string, number>
  /** A live address was taken: what happened, each once. */
  freed: string[]
  duplicates: string[]
  /** Approved, dead, and still there after the run was over. */
  left: string[]
  /** Longest time the plugin's lock was held by a removal that was let run, in milliseconds (in steps of 10). */
  longestLockMs: number
  /** Longest ADD or DEL, in milliseconds. */
  longestPluginMs: number
}

export const noCounts = (): Counts => ({
  rounds: 0,
  adds: 0,
  dels: 0,
  full: 0,
  restarts: 0,
  restartsWithLoss: 0,
  clockJumps: 0,
  plans: 0,
  starting: 0,
  scripts: 0,
  refusals: 0,
  addressesRemoved: 0,
  undone: 0,
  handedOver: 0,
  faults: {},
  freed: [],
  duplicates: [],
  left: [],
  longestLockMs: 0,
  longestPluginMs: 0,
})

export const sum = (all: readonly Counts[]): Counts => {
  const total = noCounts()
  for (const one of all) {
    for (const key of [
      'rounds',
      'adds',
      'dels',
      'full',
      'restarts',
      'restartsWithLoss',
      'clockJumps',
    ] as const)
      total[key] += one[key]
    for (const key of [
      'plans',
      'starting',
      'scripts',
      'refusals',
      'addressesRemoved',
      'undone',
      'handedOver',
    ] as const)
      total[key] += one[key]
    for (const key of ['freed', 'duplicates', 'left'] as const) total[key].push(...one[key])
    for (const key of ['longestLockMs', 'longestPluginMs'] as const)
      total[key] = Math.max(total[key], one[key])
    for (const [where, times] of Object.entries(one.faults))
      total.faults[where] = (total.faults[where] ?? 0) + times
  }
  return total
}
