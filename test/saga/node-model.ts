/** One address file: its owner, and the inode that stays the same through a rename. */
export interface File {
  owner: string
  inode: number
  mtime: number
}
export interface FakeSandbox {
  id: string
  namespace: string
  pod: string
  podUid: string
  ip: string
}

export const networkDir = '/var/lib/cni/networks/k8s-pod-network'
export const contentOf = ({ owner }: Pick<File, 'owner'>): string => `${owner}\r\neth0`
export const lockInode = 4_711

/**
 * Why a script does nothing: sudo does not let it run, the copy on the node is another, its folder is gone, somebody keeps the
 * plugin's lock.
 */
export type Trouble = 'sudo' | 'digest' | 'folder' | 'lock'

/** What there is to be read of a node. */
export interface NodeModel {
  /** By address. */
  readonly store: ReadonlyMap<string, File>
  readonly sandboxes: ReadonlyMap<string, FakeSandbox>
  readonly answering: ReadonlySet<string>
  readonly clock: { now(): number }
  bootId: string
  runtimeDown: boolean
}
