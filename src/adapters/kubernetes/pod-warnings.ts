import { pages } from './call.js'
import type { Kube } from './connect.js'
import { eventTime } from './event-time.js'
import { oneLine } from './errors.js'
import { sandboxFailure } from './sandbox-events.js'

/** A Pod's Warning events but for the sandbox's own, as `reason: message`, newest last. */
export const readPodWarnings = async (
  kube: Kube,
  pod: { namespace: string; name: string; uid: string },
): Promise<string[]> => {
  const { namespace, name, uid } = pod
  const fieldSelector = `type=Warning,involvedObject.uid=${uid}`
  const events = await pages(kube, `list the events of Pod ${namespace}/${name}`, page =>
    kube.core.listNamespacedEvent({ namespace, fieldSelector, ...page }),
  )
  return events
    .filter(event => event.reason !== sandboxFailure)
    .sort((a, b) => eventTime(a) - eventTime(b))
    .map(event => `${event.reason ?? ''}: ${oneLine(event.message ?? '')}`)
}
