import type { KubeObject } from '../store.js'
import { qualifiedName, type ResourceType } from './resources.js'
import { at } from './shapes.js'
import { parseFieldSelector } from './selectors.js'
import { badRequest } from './status.js'

type Read = (object: KubeObject) => string

const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

const path =
  (dotted: string): Read =>
  object =>
    text(at(object, dotted))

const paths = (...dotted: string[]): Record<string, Read> =>
  Object.fromEntries(dotted.map(each => [each, path(each)]))

const flag =
  (dotted: string): Read =>
  object =>
    at(object, dotted) === true ? 'true' : 'false'

const involved = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']

const eventSource: Read = object => text(at(object, 'source.component')) || text(object.reportingComponent)

/** What the server lets you select by; source: pkg/apis/core/v1/conversion.go and registry/core/*\/strategy.go. */
const selectable: Record<string, Record<string, Read>> = {
  pods: {
    ...paths('spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName'),
    ...paths('status.phase', 'status.podIP', 'status.nominatedNodeName'),
    'spec.hostNetwork': flag('spec.hostNetwork'),
    'status.podIPs': path('status.podIP'),
  },
  nodes: { 'spec.unschedulable': flag('spec.unschedulable') },
  namespaces: paths('status.phase'),
  replicasets: paths('status.replicas'),
  jobs: { 'status.successful': object => text(at(object, 'status.succeeded')) || '0' },
  events: {
    ...paths(...involved.map(each => `involvedObject.${each}`), 'reason', 'type', 'reportingComponent'),
    source: eventSource,
  },
  'events.events.k8s.io': {
    ...Object.fromEntries(involved.map(each => [`regarding.${each}`, path(`involvedObject.${each}`)])),
    ...paths('reason', 'type'),
    reportingController: path('reportingComponent'),
  },
}

const ownConversion = new Set([
  'pods',
  'nodes',
  'namespaces',
  'replicasets',
  'jobs',
  'events',
  'events.events.k8s.io',
])

/** @throws ApiError 400 for a field that the real server does not select by either. */
export const fieldFilter = (type: ResourceType, selector: string): ((object: KubeObject) => boolean) => {
  const name = qualifiedName(type)
  const fields = {
    ...paths('metadata.name', 'metadata.namespace'),
    ...selectable[name.replace(/\.(apps|batch)$/, '')],
  }
  const terms = parseFieldSelector(selector).map(term => {
    const read = fields[term.field]
    if (read === undefined) throw unsupported(name, term.field)
    return { ...term, read }
  })
  return object => terms.every(term => (term.read(object) === term.value) === term.equal)
}

const unsupported = (name: string, field: string) =>
  ownConversion.has(name.replace(/\.(apps|batch)$/, ''))
    ? badRequest(`field label not supported: ${field}`)
    : badRequest(`"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`)
