import type { CniMessageKind } from './cni-message.js'
import { type DecisionRule, plain } from './decision.js'
import { eventLine } from './facts.js'
import { otherTrouble } from './plugin-rules.js'

/** Cause, headline and whom to call for messages that are not about the address range. */
const elsewhere: Partial<Record<CniMessageKind, [cause: string, headline: string, call: string]>> = {
  'other-ipam': ['other', 'Another address manager refuses', 'platform'],
  'config-invalid': ['cni-config-wrong', 'The network configuration is not valid', 'platform'],
  'agent-down': ['cni-agent-down', 'The network agent of the node does not answer', 'platform'],
  'agent-refused': ['cni-auth', "The network plugin's credential is refused", 'platform'],
  'runtime-error': ['runtime-error', 'The low-level runtime cannot start sandboxes', 'platform'],
  'disk-full': ['node-pressure', 'The disk is full or read-only', 'platform'],
  dataplane: ['dataplane-stale', 'Setting up links or rules on the node fails', 'platform'],
  'cache-corrupt': ['cni-del-failing', 'A damaged cache entry is in the way', 'platform'],
  timeout: ['other', 'Making sandboxes takes too long', 'platform'],
  'name-reserved': ['sandbox-name-conflict', 'An earlier attempt still holds the sandbox name', 'platform'],
  image: ['image-pull', 'The sandbox image cannot be pulled', 'platform'],
}

/** Sandboxes fail for another reason than the range: told apart, so that nobody touches the store. */
export const notThis: DecisionRule = facts => {
  const trouble = otherTrouble(facts)
  if (trouble === undefined) return undefined
  const [cause, headline, call] = elsewhere[trouble.reading.kind] ?? [
    trouble.reading.causes[0] ?? 'other',
    'Sandboxes cannot be made',
    'platform',
  ]
  const known = trouble.reading.kind !== 'other'
  return plain({
    cause,
    headline: `${headline} (${facts.bundle.node})`,
    sure: known ? 'medium' : 'low',
    says: [trouble.reading.says, 'The address range is not the trouble here.', eventLine(trouble)],
    next: ['Read the newest message in the evidence; no repair of the address store is called for.'],
    escalateTo: call,
  })
}
