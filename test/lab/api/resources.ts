/** One REST resource that the double serves. */
export interface ResourceType {
  /** Plural name in the path. */
  resource: string
  singular: string
  kind: string
  /** '' is the core group. */
  group: string
  version: string
  namespaced: boolean
  shortNames: string[]
  categories: string[]
  subresources: string[]
  /** Whether `metadata.generation` follows changes of `spec`. */
  generation: boolean
}

interface Options {
  cluster?: boolean
  shortNames?: string[]
  categories?: string[]
  subresources?: string[]
  generation?: boolean
}

const type = (group: string, resource: string, kind: string, options: Options = {}): ResourceType => ({
  resource,
  singular: kind.toLowerCase(),
  kind,
  group,
  version: 'v1',
  namespaced: !(options.cluster ?? false),
  shortNames: options.shortNames ?? [],
  categories: options.categories ?? [],
  subresources: options.subresources ?? [],
  generation: options.generation ?? false,
})

const all = { categories: ['all'], generation: true }

export const resourceTypes: readonly ResourceType[] = [
  type('', 'namespaces', 'Namespace', { cluster: true, shortNames: ['ns'], subresources: ['status'] }),
  type('', 'nodes', 'Node', { cluster: true, shortNames: ['no'], subresources: ['status'] }),
  type('', 'pods', 'Pod', {
    ...all,
    shortNames: ['po'],
    subresources: ['binding', 'eviction', 'log', 'status'],
  }),
  type('', 'events', 'Event', { shortNames: ['ev'] }),
  type('', 'services', 'Service', { categories: ['all'], shortNames: ['svc'], subresources: ['status'] }),
  type('', 'configmaps', 'ConfigMap', { shortNames: ['cm'] }),
  type('', 'serviceaccounts', 'ServiceAccount', { shortNames: ['sa'] }),
  type('apps', 'daemonsets', 'DaemonSet', { ...all, shortNames: ['ds'], subresources: ['status'] }),
  type('apps', 'deployments', 'Deployment', {
    ...all,
    shortNames: ['deploy'],
    subresources: ['scale', 'status'],
  }),
  type('apps', 'replicasets', 'ReplicaSet', {
    ...all,
    shortNames: ['rs'],
    subresources: ['scale', 'status'],
  }),
  type('apps', 'statefulsets', 'StatefulSet', {
    ...all,
    shortNames: ['sts'],
    subresources: ['scale', 'status'],
  }),
  type('apps', 'controllerrevisions', 'ControllerRevision'),
  type('batch', 'jobs', 'Job', { ...all, subresources: ['status'] }),
  type('batch', 'cronjobs', 'CronJob', { ...all, shortNames: ['cj'], subresources: ['status'] }),
  type('policy', 'poddisruptionbudgets', 'PodDisruptionBudget', {
    generation: true,
    shortNames: ['pdb'],
    subresources: ['status'],
  }),
  type('coordination.k8s.io', 'leases', 'Lease'),
  type('discovery.k8s.io', 'endpointslices', 'EndpointSlice', { generation: true }),
]

/** The same events, seen through their second API group; stored once, in the core form. */
export const newEvents: ResourceType = type('events.k8s.io', 'events', 'Event', { shortNames: ['ev'] })

export const servedTypes: readonly ResourceType[] = [...resourceTypes, newEvents]

const byName = new Map(resourceTypes.map(each => [each.resource, each]))

/** @throws Error when the double does not serve the resource. */
export const resourceType = (resource: string): ResourceType => {
  const found = byName.get(resource)
  if (found === undefined) throw new Error(`the API server double serves no resource called "${resource}"`)
  return found
}

export const servedType = (group: string, version: string, resource: string): ResourceType | undefined =>
  servedTypes.find(each => each.group === group && each.version === version && each.resource === resource)

export const apiVersionOf = (of: ResourceType): string =>
  of.group === '' ? of.version : `${of.group}/${of.version}`

/** `daemonsets.apps`, `pods`: how the server names a resource in its messages. */
export const qualifiedName = (of: ResourceType): string =>
  of.group === '' ? of.resource : `${of.resource}.${of.group}`
