import { apiVersionOf, type ResourceType, servedTypes } from './resources.js'

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

const version = {
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
  gitVersion: 'v1.36.2',
  gitCommit: '0000000000000000000000000000000000000000',
  gitTreeState: 'clean',
  buildDate: '2026-06-16T00:00:00Z',
  goVersion: 'go1.26.0',
  compiler: 'gc',
  platform: 'linux/amd64',
}

const groups = [...new Set(servedTypes.map(type => type.group)), 'authorization.k8s.io'].filter(
  group => group !== '',
)

const groupEntry = (name: string) => {
  const preferred = { groupVersion: `${name}/v1`, version: 'v1' }
  return { name, versions: [preferred], preferredVersion: preferred }
}

/** Kind and version that a subresource speaks, where it is not the resource's own. */
const spoken: Record<string, { group?: string; version?: string; kind: string; verbs: string[] }> = {
  binding: { kind: 'Binding', verbs: ['create'] },
  eviction: { group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
  log: { kind: 'Pod', verbs: ['get'] },
  scale: { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] },
}

const entries = (type: ResourceType): object[] => [
  {
    name: type.resource,
    singularName: type.singular,
    namespaced: type.namespaced,
    kind: type.kind,
    verbs,
    ...(type.shortNames.length === 0 ? {} : { shortNames: type.shortNames }),
    ...(type.categories.length === 0 ? {} : { categories: type.categories }),
  },
  ...type.subresources.map(name => ({
    name: `${type.resource}/${name}`,
    singularName: '',
    namespaced: type.namespaced,
    kind: type.kind,
    verbs: ['get', 'patch', 'update'],
    ...spoken[name],
  })),
]

const accessReview = {
  name: 'selfsubjectaccessreviews',
  singularName: 'selfsubjectaccessreview',
  namespaced: false,
  kind: 'SelfSubjectAccessReview',
  verbs: ['create'],
}

const resourceList = (group: string) => ({
  kind: 'APIResourceList',
  ...(group === '' ? {} : { apiVersion: 'v1' }),
  groupVersion: group === '' ? 'v1' : `${group}/v1`,
  resources:
    group === 'authorization.k8s.io'
      ? [accessReview]
      : servedTypes.filter(type => type.group === group).flatMap(entries),
})

/** Just enough of an OpenAPI document for kubectl to know that the server checks fields and dry runs itself. */
const openApi = (group: string) => {
  const parameters = ['dryRun', 'fieldValidation', 'fieldManager'].map(name => ({
    name,
    in: 'query',
    schema: { type: 'string' },
  }))
  const paths: Record<string, object> = {}
  for (const type of servedTypes.filter(each => each.group === group)) {
    const base = group === '' ? '/api/v1' : `/apis/${apiVersionOf(type)}`
    const gvk = { group, version: 'v1', kind: type.kind }
    const action = (name: string) => ({
      'x-kubernetes-action': name,
      'x-kubernetes-group-version-kind': gvk,
      parameters,
      responses: {},
    })
    const collection = `${base}${type.namespaced ? '/namespaces/{namespace}' : ''}/${type.resource}`
    paths[collection] = { post: action('post') }
    paths[`${collection}/{name}`] = { patch: action('patch'), put: action('put'), delete: action('delete') }
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: version.gitVersion },
    paths,
    components: { schemas: {} },
  }
}

/** Answers the paths that name no object; undefined for all others. Text answers are health checks. */
export const discover = (path: string): object | string | undefined => {
  switch (path.replace(/\/$/, '')) {
    case '/version':
      return version
    case '/healthz':
    case '/livez':
    case '/readyz':
      return 'ok'
    case '/api':
      return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }
    case '/apis':
      return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupEntry) }
    case '/api/v1':
      return resourceList('')
    case '/openapi/v3':
      return {
        paths: Object.fromEntries(
          ['api/v1', ...groups.map(name => `apis/${name}/v1`)].map(name => [
            name,
            { serverRelativeURL: `/openapi/v3/${name}?hash=1` },
          ]),
        ),
      }
    case '/openapi/v3/api/v1':
      return openApi('')
    default:
      return discoverGroup(path)
  }
}

const discoverGroup = (path: string): object | undefined => {
  const [, prefix, name = '', versionName] = /^(\/openapi\/v3)?\/apis\/([^/]+)(\/v1)?\/?$/.exec(path) ?? []
  if (!groups.includes(name)) return undefined
  if (prefix !== undefined) return openApi(name)
  return versionName === undefined
    ? { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(name) }
    : resourceList(name)
}
