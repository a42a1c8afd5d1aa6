import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * What really is, whatever runtime and removal believe. `adding`: its ADD is under way. `living`: it has its address
 * and uses it. `deleting`: its DEL is under way. `lost`: nobody uses or will ever free its address.
 */
export type Standing = 'adding' | 'living' | 'deleting' | 'lost'

interface Owner {
  standing: Standing
  ip: string | undefined
  robbed: boolean
}

export interface StoreFile {
  ip: string
  owner: string
  mtime: number
}

const addressFile = /^\d+\.\d+\.\d+\.\d+$/

/** Kept by the churn alone: which owner holds which address, from before its ADD until its DEL has ended. */
export class Truth {
  private readonly owners = new Map<string, Owner>()
  /** Live owners whose file was taken, each once, with what happened. */
  readonly freed: string[] = []
  /** Addresses that an ADD gave out while a living owner had them. */
  readonly duplicates: string[] = []

  constructor(private readonly store: string) {}

  begin(id: string): void {
    this.owners.set(id, { standing: 'adding', ip: undefined, robbed: false })
  }

  /** Its ADD has answered. The file must be there and its own, and nobody living may have the address already. */
  added(id: string, ip: string): void {
    const owner = this.owners.get(id)
    if (owner === undefined) return
    owner.ip = ip
    if (owner.standing === 'lost') return
    for (const [other, { standing, ip: theirs }] of this.owners) {
      if (other !== id && theirs === ip && standing === 'living')
        this.duplicates.push(`${ip} given to ${short(id)} while ${short(other)} lives`)
    }
    owner.standing = 'living'
    this.look(id, owner)
  }

  deleting(id: string): void {
    const owner = this.owners.get(id)
    if (owner !== undefined) owner.standing = 'deleting'
  }

  /** Its DEL has ended, or it never got an address. */
  gone(id: string): void {
    this.owners.delete(id)
  }

  /** Its Pod is dead; if a DEL comes after all, it stays on the list of what may have been put away. */
  lose(id: string): void {
    const owner = this.owners.get(id)
    if (owner !== undefined) owner.standing = 'lost'
  }

  addressOf(id: string): string | undefined {
    return this.owners.get(id)?.ip
  }

  standingOf(id: string): Standing | undefined {
    return this.owners.get(id)?.standing
  }

  all(standing: Standing): string[] {
    return [...this.owners].filter(([, owner]) => owner.standing === standing).map(([id]) => id)
  }

  get size(): number {
    return this.owners.size
  }

  /** Every living owner must have its file now. */
  check(): void {
    for (const [id, owner] of this.owners) if (owner.standing === 'living') this.look(id, owner)
  }

  /** Files that were put away: only those of lost owners may be there. */
  checkTaken(folder: string): number {
    const files = filesIn(folder)
    for (const { ip, owner: id } of files) {
      const owner = this.owners.get(id)
      if (owner?.standing === 'lost' || owner?.robbed === true) continue
      if (owner !== undefined) owner.robbed = true
      this.freed.push(`${ip} of ${short(id)} was put away (${owner?.standing ?? 'its DEL has freed it'})`)
    }
    return files.length
  }

  private look(id: string, owner: Owner): void {
    if (owner.robbed || owner.ip === undefined || ownerIn(join(this.store, owner.ip)) === id) return
    owner.robbed = true
    const holder = ownerIn(join(this.store, owner.ip))
    this.freed.push(
      `${owner.ip} of ${short(id)}: ${holder === undefined ? 'no file' : `now of ${short(holder)}`}`,
    )
  }
}

const short = (id: string): string => id.slice(0, 8)

const ownerIn = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8').split('\r\n')[0]
  } catch {
    return undefined
  }
}

/** The address files of a folder; none where it does not exist. */
export const filesIn = (folder: string): StoreFile[] => {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    return []
  }
  return names.flatMap(ip => {
    if (!addressFile.test(ip)) return []
    try {
      const path = join(folder, ip)
      return [{ ip, owner: ownerIn(path) ?? '', mtime: statSync(path).mtimeMs }]
    } catch {
      return []
    }
  })
}
