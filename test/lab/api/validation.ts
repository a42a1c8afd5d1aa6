import type { KubeObject } from '../store.js'
import { sameJson } from './objects.js'
import type { ResourceType } from './resources.js'
import type { Container, Pod, Workload } from './shapes.js'
import { invalid, type StatusCause } from './status.js'
import { selects } from './selectors.js'

const required = (field: string, what = 'Required value'): StatusCause => ({
  reason: 'FieldValueRequired',
  message: what,
  field,
})

const dnsName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/** The mistakes that a client of the lab can make. @throws ApiError 422 with one cause for each. */
export const validateNew = (type: ResourceType, object: KubeObject): void => {
  const name = object.metadata.name ?? ''
  const generated = typeof object.metadata.generateName === 'string'
  const causes: StatusCause[] = []
  if (name === '' && !generated)
    causes.push(required('metadata.name', 'Required value: name or generateName is required'))
  if (name !== '' && (!dnsName.test(name) || name.length > 253))
    causes.push({
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${JSON.stringify(name)}: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
      field: 'metadata.name',
    })
  if (type.resource === 'pods') causes.push(...containerCauses((object as Pod).spec?.containers, 'spec'))
  if (type.group === 'apps' && type.resource !== 'controllerrevisions')
    causes.push(...workloadCauses(object as Workload))
  if (causes.length > 0) throw invalid(type, name, causes)
}

const containerCauses = (containers: Container[] | undefined, path: string): StatusCause[] => {
  if (!Array.isArray(containers) || containers.length === 0) return [required(`${path}.containers`)]
  return containers.flatMap((each, index) => [
    ...((each.name ?? '') === '' ? [required(`${path}.containers[${index}].name`)] : []),
    ...((each.image ?? '') === '' ? [required(`${path}.containers[${index}].image`)] : []),
  ])
}

const workloadCauses = (object: Workload): StatusCause[] => {
  const labels = object.spec?.template?.metadata?.labels
  const causes = containerCauses(object.spec?.template?.spec?.containers, 'spec.template.spec')
  if (object.spec?.selector === undefined) causes.push(required('spec.selector'))
  else if (!selects(object.spec.selector, labels))
    causes.push({
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${JSON.stringify(labels ?? {})}: \`selector\` does not match template \`labels\``,
      field: 'spec.template.metadata.labels',
    })
  return causes
}

/** A Pod's spec is fixed but for images, deadline, added tolerations and grace. */
export const validateUpdate = (type: ResourceType, stored: KubeObject, next: KubeObject): void => {
  if (type.resource !== 'pods' || sameJson(fixedPart(stored as Pod), fixedPart(next as Pod))) return
  throw invalid(type, stored.metadata.name, [
    {
      reason: 'FieldValueForbidden',
      message:
        'Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
      field: 'spec',
    },
  ])
}

const fixedPart = (pod: Pod) => {
  const { activeDeadlineSeconds: _deadline, tolerations: _tolerations, ...spec } = pod.spec
  const bare = (each: Container) => ({ ...each, image: '' })
  return { ...spec, containers: spec.containers?.map(bare), initContainers: spec.initContainers?.map(bare) }
}
