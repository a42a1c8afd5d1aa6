import { qualifiedName, type ResourceType } from './resources.js'

export interface StatusCause {
  reason?: string
  message?: string
  field?: string
}

export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

/** The body of every answer that is not an object: metav1.Status in the server's order of fields. */
export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: { continue?: string }
  status: 'Success' | 'Failure'
  message?: string
  reason?: string
  details?: StatusDetails
  code: number
}

/** A refusal that becomes the answer's body. */
export class ApiError extends Error {
  readonly status: Status

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message)
    this.name = 'ApiError'
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason === '' ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    }
  }
}

/** `kind` in the details of these errors is the plural resource name: that is how the real server fills it. */
const named = (type: ResourceType, name: string): StatusDetails => ({
  name,
  ...(type.group === '' ? {} : { group: type.group }),
  kind: type.resource,
})

export const success = (code: number, details?: StatusDetails): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  ...(details === undefined ? {} : { details }),
  code,
})

export const notFound = (type: ResourceType, name: string): ApiError =>
  new ApiError(404, 'NotFound', `${qualifiedName(type)} "${name}" not found`, named(type, name))

export const alreadyExists = (type: ResourceType, name: string): ApiError =>
  new ApiError(409, 'AlreadyExists', `${qualifiedName(type)} "${name}" already exists`, named(type, name))

export const conflict = (type: ResourceType, name: string, why?: string): ApiError =>
  new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualifiedName(type)} "${name}": ${
      why ?? 'the object has been modified; please apply your changes to the latest version and try again'
    }`,
    named(type, name),
  )

/** Source of the wording and of `kind: Pod`: rest.BeforeDelete in k8s.io/apiserver. */
export const preconditionFailed = (type: ResourceType, name: string, what: string, why: string): ApiError =>
  new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${type.kind}${type.group === '' ? '' : `.${type.group}`} "${name}": the ${what} in the precondition ${why}. The object might have been ${
      what === 'UID' ? 'deleted and then recreated' : 'modified'
    }`,
    { name, ...(type.group === '' ? {} : { group: type.group }), kind: type.kind },
  )

export const invalid = (type: ResourceType, name: string, causes: StatusCause[]): ApiError => {
  const lines = causes.map(cause => `${cause.field ?? ''}: ${cause.message ?? ''}`)
  const text = lines.length === 1 ? (lines[0] ?? '') : `[${lines.join(', ')}]`
  const subject = type.group === '' ? type.kind : `${type.kind}.${type.group}`
  return new ApiError(422, 'Invalid', `${subject} "${name}" is invalid: ${text}`, {
    name,
    ...(type.group === '' ? {} : { group: type.group }),
    kind: type.kind,
    causes,
  })
}

export const badRequest = (message: string): ApiError => new ApiError(400, 'BadRequest', message)

export const expired = (message: string): ApiError => new ApiError(410, 'Expired', message)

export const unknownPath = (): ApiError =>
  new ApiError(404, 'NotFound', 'the server could not find the requested resource', {})
