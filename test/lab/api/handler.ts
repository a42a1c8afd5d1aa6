import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Allow, authorize, reviewOwnAccess } from './access.js'
import { bindPod } from './binding.js'
import { deleteCollection, deleteOne } from './deletion.js'
import { discover } from './discovery.js'
import { asServed } from './event-views.js'
import { evict } from './eviction.js'
import type { Faults } from './faults.js'
import { listObjects } from './list.js'
import type { MemoryStore } from './memory-store.js'
import { represent } from './representation.js'
import { type ApiRequest, parseRequest, readBody } from './request.js'
import { scaleObject } from './scale.js'
import { ApiError, type Status, unknownPath } from './status.js'
import { Watch, type Watches } from './watch.js'
import { createObject, existing, patchObject, replaceObject, type Written } from './writes.js'

export interface AuditEntry {
  verb: string
  resource: string
  subresource: string | undefined
  namespace: string | undefined
  name: string | undefined
  user: string
  /** As the request's query named it. */
  fieldManager?: string
}

interface Parts {
  store: MemoryStore
  watches: Watches
  faults: Faults
  /** User by bearer token. */
  users: ReadonlyMap<string, string>
  allow: Allow
}

type Answer = { code: number; body: object | string } | 'sent'

const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'

/** Requests remembered at most, for labs that run for days. */
const auditLength = 20_000

/** Answers HTTP requests from the store. */
export class Handler {
  readonly audit: AuditEntry[] = []
  readonly logs = new Map<string, string>()
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Audit-Id', randomUUID())
    response.setHeader('Cache-Control', 'no-cache, private')
    try {
      const answer = await this.#answer(message, response)
      if (answer !== 'sent') send(response, answer.code, answer.body)
    } catch (error) {
      const status = statusOf(error)
      const retryAfter = status.details?.retryAfterSeconds
      if (response.headersSent) response.destroy()
      else {
        if (retryAfter !== undefined) response.setHeader('Retry-After', String(retryAfter))
        send(response, status.code, status)
      }
    }
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<Answer> {
    const url = new URL(message.url ?? '/', 'https://lab')
    const method = message.method ?? 'GET'
    const token = /^Bearer (.+)$/.exec(message.headers.authorization ?? '')?.[1] ?? ''
    const user = this.#parts.users.get(token)
    if (user === undefined) throw new ApiError(401, 'Unauthorized', 'Unauthorized')
    if (method === 'GET') {
      const found = discover(url.pathname)
      if (found !== undefined) return { code: 200, body: found }
    }
    if (url.pathname === reviews && method === 'POST')
      return { code: 201, body: reviewOwnAccess(this.#parts.allow, user, await readBody(message)) }
    const request = parseRequest(method, url, message.headers, user)
    const { verb, type, subresource, namespace, name } = request
    const fieldManager = url.searchParams.get('fieldManager')
    this.audit.push({
      verb,
      resource: type.resource,
      subresource,
      namespace,
      name,
      user,
      ...(fieldManager === null ? {} : { fieldManager }),
    })
    if (this.audit.length > auditLength) this.audit.splice(0, auditLength / 2)
    if (this.#parts.faults.strike(request, response)) return 'sent'
    authorize(this.#parts.allow, request)
    if (subresource !== undefined && !type.subresources.includes(subresource)) throw unknownPath()
    if (verb === 'watch') {
      new Watch(this.#parts.store, this.#parts.watches, request, response).start()
      return 'sent'
    }
    return this.#act(request, await readBody(message))
  }

  #act(request: ApiRequest, body: unknown): Answer {
    const { store } = this.#parts
    if (request.subresource !== undefined && request.subresource !== 'status')
      return this.#special(request, body)
    switch (request.verb) {
      case 'list':
        return this.#found(request, 200, listObjects(store, request))
      case 'get':
        return this.#found(request, 200, asServed(request.type, existing(store, request)))
      case 'create':
        return this.#written(request, createObject(store, request, body))
      case 'update':
        return this.#written(request, replaceObject(store, request, body))
      case 'patch':
        return this.#written(request, patchObject(store, request, body))
      case 'delete':
        return this.#found(request, 200, deleteOne(store, request, body))
      case 'deletecollection':
        return this.#found(request, 200, deleteCollection(store, request, body))
      default:
        throw new ApiError(
          405,
          'MethodNotAllowed',
          'the server does not allow this method on the requested resource',
          {},
        )
    }
  }

  #special(request: ApiRequest, body: unknown): Answer {
    const { store } = this.#parts
    if (request.subresource === 'eviction' && request.verb === 'create')
      return { code: 201, body: evict(store, request, body) }
    if (request.subresource === 'binding' && request.verb === 'create')
      return { code: 201, body: bindPod(store, request, body) }
    if (request.subresource === 'log' && request.verb === 'get') {
      const pod = existing(store, request)
      return { code: 200, body: this.logs.get(`${pod.metadata.namespace}/${pod.metadata.name}`) ?? '' }
    }
    if (request.subresource === 'scale') return { code: 200, body: scaleObject(store, request, body) }
    throw unknownPath()
  }

  #found(request: ApiRequest, code: number, body: object): Answer {
    return { code, body: represent(request, body, this.#parts.store.clock) }
  }

  #written(request: ApiRequest, written: Written): Answer {
    return this.#found(request, written.code, asServed(request.type, written.object))
  }
}

const statusOf = (error: unknown): Status => {
  if (error instanceof ApiError) return error.status
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return new ApiError(500, 'InternalError', `Internal error occurred: ${message}`).status
}

const send = (response: ServerResponse, code: number, body: object | string): void => {
  const text = typeof body === 'string' ? body : `${JSON.stringify(body)}\n`
  response.writeHead(code, {
    'Content-Type': typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json',
    'Content-Length': Buffer.byteLength(text),
  })
  response.end(text)
}
