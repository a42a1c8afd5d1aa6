export interface LabelSelector {
  matchLabels: Record<string, string>
  matchExpressions: { key: string; operator: string; values: string[] }[]
}

/** One PodDisruptionBudget, trimmed to what an eviction is judged by. */
export interface Budget {
  namespace: string
  name: string
  /** undefined selects nothing; an empty one selects every Pod of the namespace (policy/v1). */
  selector: LabelSelector | undefined
  /** Pods that may be evicted now. */
  allowed: number
  healthy: number
  /** Healthy Pods it insists on. */
  desired: number
  /** Pods it counts in all. */
  expected: number
  /** Whether the controller has counted since the budget was last changed; until then every eviction waits. */
  counted: boolean
  /** `unhealthyPodEvictionPolicy: AlwaysAllow`: Pods that are not ready may always go. */
  unhealthyMayGo: boolean
}

const holds = (
  { key, operator, values }: LabelSelector['matchExpressions'][number],
  labels: Record<string, string>,
): boolean => {
  const value = labels[key]
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default:
      return false
  }
}

export const selects = (selector: LabelSelector | undefined, labels: Record<string, string>): boolean =>
  selector !== undefined &&
  Object.entries(selector.matchLabels).every(([key, value]) => labels[key] === value) &&
  selector.matchExpressions.every(each => holds(each, labels))

/** Budgets of the Pod's namespace that count it. */
export const budgetsOf = (
  pod: { namespace: string; labels: Record<string, string> },
  budgets: readonly Budget[],
): Budget[] =>
  budgets.filter(({ namespace, selector }) => namespace === pod.namespace && selects(selector, pod.labels))

/** `PDB payments-db allows 0 (needs 2 healthy, has 2)`. */
export const budgetWords = ({ name, allowed, desired, healthy, counted }: Budget): string =>
  counted
    ? `PDB ${name} allows ${allowed} (needs ${desired} healthy, has ${healthy})`
    : `PDB ${name} has just changed and is being counted`

/**
 * The server's own words for a budget that allows none, in ours; what they do not match is shown as it came.
 * Source: kubernetes pkg/registry/core/pod/storage/eviction.go `checkAndDecrement`.
 */
export const refusalWords = (said: string): string => {
  const [, name, needs, has] =
    /^The disruption budget (\S+) needs (\d+) healthy pods and has (\d+) currently/.exec(said) ?? []
  if (name !== undefined) return `PDB ${name} allows 0 (needs ${needs} healthy, has ${has})`
  const [, counting] = /^The disruption budget (\S+) is still being processed/.exec(said) ?? []
  return counting === undefined ? said : `PDB ${counting} has just changed and is being counted`
}
