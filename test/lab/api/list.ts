import type { KubeObject } from '../store.js'
import { asServed } from './event-views.js'
import { fieldFilter } from './field-selectors.js'
import type { MemoryStore } from './memory-store.js'
import { keyOf } from './objects.js'
import type { ApiRequest } from './request.js'
import { apiVersionOf, type ResourceType } from './resources.js'
import { parseLabelSelector } from './selectors.js'
import { at } from './shapes.js'
import { ApiError, badRequest, expired } from './status.js'

export interface ListResult {
  kind: string
  apiVersion: string
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number }
  items: KubeObject[]
}

/** The part of the collection that a request selects. */
export const requestFilter = (request: ApiRequest): ((object: KubeObject) => boolean) => {
  const labels = parseLabelSelector(request.query.get('labelSelector') ?? '')
  const fields = fieldFilter(request.type, request.query.get('fieldSelector') ?? '')
  const { namespace, name } = request
  return object =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    (name === undefined || object.metadata.name === name) &&
    labels(object) &&
    fields(object)
}

interface Continue {
  v: string
  rv: number
  start: string
}

/** A list, whole or one chunk of it, as it was at one revision. */
export const listObjects = (store: MemoryStore, request: ApiRequest): ListResult => {
  const { query, type } = request
  const token = query.get('continue') ?? ''
  const asked = query.get('resourceVersion') ?? ''
  // From the watch cache (resourceVersion=0) the server ignores the limit and sends everything.
  const limit = asked === '0' ? 0 : Number(query.get('limit') ?? 0)
  const from = token === '' ? undefined : readToken(token)
  if (from !== undefined && asked !== '')
    throw badRequest('specifying resource version is not allowed when using continue')
  const revision = from === undefined || from.rv < 0 ? wantedRevision(store, query, asked) : from.rv
  const objects = store.listAt(type.resource, request.namespace, revision)
  if (objects === undefined) throw tooOld(from, revision)
  const matches = objects.filter(requestFilter(request))
  const rest = from === undefined ? matches : matches.filter(object => keyOf(object) >= from.start)
  const items = limit > 0 ? rest.slice(0, limit) : rest
  const next = rest[items.length]
  const selective = (query.get('labelSelector') ?? '') + (query.get('fieldSelector') ?? '') !== ''
  return {
    kind: `${type.kind}List`,
    apiVersion: apiVersionOf(type),
    metadata: {
      resourceVersion: String(revision),
      ...(next === undefined
        ? {}
        : { continue: writeToken({ v: 'meta.k8s.io/v1', rv: revision, start: keyOf(next) }) }),
      ...(next === undefined || selective ? {} : { remainingItemCount: rest.length - items.length }),
    },
    items: items.map(object => headless(type, object)),
  }
}

/** Items of a list carry neither kind nor apiVersion: the list's own say it. */
const headless = (type: ResourceType, object: KubeObject): KubeObject => {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = asServed(type, object)
  return rest as KubeObject
}

const wantedRevision = (store: MemoryStore, query: URLSearchParams, asked: string): number => {
  if (asked === '' || asked === '0') return store.revision
  const revision = Number(asked)
  if (!Number.isInteger(revision) || revision < 0)
    throw badRequest(
      `resourceVersion: Invalid value: "${asked}": strconv.ParseUint: parsing "${asked}": invalid syntax`,
    )
  if (revision > store.revision)
    throw new ApiError(
      504,
      'Timeout',
      `Too large resource version: ${revision}, current: ${store.revision}`,
      {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    )
  return query.get('resourceVersionMatch') === 'Exact' ? revision : store.revision
}

/** The answer carries a token that goes on at the newest revision instead, as the real server offers. */
const tooOld = (from: Continue | undefined, revision: number): ApiError => {
  if (from === undefined) return expired(`The resourceVersion for the provided list is too old: ${revision}`)
  const error = expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the list. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  )
  error.status.metadata = { continue: writeToken({ ...from, rv: -1 }) }
  return error
}

const writeToken = (token: Continue): string => Buffer.from(JSON.stringify(token)).toString('base64url')

const readToken = (text: string): Continue => {
  try {
    const token: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    const [rv, start] = [at(token, 'rv'), at(token, 'start')]
    if (typeof rv === 'number' && typeof start === 'string') return { v: 'meta.k8s.io/v1', rv, start }
  } catch {
    // An unreadable token gets the answer below, like a readable one with the wrong fields.
  }
  throw badRequest('continue key is not valid: illegal base64 data or unknown token version')
}
