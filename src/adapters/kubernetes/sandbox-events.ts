import type { CoreV1Event } from '@kubernetes/client-node'
import type { SandboxEvents } from '../../core/evidence/bundle.js'
import { millis, type Wire } from './wire.js'

export const sandboxFailure = 'FailedCreatePodSandBox'

/** The server takes this selector for core/v1 events; it finds victims of every phase. */
export const sandboxFailureSelector = `reason=${sandboxFailure}`

const foldedPrefix = '(combined from similar events): '
const longestMessage = 1_024

/** One Event object of the reason above, trimmed. `id` is the Event's uid. */
export interface SandboxEvent extends SandboxEvents {
  id: string
}

/**
 * Both shapes of event times: the kubelet's counted ones and the newer series.
 * Source: client-go tools/record/events_cache.go (folding), core/v1 Event.
 */
export const sandboxEvent = (event: Wire<CoreV1Event>): SandboxEvent => {
  const { metadata, involvedObject, series } = event
  const message = event.message ?? ''
  const created = millis(metadata.creationTimestamp) ?? 0
  const single = millis(event.eventTime) ?? created
  const folded = message.startsWith(foldedPrefix)
  return {
    id: metadata.uid ?? '',
    namespace: involvedObject.namespace ?? metadata.namespace ?? '',
    pod: involvedObject.name ?? '',
    podUid: involvedObject.uid ?? '',
    // The folded event has no reportingInstance, only a source.
    node: event.source?.host || event.reportingInstance || undefined,
    count: series?.count ?? event.count ?? 1,
    first: millis(event.firstTimestamp) ?? single,
    last: millis(series?.lastObservedTime) ?? millis(event.lastTimestamp) ?? single,
    message: (folded ? message.slice(foldedPrefix.length) : message).slice(0, longestMessage),
    folded,
  }
}

/** One record a Pod (by uid, not name), oldest first. Counts add up: nine singles, then one that counts on. */
export const mergeSandboxEvents = (events: SandboxEvent[]): SandboxEvents[] => {
  const byPod = new Map<string, SandboxEvents>()
  for (const { id: _, ...event } of events) {
    const key = event.podUid || `${event.namespace}/${event.pod}`
    const seen = byPod.get(key)
    byPod.set(key, seen ? mergeTwo(seen, event) : event)
  }
  return [...byPod.values()].sort((a, b) => a.first - b.first || a.pod.localeCompare(b.pod))
}

const mergeTwo = (a: SandboxEvents, b: SandboxEvents): SandboxEvents => {
  const newest = b.last >= a.last ? b : a
  return {
    ...newest,
    node: newest.node ?? a.node ?? b.node,
    count: a.count + b.count,
    first: Math.min(a.first, b.first),
    folded: a.folded || b.folded,
  }
}

/** What is kept of a Pod's events once they have expired on the server: nothing seen is forgotten or counted twice. */
export const latchSandboxEvents = (kept: SandboxEvents | undefined, now: SandboxEvents): SandboxEvents => {
  if (kept === undefined || kept.podUid !== now.podUid) return now
  const newest = now.last >= kept.last ? now : kept
  return {
    ...newest,
    count: Math.max(kept.count, now.count),
    first: Math.min(kept.first, now.first),
    folded: kept.folded || now.folded,
  }
}
