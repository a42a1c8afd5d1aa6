import type { KubeObject } from '../store.js'
import { humanDuration } from './durations.js'
import { podColumns } from './pod-columns.js'
import {
  type Budget,
  type Container,
  hasCondition,
  type Node,
  type Pod,
  type ReadClock,
  type Workload,
  at,
} from './shapes.js'

export interface Column {
  name: string
  /** 1 is shown only with `-o wide`. */
  priority: number
  cell(object: KubeObject, clock: ReadClock): string | number
}

const column = (name: string, cell: Column['cell'], priority = 0): Column => ({ name, cell, priority })

const numberOf = (object: KubeObject, path: string): number => Number(at(object, path) ?? 0)

const fraction = (object: KubeObject, part: string, whole: string): string =>
  `${numberOf(object, part)}/${numberOf(object, whole)}`

const number =
  (path: string): Column['cell'] =>
  object =>
    numberOf(object, path)

/** The text at a path, empty when there is none. */
const text = (object: KubeObject, path: string): string => {
  const value = at(object, path)
  return typeof value === 'string' ? value : ''
}

const textAt =
  (path: string): Column['cell'] =>
  object =>
    text(object, path)

const age = (time: unknown, clock: ReadClock): string =>
  typeof time === 'string' ? humanDuration(clock.now() - Date.parse(time)) : '<unknown>'

const nameColumn = column('Name', object => object.metadata.name)
const ageColumn = column('Age', (object, clock) => age(object.metadata.creationTimestamp, clock))

const joinOr = (values: (string | undefined)[], none = '<none>'): string =>
  values.filter(value => value !== undefined && value !== '').join(',') || none

const containersOf = (object: KubeObject): Container[] =>
  (object as Workload).spec.template.spec.containers ?? []
const wide = [
  column('Containers', object => joinOr(containersOf(object).map(each => each.name)), 1),
  column('Images', object => joinOr(containersOf(object).map(each => each.image)), 1),
  column('Selector', object => selectorText((object as Workload).spec.selector?.matchLabels), 1),
]

const selectorText = (labels: Record<string, string> | undefined): string =>
  joinOr(Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`))

const podCells: Column[] = [
  nameColumn,
  column('Ready', (object, clock) => podColumns(object as Pod, clock).ready),
  column('Status', (object, clock) => podColumns(object as Pod, clock).status),
  column('Restarts', (object, clock) => podColumns(object as Pod, clock).restarts),
  ageColumn,
  column('IP', object => (object as Pod).status.podIP ?? '<none>', 1),
  column('Node', object => (object as Pod).spec.nodeName ?? '<none>', 1),
  column('Nominated Node', object => (object as Pod).status.nominatedNodeName ?? '<none>', 1),
  column('Readiness Gates', () => '<none>', 1),
]

const nodeStatus = (node: Node): string => {
  const ready = node.status.conditions?.find(each => each.type === 'Ready')
  const word = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'
  return node.spec.unschedulable === true ? `${word},SchedulingDisabled` : word
}

const roles = (node: KubeObject): string =>
  joinOr(
    Object.keys(node.metadata.labels ?? {}).map(key => /^node-role\.kubernetes\.io\/(.+)$/.exec(key)?.[1]),
  )

const nodeAddress = (object: KubeObject, type: string): string =>
  (object as Node).status.addresses?.find(each => each.type === type)?.address ?? '<none>'

const nodeInfo = (object: KubeObject, key: string): string =>
  (object as Node).status.nodeInfo?.[key] ?? '<unknown>'

const nodeCells: Column[] = [
  nameColumn,
  column('Status', object => nodeStatus(object as Node)),
  column('Roles', roles),
  ageColumn,
  column('Version', object => nodeInfo(object, 'kubeletVersion')),
  column('Internal-IP', object => nodeAddress(object, 'InternalIP'), 1),
  column('External-IP', object => nodeAddress(object, 'ExternalIP'), 1),
  column('OS-Image', object => nodeInfo(object, 'osImage'), 1),
  column(
    'Kernel-Version',
    object => `${nodeInfo(object, 'kernelVersion')} (${nodeInfo(object, 'architecture')})`,
    1,
  ),
  column('Container-Runtime', object => nodeInfo(object, 'containerRuntimeVersion'), 1),
]

const desired = column('Desired', number('spec.replicas'))
const jobStatus = (job: KubeObject): string => {
  if (hasCondition(job, 'Complete')) return 'Complete'
  if (hasCondition(job, 'Failed')) return 'Failed'
  return at(job, 'spec.suspend') === true ? 'Suspended' : 'Running'
}

const budgetValue = (value: number | string | undefined): string =>
  value === undefined ? 'N/A' : String(value)

/** The columns of each resource's table; source: pkg/printers/internalversion/printers.go. */
const columns: Record<string, Column[]> = {
  pods: podCells,
  nodes: nodeCells,
  daemonsets: [
    nameColumn,
    column('Desired', number('status.desiredNumberScheduled')),
    column('Current', number('status.currentNumberScheduled')),
    column('Ready', number('status.numberReady')),
    column('Up-to-date', number('status.updatedNumberScheduled')),
    column('Available', number('status.numberAvailable')),
    column('Node Selector', object => selectorText((object as Workload).spec.template.spec.nodeSelector)),
    ageColumn,
    ...wide,
  ],
  deployments: [
    nameColumn,
    column('Ready', object => fraction(object, 'status.readyReplicas', 'spec.replicas')),
    column('Up-to-date', number('status.updatedReplicas')),
    column('Available', number('status.availableReplicas')),
    ageColumn,
    ...wide,
  ],
  replicasets: [
    nameColumn,
    desired,
    column('Current', number('status.replicas')),
    column('Ready', number('status.readyReplicas')),
    ageColumn,
    ...wide,
  ],
  statefulsets: [
    nameColumn,
    column('Ready', object => fraction(object, 'status.readyReplicas', 'spec.replicas')),
    ageColumn,
    ...wide.slice(0, 2),
  ],
  jobs: [
    nameColumn,
    column('Status', jobStatus),
    column('Completions', object => fraction(object, 'status.succeeded', 'spec.completions')),
    column('Duration', (object, clock) => jobDuration(object, clock)),
    ageColumn,
    ...wide,
  ],
  poddisruptionbudgets: [
    nameColumn,
    column('Min Available', object => budgetValue((object as Budget).spec.minAvailable)),
    column('Max Unavailable', object => budgetValue((object as Budget).spec.maxUnavailable)),
    column('Allowed Disruptions', number('status.disruptionsAllowed')),
    ageColumn,
  ],
  events: [
    column('Last Seen', (object, clock) =>
      age(object.lastTimestamp ?? object.eventTime ?? object.metadata.creationTimestamp, clock),
    ),
    column('Type', textAt('type')),
    column('Reason', textAt('reason')),
    column(
      'Object',
      object => `${text(object, 'involvedObject.kind').toLowerCase()}/${text(object, 'involvedObject.name')}`,
    ),
    column('Message', object => text(object, 'message').trim()),
    column('Name', object => object.metadata.name, 1),
  ],
  namespaces: [nameColumn, column('Status', textAt('status.phase')), ageColumn],
  leases: [nameColumn, column('Holder', textAt('spec.holderIdentity')), ageColumn],
}

const jobDuration = (job: KubeObject, clock: ReadClock): string => {
  const [start, end] = [at(job, 'status.startTime'), at(job, 'status.completionTime')]
  if (typeof start !== 'string') return ''
  return humanDuration((typeof end === 'string' ? Date.parse(end) : clock.now()) - Date.parse(start))
}

const others: Column[] = [
  nameColumn,
  column('Created At', object => String(object.metadata.creationTimestamp ?? '')),
]

export const columnsOf = (resource: string): Column[] => columns[resource] ?? others
