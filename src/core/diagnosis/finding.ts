/** The closed list of things we can conclude. */
export const findingNames = [
  'range-exhausted',
  'allocations-leaked',
  'leak-active',
  'exhaustion-near',
  'del-failures',
  'result-cache-missing',
  'runtime-silent',
  'plugin-not-running',
  'agent-missing',
  'agent-not-ready',
  'agent-crash-looping',
  'agent-version-mixed',
  'config-invalid',
  'route-missing',
  'link-missing',
  'service-rules-missing',
  'pod-without-address',
  'range-too-small',
  'cluster-range-exhausted',
  'not-cni',
  'node-not-ready',
  'node-unreachable',
  'not-measured',
  'nothing-found',
] as const
export type FindingName = (typeof findingNames)[number]

export interface Finding {
  name: FindingName
  /** One sentence for people. */
  says: string
  /** What was seen, line by line. */
  evidence: string[]
}

export type Sureness = 'high' | 'medium' | 'low'

/** A cause is a hypothesis: with what speaks for it, against it, and what is not known. */
export interface Hypothesis {
  cause: string
  says: string
  for: string[]
  against: string[]
  missing: string[]
}

export interface Verdict {
  /** A cause code: ipam-leak, ipam-full-no-leak, cni-plugin-missing, runtime-error, nothing-found, … */
  cause: string
  headline: string
  sure: Sureness
  /** Two or three sentences: what, why we think so. */
  says: string[]
  findings: Finding[]
  hypotheses: Hypothesis[]
  /** Will it come back, and with which version it is fixed. */
  outlook: string | undefined
  doNot: string[]
  next: string[]
  /** Names of runbooks that answer these findings and are forbidden by none. */
  runbooks: string[]
  escalateTo: string | undefined
}
