import type { CauseCode } from '../cause.js'

/**
 * What kind of trouble a message tells of. `exhausted` is host-local's alone; `other-ipam` is every other address
 * manager's own trouble; `plugin-missing`, `plugin-cannot-run`, `config-missing`, `config-invalid`, `agent-down` and
 * `runtime-down` mean that no plugin answered. `harmless` and `symptom-only` give no reason; `other` is not known.
 */
export type CniMessageKind =
  | 'exhausted'
  | 'other-ipam'
  | 'plugin-missing'
  | 'plugin-cannot-run'
  | 'config-missing'
  | 'config-invalid'
  | 'agent-down'
  | 'agent-error'
  | 'agent-refused'
  | 'runtime-down'
  | 'runtime-error'
  | 'disk-full'
  | 'dataplane'
  | 'cache-corrupt'
  | 'teardown'
  | 'timeout'
  | 'name-reserved'
  | 'image'
  | 'volume'
  | 'object-missing'
  | 'scheduling'
  | 'pressure'
  | 'node-health'
  | 'container'
  | 'disruption-budget'
  | 'drain-refused'
  | 'api-access'
  | 'connection'
  | 'no-endpoints'
  | 'symptom-only'
  | 'harmless'
  | 'other'

/** `status`: the network's readiness. `none`: the text is about no call of a plugin. */
export type CniOperation = 'add' | 'del' | 'check' | 'status' | 'none'

/**
 * The first rule that matches decides, so inner errors stand before their wrappers. A fragment is a stable part of the
 * wording of a program's source; every repetition in it is bounded, so that hostile text costs linear time.
 */
export interface MessageRule {
  /** Finer than the kind, in capitals: CNI_BIN_MISSING, … */
  code: string
  kind: CniMessageKind
  /** Tried on the plain text in lower case. */
  when: RegExp
  /** Where the words alone say too little: only in the text of a plugin's call, or of one operation. */
  only?: 'cni' | 'add' | 'del' | 'not-cni'
  /** The likeliest first; none where the text gives no reason. */
  causes: CauseCode[]
  /** Instead of `causes` where a DEL failed. */
  onDel?: CauseCode[]
  /** Where the words around do not tell the operation. */
  operation?: CniOperation
  /** One sentence for people, without text from the cluster. */
  says: string
}
