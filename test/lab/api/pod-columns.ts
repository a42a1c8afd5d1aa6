import type { ContainerStatus, Pod } from './shapes.js'
import { hasCondition, type ReadClock } from './shapes.js'
import { humanDuration } from './durations.js'

/** STATUS, READY and RESTARTS of `kubectl get pods`; source: printPod in pkg/printers/internalversion. */
export const podColumns = (
  pod: Pod,
  clock: ReadClock,
): { ready: string; status: string; restarts: string } => {
  const containers = pod.status.containerStatuses ?? []
  const ready = containers.filter(each => each.ready === true && each.state?.running !== undefined).length
  const initial = initReason(pod)
  const status = deleting(pod) ?? initial ?? mainReason(pod)
  return {
    ready: `${ready}/${pod.spec.containers?.length ?? 0}`,
    status,
    restarts: restarts(containers, clock),
  }
}

const restarts = (containers: ContainerStatus[], clock: ReadClock): string => {
  const count = containers.reduce((sum, each) => sum + (each.restartCount ?? 0), 0)
  const ends = containers.flatMap(each => {
    const last = each.lastState as ContainerStatus['state']
    const time = last?.terminated?.finishedAt
    return typeof time === 'string' ? [Date.parse(time)] : []
  })
  if (count === 0 || ends.length === 0) return String(count)
  return `${count} (${humanDuration(clock.now() - Math.max(...ends))} ago)`
}

const initReason = (pod: Pod): string | undefined => {
  const all = pod.status.initContainerStatuses ?? []
  const index = all.findIndex(each => each.state?.terminated?.exitCode !== 0)
  const state = all[index]?.state
  if (index < 0) return undefined
  if (state?.terminated !== undefined) return `Init:${ended(state.terminated)}`
  const waiting = state?.waiting?.reason
  if (waiting !== undefined && waiting !== '' && waiting !== 'PodInitializing') return `Init:${waiting}`
  return `Init:${index}/${pod.spec.initContainers?.length ?? 0}`
}

const ended = (state: { reason?: string; exitCode?: number; signal?: number }): string => {
  if (state.reason !== undefined && state.reason !== '') return state.reason
  return (state.signal ?? 0) !== 0 ? `Signal:${state.signal}` : `ExitCode:${state.exitCode ?? 0}`
}

const mainReason = (pod: Pod): string => {
  const gated =
    pod.status.conditions?.find(each => each.type === 'PodScheduled')?.reason === 'SchedulingGated'
  let reason = pod.status.reason ?? (gated ? 'SchedulingGated' : pod.status.phase) ?? ''
  let running = false
  for (const each of (pod.status.containerStatuses ?? []).toReversed()) {
    const { waiting, terminated } = each.state ?? {}
    if (waiting?.reason !== undefined && waiting.reason !== '') reason = waiting.reason
    else if (terminated !== undefined) reason = ended(terminated)
    else if (each.ready === true && each.state?.running !== undefined) running = true
  }
  if (reason === 'Completed' && running) return hasCondition(pod, 'Ready') ? 'Running' : 'NotReady'
  return reason
}

const deleting = (pod: Pod): string | undefined => {
  if (pod.metadata.deletionTimestamp === undefined) return undefined
  return pod.status.reason === 'NodeLost' ? 'Unknown' : 'Terminating'
}
