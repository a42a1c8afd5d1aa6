/** What the node's annotation says of a cordon of ours: the cluster and the incident, `prod-eu1/node-07.1`. */
export const cordonMark = ({ cluster, incident }: { cluster: string; incident: string }): string =>
  `${cluster}/${incident}`

/** Under this name the server keeps which fields this program wrote; every write of a cordon carries it. */
export const fieldManager = 'cnibot'

export interface CordonAsRead {
  unschedulable: boolean
  /** The annotation's content. */
  mark: string | undefined
  /** Who wrote `spec.unschedulable`, by `metadata.managedFields`; empty where the server does not say. */
  managers: readonly string[]
}

export interface CordonOwner {
  /** Our mark, where the cordon that stands was set by us; undefined for everybody else's and where there is none. */
  cordonedBy: string | undefined
  /** With what somebody else set it, as the server recorded: `kubectl`. */
  cordonedWith?: string | undefined
}

/** Whose a cordon is that is not this incident's, in words. A name that a writer gave itself stays told apart from a mark. */
export const theirs = ({ cordonedBy, cordonedWith }: CordonOwner): string =>
  cordonedBy ?? (cordonedWith === undefined ? 'somebody else' : `somebody else (with ${cordonedWith})`)

/**
 * The annotation alone proves nothing: `kubectl uncordon` leaves it behind, so that a later cordon by hand would pass for
 * ours. The server gives a field to whoever changed its value last and takes it from all when it is removed (field
 * management, kubernetes.io/docs/reference/using-api/server-side-apply): ours is the cordon whose field is ours alone.
 */
export const cordonOwner = ({ unschedulable, mark, managers }: CordonAsRead): CordonOwner => {
  const names = [...new Set(managers)]
  const ours = unschedulable && names.length === 1 && names[0] === fieldManager
  if (ours) return { cordonedBy: mark, cordonedWith: undefined }
  const others = names.filter(name => name !== fieldManager)
  return {
    cordonedBy: undefined,
    cordonedWith: unschedulable && others.length > 0 ? others.join(', ') : undefined,
  }
}

/** How the node stood, read from the API: told at the end of every run. */
export type CordonState =
  | { whose: 'nobody' | 'ours' }
  | { whose: 'theirs'; by: string }
  | { whose: 'unknown'; because: string }

export const cordonState = (facts: CordonOwner & { unschedulable: boolean }, mark: string): CordonState => {
  if (!facts.unschedulable) return { whose: 'nobody' }
  return facts.cordonedBy === mark ? { whose: 'ours' } : { whose: 'theirs', by: theirs(facts) }
}
