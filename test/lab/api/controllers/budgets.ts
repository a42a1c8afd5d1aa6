import { selects } from '../selectors.js'
import {
  type Budget,
  type Condition,
  controllerOf,
  hasCondition,
  isFinished,
  type Pod,
  timestamp,
  type Workload,
} from '../shapes.js'
import { scaled, type World } from './world.js'

/** Counts what each PodDisruptionBudget still allows. */
export const reconcileBudgets = (world: World): void => {
  for (const budget of world.store.list('poddisruptionbudgets') as Budget[]) reconcile(world, budget)
}

const reconcile = (world: World, budget: Budget): void => {
  const { spec, metadata } = budget
  const pods = world
    .pods(metadata.namespace)
    .filter(pod => selects(spec.selector, pod.metadata.labels) && !isFinished(pod))
  const byName = new Map(pods.map(pod => [pod.metadata.name, pod]))
  const disrupted = Object.fromEntries(
    Object.entries(budget.status.disruptedPods ?? {}).filter(([name]) => {
      const pod = byName.get(name)
      return pod !== undefined && pod.metadata.deletionTimestamp === undefined
    }),
  )
  const healthy = pods.filter(pod => isHealthy(pod) && !(pod.metadata.name in disrupted)).length
  const byScale = spec.maxUnavailable !== undefined || typeof spec.minAvailable === 'string'
  const expected = byScale ? expectedScale(world, pods) : pods.length
  const desired = desiredHealthy(spec, expected)
  const allowed = expected <= 0 ? 0 : Math.max(0, healthy - desired)
  world.setStatus('poddisruptionbudgets', budget, {
    observedGeneration: metadata.generation,
    ...(Object.keys(disrupted).length === 0 ? {} : { disruptedPods: disrupted }),
    disruptionsAllowed: allowed,
    currentHealthy: healthy,
    desiredHealthy: desired,
    expectedPods: expected,
    conditions: [allowedCondition(world, budget, allowed > 0)],
  })
}

const isHealthy = (pod: Pod): boolean =>
  hasCondition(pod, 'Ready') && pod.metadata.deletionTimestamp === undefined

const desiredHealthy = (spec: Budget['spec'], expected: number): number =>
  spec.maxUnavailable === undefined
    ? scaled(spec.minAvailable ?? 0, expected, 'up')
    : Math.max(0, expected - scaled(spec.maxUnavailable, expected, 'up'))

const allowedCondition = (world: World, budget: Budget, enough: boolean): Condition => {
  const status = enough ? 'True' : 'False'
  const known = budget.status.conditions?.find(each => each.type === 'DisruptionAllowed')
  const kept = known?.status === status ? known.lastTransitionTime : undefined
  return {
    type: 'DisruptionAllowed',
    status,
    observedGeneration: budget.metadata.generation ?? 0,
    lastTransitionTime: kept ?? timestamp(world.clock.now()),
    reason: enough ? 'SufficientPods' : 'InsufficientPods',
    message: '',
  }
}

/** The replicas that the Pods' controllers are set to. */
const expectedScale = (world: World, pods: Pod[]): number => {
  const scales = new Map<string, number>()
  for (const pod of pods) {
    const owner = controllerOf(pod)
    if (owner === undefined) continue
    const resource = `${owner.kind.toLowerCase()}s`
    const found = world.store.get(resource, pod.metadata.namespace, owner.name) as Workload | undefined
    scales.set(owner.uid, found?.spec.replicas ?? 0)
  }
  return [...scales.values()].reduce((sum, each) => sum + each, 0)
}
