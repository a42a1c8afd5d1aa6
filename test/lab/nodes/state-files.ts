import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder `.lab` below a node's root, from which the programs in `bin/` answer. */
export class StateFiles {
  readonly folder: string
  private readonly known = new Map<string, string>()

  constructor(root: string) {
    this.folder = join(root, '.lab')
    mkdirSync(this.folder, { recursive: true })
  }

  /** Replaces the file in one step: a program that reads meanwhile sees the old or the new one, never half. */
  write(name: string, text: string): void {
    if (this.known.get(name) === text) return
    const path = join(this.folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(`${path}.next`, text)
    renameSync(`${path}.next`, path)
    this.known.set(name, text)
  }

  remove(name: string): void {
    this.known.delete(name)
    rmSync(join(this.folder, name), { recursive: true, force: true })
  }
}
