import type { KubeObject } from '../store.js'
import type { ResourceType } from './resources.js'

/** An object as the asked API group shows it: only events have two forms. */
export const asServed = (type: ResourceType, object: KubeObject): KubeObject =>
  type.group === 'events.k8s.io' ? toNewEvent(object) : object

/** An object as it is stored. */
export const asStored = (type: ResourceType, object: KubeObject): KubeObject =>
  type.group === 'events.k8s.io' ? toCoreEvent(object) : object

const renamed: Record<string, string> = {
  involvedObject: 'regarding',
  message: 'note',
  source: 'deprecatedSource',
  firstTimestamp: 'deprecatedFirstTimestamp',
  lastTimestamp: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
  reportingComponent: 'reportingController',
}

const back = Object.fromEntries(Object.entries(renamed).map(([core, later]) => [later, core]))

const order = [
  'kind',
  'apiVersion',
  'metadata',
  'eventTime',
  'series',
  'reportingController',
  'reportingInstance',
  'action',
  'reason',
  'regarding',
  'related',
  'note',
  'type',
  'deprecatedSource',
  'deprecatedFirstTimestamp',
  'deprecatedLastTimestamp',
  'deprecatedCount',
]

const toNewEvent = (event: KubeObject): KubeObject => {
  const view = Object.fromEntries(Object.entries(event).map(([key, value]) => [renamed[key] ?? key, value]))
  // Unlike core/v1, this group leaves empty text out.
  const said = order.filter(key => view[key] !== undefined && view[key] !== '')
  const sorted = Object.fromEntries(said.map(key => [key, view[key]]))
  return { ...sorted, apiVersion: 'events.k8s.io/v1' } as KubeObject
}

const toCoreEvent = (event: KubeObject): KubeObject => {
  const view = Object.fromEntries(Object.entries(event).map(([key, value]) => [back[key] ?? key, value]))
  return { ...view, apiVersion: 'v1' } as KubeObject
}
