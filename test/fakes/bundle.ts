import { type Bundle, unknown } from '../../src/core/evidence/bundle.js'

/** A bundle in which every question is without an answer; tests replace the parts they are about. */
export const bundleWithoutAnswers = (node: string, at = Date.UTC(2026, 10, 4, 11, 31)): Bundle => {
  const none = unknown('not asked', at)
  return {
    cluster: 'prod-eu1',
    node,
    collectedAt: at,
    durationMs: 0,
    shown: undefined,
    facts: none,
    pods: none,
    events: none,
    rollouts: none,
    host: none,
    conflist: none,
    stores: none,
    runtime: none,
    sandboxes: none,
    records: none,
    owners: none,
    held: none,
    journal: none,
    restarts: none,
    leftovers: none,
    peers: [],
  }
}
