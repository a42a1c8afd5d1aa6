import type { IncomingMessage } from 'node:http'
import { parse as parseYaml } from 'yaml'
import { type ResourceType, servedType } from './resources.js'
import { isRecord } from './shapes.js'
import { ApiError, badRequest, unknownPath } from './status.js'

/** What a request asks, as the server's RequestInfo. */
export interface ApiRequest {
  method: string
  path: string
  verb: string
  type: ResourceType
  namespace: string | undefined
  name: string | undefined
  subresource: string | undefined
  query: URLSearchParams
  accept: string
  contentType: string
  user: string
  /** Whose fields a write makes: as it says, else the first word of the user agent. */
  manager: string
}

const verbs: Record<string, string> = { POST: 'create', PUT: 'update', PATCH: 'patch' }

/** @throws ApiError 404 for a path that names no served resource. */
export const parseRequest = (
  method: string,
  url: URL,
  headers: IncomingMessage['headers'],
  user: string,
): ApiRequest => {
  const parts = url.pathname
    .split('/')
    .filter(part => part !== '')
    .map(decodeURIComponent)
  const [group, version, rest] =
    parts[0] === 'api'
      ? ['', parts[1] ?? '', parts.slice(2)]
      : [parts[1] ?? '', parts[2] ?? '', parts.slice(3)]
  if (parts[0] !== 'api' && parts[0] !== 'apis') throw unknownPath()
  const scoped =
    rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2] ?? '')
  const namespace = scoped ? rest[1] : undefined
  const [resource = '', name, subresource] = scoped ? rest.slice(2) : rest
  const type = servedType(group, version, resource)
  if (type === undefined || (!type.namespaced && namespace !== undefined)) throw unknownPath()
  if (type.namespaced && name !== undefined && namespace === undefined) throw unknownPath()
  const watching = ['true', '1'].includes(url.searchParams.get('watch') ?? '')
  return {
    method,
    path: url.pathname,
    verb: verbOf(method, name, watching),
    type,
    namespace,
    name,
    subresource,
    query: url.searchParams,
    accept: headers.accept ?? '',
    contentType: (headers['content-type'] ?? '').split(';')[0]?.trim() ?? '',
    user,
    manager:
      url.searchParams.get('fieldManager') ?? /^[^/\s]+/.exec(headers['user-agent'] ?? '')?.[0] ?? 'unknown',
  }
}

const verbOf = (method: string, name: string | undefined, watching: boolean): string => {
  if (method === 'GET' || method === 'HEAD') return watching ? 'watch' : name === undefined ? 'list' : 'get'
  if (method === 'DELETE') return name === undefined ? 'deletecollection' : 'delete'
  return verbs[method] ?? method.toLowerCase()
}

/** Reads a JSON or YAML body of at most 3 MiB. */
export const readBody = async (message: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message) {
    const buffer = chunk as Buffer
    size += buffer.length
    if (size > 3 * 1024 * 1024) throw badRequest('the request body is larger than 3145728 bytes')
    chunks.push(buffer)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  if (text === '') return undefined
  if ((message.headers['content-type'] ?? '').includes('protobuf'))
    throw new ApiError(415, 'UnsupportedMediaType', 'the lab speaks JSON and YAML, no protobuf', {})
  try {
    return (message.headers['content-type'] ?? '').includes('yaml') ? parseYaml(text) : JSON.parse(text)
  } catch (error) {
    throw badRequest(
      `the object provided is unrecognized: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

export const isDryRun = (request: ApiRequest, options?: unknown): boolean => {
  const asked = [...request.query.getAll('dryRun')]
  if (isRecord(options) && Array.isArray(options.dryRun)) asked.push(...options.dryRun.map(String))
  return asked.includes('All')
}
