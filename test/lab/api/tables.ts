import type { KubeObject } from '../store.js'
import { columnsOf } from './columns.js'
import { asStored } from './event-views.js'
import { partial } from './objects.js'
import type { ApiRequest } from './request.js'
import type { ReadClock } from './shapes.js'

/** The rows that kubectl prints. `includeObject` of the query decides what each row carries with it. */
export const toTable = (
  request: ApiRequest,
  metadata: object,
  objects: KubeObject[],
  clock: ReadClock,
  withColumns: boolean,
): object => {
  const chosen = columnsOf(request.type.resource)
  const include = request.query.get('includeObject') ?? 'Metadata'
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: withColumns
      ? chosen.map(each => ({
          name: each.name,
          type: 'string',
          format: each.name === 'Name' ? 'name' : '',
          description: each.name,
          priority: each.priority,
        }))
      : [],
    rows: objects
      .map(each => asStored(request.type, each))
      .map(object => ({
        cells: chosen.map(each => each.cell(object, clock)),
        ...(include === 'None' ? {} : { object: include === 'Object' ? object : partial(object) }),
      })),
  }
}
