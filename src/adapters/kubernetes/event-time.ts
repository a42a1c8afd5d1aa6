import type { CoreV1Event } from '@kubernetes/client-node'
import { millis, type Wire } from './wire.js'

/** When an event happened last: series of the newer recorder, counts of the older one, or its only time. */
export const eventTime = (event: Wire<CoreV1Event>): number =>
  millis(event.series?.lastObservedTime) ??
  millis(event.lastTimestamp) ??
  millis(event.eventTime) ??
  millis(event.metadata.creationTimestamp) ??
  0
