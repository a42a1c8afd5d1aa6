import type { KubeObject } from '../store.js'
import type { ListResult } from './list.js'
import type { ApiRequest } from './request.js'
import { partial } from './objects.js'
import { isRecord, type ReadClock } from './shapes.js'
import { toTable } from './tables.js'

type Form = 'whole' | 'Table' | 'PartialObjectMetadata'

/** The first form of the Accept header that the double can make. */
const formOf = (request: ApiRequest): Form => {
  for (const part of request.accept.split(',')) {
    const as = /;\s*as=(\w+)/.exec(part)?.[1]
    if (as === undefined) return 'whole'
    if (as === 'Table') return 'Table'
    if (as.startsWith('PartialObjectMetadata')) return 'PartialObjectMetadata'
  }
  return 'whole'
}

/** An object or a list, in the form that the request accepts. */
export const represent = (request: ApiRequest, body: object, clock: ReadClock): object => {
  const form = formOf(request)
  if (form === 'whole' || !isRecord(body) || !isRecord(body.metadata) || body.kind === 'Status') return body
  const list = isList(body) ? body : undefined
  if (form === 'Table') {
    const objects = list?.items ?? [body as KubeObject]
    return toTable(
      request,
      list?.metadata ?? { resourceVersion: (body as KubeObject).metadata.resourceVersion },
      objects,
      clock,
      true,
    )
  }
  if (list === undefined) return partial(body as KubeObject)
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata: list.metadata,
    items: list.items.map(item => ({ metadata: item.metadata })),
  }
}

/** For watches: each object in the accepted form. Only the first Table carries the columns. */
export const frameFor = (request: ApiRequest, clock: ReadClock): ((object: object) => object) => {
  const form = formOf(request)
  let first = true
  return object => {
    if (form === 'whole') return object
    const subject = object as KubeObject
    if (form === 'PartialObjectMetadata') return partial(subject)
    const metadata = { resourceVersion: subject.metadata.resourceVersion }
    const table = toTable(request, metadata, [subject], clock, first)
    first = false
    return table
  }
}

const isList = (body: object): body is ListResult => 'items' in body && Array.isArray(body.items)
