import type { Allocation } from '../evidence/bundle.js'

/** Where one allocation stands, by its owner's id. */
export type Standing =
  | { allocation: Allocation; standing: 'live'; because: 'listed' | 'recorded' }
  | { allocation: Allocation; standing: 'young'; because: string }
  | { allocation: Allocation; standing: 'orphaned' }
  | { allocation: Allocation; standing: 'foreign'; because: string }
  | { allocation: Allocation; standing: 'outside'; because: string }

/** Allocations against sandboxes, by container id; counts are only for the headline. */
export interface Gap {
  network: string
  standings: Standing[]
  taken: number
  live: number
  orphaned: number
  young: number
  foreign: number
  outside: number
  unreadable: number
  /** Addresses the range sets can give; undefined where the conflist could not be read. */
  usable: number | undefined
  sandboxes: { total: number; ready: number; notReady: number; hostNetwork: number | undefined }
  /** Pod-network sandboxes that own no allocation. */
  withoutAddress: number
}
