import { bind, withCondition } from '../binding.js'
import { isFinished, type Pod } from '../shapes.js'
import { filterNode, whyNowhere } from './placement.js'
import type { World } from './world.js'

/**
 * Gives every Pod without a node the emptiest one that fits: fewest Pods, then the first by name.
 * Looks at unschedulable, taints, selector and required affinity, and the number of Pods; not at CPU or memory.
 * A node that is not ready keeps Pods away by its taint.
 */
export const schedule = (world: World): void => {
  const nodes = world.nodes()
  const pods = world.pods()
  const counts = new Map<string, number>(nodes.map(node => [node.metadata.name, 0]))
  for (const pod of pods) {
    const name = pod.spec.nodeName
    if (name !== undefined && !isFinished(pod)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  for (const pod of pods.filter(isWaiting)) {
    const reasons: string[] = []
    const fitting = nodes.filter(node => {
      const result = filterNode(pod, node, counts.get(node.metadata.name) ?? 0)
      if (result.why !== undefined) reasons.push(result.why)
      return result.fits
    })
    const best = fitting
      .map(node => ({ name: node.metadata.name, count: counts.get(node.metadata.name) ?? 0 }))
      .reduce<{ name: string; count: number } | undefined>(
        (chosen, each) => (chosen === undefined || each.count < chosen.count ? each : chosen),
        undefined,
      )
    if (best === undefined) refuse(world, pod, whyNowhere(nodes.length, reasons))
    else {
      counts.set(best.name, best.count + 1)
      bind(world.store, pod, best.name, world.clock.now())
      const { namespace, name } = pod.metadata
      const message = `Successfully assigned ${namespace}/${name} to ${best.name}`
      world.record(pod, 'Normal', 'Scheduled', message, 'default-scheduler')
    }
  }
}

const isWaiting = (pod: Pod): boolean =>
  (pod.spec.nodeName ?? '') === '' &&
  pod.metadata.deletionTimestamp === undefined &&
  !isFinished(pod) &&
  pod.spec.schedulerName === 'default-scheduler' &&
  !Array.isArray(pod.spec.schedulingGates)

/** Said once for each reason: the same message again changes nothing and is not recorded again. */
const refuse = (world: World, pod: Pod, message: string): void => {
  const known = pod.status.conditions?.find(each => each.type === 'PodScheduled')
  if (known?.message === message) return
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }
  world.store.update('pods', {
    ...pod,
    status: { ...pod.status, conditions: withCondition(pod, condition, world.clock.now()) },
  })
  world.record(pod, 'Warning', 'FailedScheduling', message, 'default-scheduler')
}
