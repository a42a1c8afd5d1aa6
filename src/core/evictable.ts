import { type Budget, budgetsOf, budgetWords } from './drain/budget.js'
import type { PodFacts } from './evidence/bundle.js'
import { testPodLabel } from './incident/symptom.js'

/** A Pod of a node that is to be drained: what the decision needs beyond its facts. */
export interface DrainPod extends PodFacts {
  /** Names of its emptyDir volumes: their data goes with the Pod. */
  emptyDirs: string[]
  /** Its own grace period. */
  graceMs: number
  /** While there is one, the Pod object stays although everything of it has ended. */
  finalizers: string[]
}

export interface DrainOptions {
  /** As kubectl's `--delete-emptydir-data`. */
  deleteEmptydirData: boolean
  /** As kubectl's `--force`: Pods that nothing will start again. */
  evictUnmanaged: boolean
  /** Test Pods of ours live there, and nowhere else. */
  testPodNamespace: string
}

/** What is known beside the Pods themselves. */
export interface DrainFacts {
  budgets: readonly Budget[]
  /** `namespace/name` of every DaemonSet that exists. */
  daemonSets: ReadonlySet<string>
}

/**
 * `evict`: may go now · `waits`: a budget allows none just now, asked again until it does · `leave`: stays, and that is
 * right · `blocks`: cannot be moved by an eviction, so nothing is begun while it is there.
 */
export type Standing = 'evict' | 'waits' | 'leave' | 'blocks'

export interface PodVerdict {
  pod: DrainPod
  verdict: Standing
  why: string
  /** Of an evicted Pod: volumes whose data is lost with it. */
  loses: string[]
}

export const goes = ({ verdict }: Pick<PodVerdict, 'verdict'>): boolean =>
  verdict === 'evict' || verdict === 'waits'

export const nameOf = ({ namespace, name }: { namespace: string; name: string }): string =>
  `${namespace}/${name}`

/** `1 … stays`, `44 … stay`. */
export const staysWord = (n: number): string => (n === 1 ? 'stays' : 'stay')

/** `1 Pod`, `44 Pods`. */
export const podCount = (n: number): string => `${n} ${n === 1 ? 'Pod' : 'Pods'}`

export const isFinished = ({ phase }: Pick<PodFacts, 'phase'>): boolean =>
  phase === 'Succeeded' || phase === 'Failed'

const ofDaemonSet = ({ controller }: Pick<PodFacts, 'controller'>): boolean =>
  controller?.kind === 'DaemonSet'

/** Pods that a drain leaves where they are: they belong to the node, and so do their sandboxes and addresses. */
export const staysOnNode = (pod: PodFacts): boolean => pod.mirror || (ofDaemonSet(pod) && !isFinished(pod))

type Told = Pick<PodVerdict, 'verdict' | 'why'>

const staying = (pod: DrainPod, facts: DrainFacts, options: DrainOptions): Told | undefined => {
  if (ofDaemonSet(pod) && !isFinished(pod)) {
    const name = pod.controller?.name ?? ''
    if (facts.daemonSets.has(`${pod.namespace}/${name}`))
      return { verdict: 'leave', why: `belongs to DaemonSet ${name}: it would come back here at once` }
    return options.evictUnmanaged
      ? undefined
      : { verdict: 'blocks', why: `its DaemonSet ${name} no longer exists: nothing starts it again` }
  }
  return pod.mirror
    ? { verdict: 'leave', why: 'static Pod of the kubelet: the API cannot end it' }
    : undefined
}

const ownTestPod = (pod: DrainPod, { testPodNamespace }: DrainOptions): boolean =>
  pod.namespace === testPodNamespace && pod.labels[testPodLabel] !== undefined

const barred = (pod: DrainPod, options: DrainOptions): Told | undefined => {
  if (isFinished(pod)) return undefined
  if (pod.emptyDirs.length > 0 && !options.deleteEmptydirData)
    return {
      verdict: 'blocks',
      why: `emptyDir ${pod.emptyDirs.join(', ')}: its data would be lost, and this runbook does not allow that`,
    }
  if (pod.controller === undefined && !options.evictUnmanaged && !ownTestPod(pod, options))
    return { verdict: 'blocks', why: 'no controller: nothing starts it again, so it must be moved by hand' }
  return undefined
}

/** The server asks no budget about these. Source: eviction.go `canIgnorePDB`. */
const beyondBudgets = (pod: DrainPod): string | undefined => {
  if (pod.deletedAt !== undefined) return 'is being deleted already: it is only waited for'
  if (isFinished(pod)) return `has finished (${pod.phase}): removing it interrupts nothing`
  return pod.phase === 'Pending' ? 'does not run yet' : undefined
}

/** Pods that are not ready and do not count: source eviction.go, `unhealthyPodEvictionPolicy`. */
const unhealthyMayGo = (pod: DrainPod, { unhealthyMayGo: always, healthy, desired }: Budget): boolean =>
  !pod.ready && (always || (desired > 0 && healthy >= desired))

const opens = ({ desired, expected }: Budget): string =>
  desired >= expected ? '; more replicas or a looser budget would open it' : ''

const budgeted = (pod: DrainPod, budgets: readonly Budget[]): Told => {
  const free = beyondBudgets(pod)
  if (free !== undefined) return { verdict: 'evict', why: free }
  const found = budgetsOf(pod, budgets)
  const [budget] = found
  if (!budget) return { verdict: 'evict', why: by(pod) }
  if (found.length > 1)
    return {
      verdict: 'blocks',
      why: `${found.length} budgets count it (${found.map(({ name }) => name).join(', ')}): the server never evicts such a Pod`,
    }
  if (unhealthyMayGo(pod, budget)) return { verdict: 'evict', why: `is not ready: ${budget.name} lets it go` }
  return budget.counted && budget.allowed > 0
    ? { verdict: 'evict', why: `${by(pod)}; ${budgetWords(budget)}` }
    : { verdict: 'waits', why: `${budgetWords(budget)}${opens(budget)}` }
}

const by = ({ controller }: DrainPod): string =>
  controller === undefined
    ? 'no controller: nothing starts it again'
    : `of ${controller.kind} ${controller.name}`

/**
 * What a drain does with one Pod. In the order of kubectl's filters, and with the same verdict where its flags say the
 * same, so that what people know of `kubectl drain` holds here. Source: k8s.io/kubectl pkg/drain/filters.go.
 */
export const evictable = (pod: DrainPod, facts: DrainFacts, options: DrainOptions): PodVerdict => {
  const told = staying(pod, facts, options) ?? barred(pod, options) ?? budgeted(pod, facts.budgets)
  return { pod, ...told, loses: goes(told) && !isFinished(pod) ? pod.emptyDirs : [] }
}

/** Every Pod of the node, in order of name. */
export const drainVerdicts = (
  pods: readonly DrainPod[],
  facts: DrainFacts,
  options: DrainOptions,
): PodVerdict[] =>
  pods.map(pod => evictable(pod, facts, options)).toSorted((a, b) => (nameOf(a.pod) < nameOf(b.pod) ? -1 : 1))
