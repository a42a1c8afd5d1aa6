import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node'
import { type SchedulableChange, schedulablePatch } from '../../core/requests.js'
import { type Cluster, type Guard, Refused, Unreachable } from '../../ports.js'
import { call, callUnless } from './call.js'
import { fieldManager } from '../../core/runbook/cordon-mark.js'
import type { Kube } from './connect.js'
import { nodeFacts } from './translate.js'

type Found = Awaited<ReturnType<Cluster['setSchedulable']>>

/** A node's status is written every few seconds, so a lost race is common and harmless. */
const attempts = 5

/**
 * Reads the node, then patches exactly that version of it. A cordon that somebody else has set stays theirs: nothing is
 * written, and the answer says whose it was. Lifting one that has changed hands is refused.
 */
export const setSchedulable = async (
  kube: Kube,
  name: string,
  change: SchedulableChange,
  guard?: Guard,
): Promise<Found> => {
  const verb = change.unschedulable ? 'cordon' : 'uncordon'
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const node = await callUnless(kube, [404], `read node ${name}`, () => kube.core.readNode({ name }))
    if (!node) throw new Refused(`could not ${verb} ${name}: there is no such node`)
    const found = nodeFacts(node)
    if (found.uid !== change.expectUid)
      throw new Refused(
        `did not ${verb} ${name}: it is another machine now (the node was created anew); look again`,
      )
    const state = { wasUnschedulable: found.unschedulable, wasCordonedBy: found.cordonedBy }
    const { unschedulable, cordonedBy, cordonedWith } = found
    if (unschedulable === change.unschedulable) return state
    if (unschedulable && change.lifts !== undefined && cordonedBy !== change.lifts)
      throw new Refused(
        `did not uncordon ${name}: the cordon is not ours any more, but ${cordonedBy ?? cordonedWith ?? "somebody else's"}`,
      )
    await guard?.()
    const patched = await callUnless(kube, [409], `${verb} ${name}`, () =>
      kube.core.patchNode(
        { name, body: guarded(change, node.metadata?.resourceVersion), fieldManager },
        setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch),
      ),
    )
    if (patched) return state
  }
  throw new Unreachable(`could not ${verb} ${name}: it changed ${attempts} times while it was read`)
}

/** The resourceVersion makes the server refuse (409) when the node has changed since. */
const guarded = (change: SchedulableChange, resourceVersion: string | undefined): object => {
  const { metadata, spec } = schedulablePatch(change)
  return { metadata: { ...metadata, resourceVersion }, spec }
}

export const deletePod = async (kube: Kube, namespace: string, name: string, uid: string): Promise<void> => {
  const asked = `delete Pod ${namespace}/${name}`
  const deleted = await callUnless(kube, [404, 409], asked, () =>
    kube.core.deleteNamespacedPod({ namespace, name, body: { preconditions: { uid } } }),
  )
  if (deleted) return
  const now = await callUnless(kube, [404], `read Pod ${namespace}/${name}`, () =>
    kube.core.readNamespacedPod({ namespace, name }),
  )
  if (now?.metadata?.uid !== uid) return
  await call(kube, asked, () =>
    kube.core.deleteNamespacedPod({ namespace, name, body: { preconditions: { uid } } }),
  )
}
