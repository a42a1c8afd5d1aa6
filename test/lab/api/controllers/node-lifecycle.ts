import { type Node, type Taint, timestamp } from '../shapes.js'
import type { World } from './world.js'

const managed = new Set([
  'node.kubernetes.io/unschedulable',
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
])

/** Keeps the taints that follow from `spec.unschedulable` and the Ready condition; all others are left alone. */
export const reconcileTaints = (world: World): void => {
  for (const node of world.nodes()) {
    const old = node.spec.taints ?? []
    const kept = old.filter(taint => !managed.has(taint.key))
    const wanted = wantedTaints(node).map(
      taint =>
        old.find(each => each.key === taint.key && each.effect === taint.effect) ?? {
          ...taint,
          timeAdded: timestamp(world.clock.now()),
        },
    )
    const taints = [...kept, ...wanted]
    if (taints.length === old.length && taints.every(taint => old.includes(taint))) continue
    const { taints: _taints, ...spec } = node.spec
    world.store.update('nodes', { ...node, spec: taints.length === 0 ? spec : { ...spec, taints } })
  }
}

const wantedTaints = (node: Node): Taint[] => {
  const wanted: Taint[] = []
  if (node.spec.unschedulable === true)
    wanted.push({ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' })
  const ready = node.status.conditions?.find(each => each.type === 'Ready')
  if (ready?.status === 'False') wanted.push({ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' })
  if (ready?.status === 'Unknown')
    wanted.push({ key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' })
  return wanted
}
