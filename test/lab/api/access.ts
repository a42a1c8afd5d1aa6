import type { ApiRequest } from './request.js'
import { qualifiedName } from './resources.js'
import { at } from './shapes.js'
import { ApiError } from './status.js'

/** What a user wants to do; `subresource` and the rest are undefined where the request names none. */
export interface Attributes {
  user: string
  verb: string
  group: string
  resource: string
  subresource: string | undefined
  namespace: string | undefined
  name: string | undefined
}

/** Says whether a user may do it: the lab's stand-in for RBAC. */
export type Allow = (attributes: Attributes) => boolean

export const attributesOf = (request: ApiRequest): Attributes => ({
  user: request.user,
  verb: request.verb,
  group: request.type.group,
  resource: request.type.resource,
  subresource: request.subresource,
  namespace: request.namespace,
  name: request.name,
})

/** @throws ApiError 403 in RBAC's wording. */
export const authorize = (allow: Allow, request: ApiRequest): void => {
  const attributes = attributesOf(request)
  if (allow(attributes)) return
  const { type, name, namespace } = request
  const resource =
    request.subresource === undefined ? type.resource : `${type.resource}/${request.subresource}`
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`
  const subject = name === undefined ? qualifiedName(type) : `${qualifiedName(type)} "${name}"`
  throw new ApiError(
    403,
    'Forbidden',
    `${subject} is forbidden: User "${request.user}" cannot ${request.verb} resource "${resource}" in API group "${type.group}" ${where}`,
    {
      ...(name === undefined ? {} : { name }),
      ...(type.group === '' ? {} : { group: type.group }),
      kind: type.resource,
    },
  )
}

/** Answers `kubectl auth can-i`. */
export const reviewOwnAccess = (allow: Allow, user: string, body: unknown): object => {
  const asked = (field: string): string | undefined => {
    const value = at(body, `spec.resourceAttributes.${field}`)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const allowed = allow({
    user,
    verb: asked('verb') ?? '',
    group: asked('group') ?? '',
    resource: asked('resource') ?? '',
    subresource: asked('subresource'),
    namespace: asked('namespace'),
    name: asked('name'),
  })
  return {
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: {},
    spec: at(body, 'spec') ?? {},
    status: { allowed },
  }
}
