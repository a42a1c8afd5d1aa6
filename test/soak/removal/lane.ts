import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Acting } from './acting.js'
import { Churn } from './churn.js'
import { type Counts, noCounts } from './counts.js'
import { FileHistory } from './file-history.js'
import { Gate } from './gate.js'
import { PluginShells } from './plugin-shells.js'
import type { RuntimeKind } from './runtime-kinds.js'
import { quarantineDir, SoakNode } from './soak-node.js'
import type { Statements } from './statements.js'
import { filesIn, Truth } from './truth.js'

/** What all stores of one soak share. */
export interface Soak {
  seed: number
  /** A folder in memory, where there is one. */
  folder: string
  programs: string
  labPrograms: string
  halfMoved: string
  actor: string
  statements: Statements
  /** The shipped script, and its variants by line. */
  script: string
  killedAt: (index: number) => string
  stillAt: (index: number) => string
  /** Another tool's script to run in place of ours. */
  other: string | undefined
}

/** One node with its store, its churn and its acting process. */
export class Lane {
  readonly counts: Counts = noCounts()
  readonly node: SoakNode
  readonly truth: Truth
  readonly plugin: PluginShells
  readonly churn: Churn
  readonly acting: Acting
  readonly history: FileHistory
  readonly gate: Gate

  constructor(
    readonly soak: Soak,
    readonly kind: RuntimeKind,
    readonly number: number,
  ) {
    const root = join(soak.folder, `node-${number}`)
    this.node = new SoakNode(root, kind, soak.other !== undefined)
    this.truth = new Truth(this.node.store)
    this.plugin = new PluginShells(join(root, 'ipam.json'), 4)
    this.churn = new Churn(this.node, this.plugin, this.truth, this.counts)
    this.acting = new Acting({ actor: soak.actor, root, environment: this.environment() })
    this.history = new FileHistory(join(root, 'history'))
    this.gate = new Gate(join(root, '.lab/gate'))
  }

  environment(): NodeJS.ProcessEnv {
    const { programs, labPrograms } = this.soak
    return {
      ...process.env,
      PATH: `${programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
      CNIBOT_LAB_PROGRAMS: labPrograms,
      CNIBOT_NODE_ROOT: this.node.root,
    }
  }

  /** Fills the range half and makes the plugin's lock. */
  async begin(): Promise<void> {
    const starts = Array.from({ length: 16 }, (_, index) => ({
      kind: 'start' as const,
      which: 0,
      fate: 'list' as const,
      listAfterMs: 1_000 * index,
      delFails: false,
      waitMs: 0,
      passMs: 500,
    }))
    await this.churn.play(starts, 2)
    await this.churn.settle()
  }

  count(what: string): void {
    this.counts.faults[what] = (this.counts.faults[what] ?? 0) + 1
  }

  /** The check of checks, at one instant: every living owner has its file, and nothing of a living one was put away. */
  check(): void {
    this.truth.check()
    this.collect()
  }

  quarantineOf(operation: string): string {
    return join(this.node.root, quarantineDir, operation, 'k8s-pod-network')
  }

  /**
   * Counts what this round has put away. The folders of some rounds stay, as on a node, and must stay as they are: a later run
   * has the same name. Lost owners without a file are forgotten.
   */
  clear(): void {
    for (const operation of foldersIn(join(this.node.root, quarantineDir))) {
      const folder = this.quarantineOf(operation)
      const earlier = this.counted.get(operation)
      if (earlier === undefined) this.counts.addressesRemoved += this.truth.checkTaken(folder)
      const now = filesIn(folder)
        .map(({ ip, owner }) => `${ip} ${owner}`)
        .sort()
        .join()
      if (earlier !== undefined && earlier !== now)
        this.counts.left.push(
          `round ${this.round}, ${this.kind}: it changed what an earlier run has in quarantine`,
        )
      this.counted.set(operation, now)
    }
    for (const operation of [...this.counted.keys()].slice(0, -keptRounds)) {
      rmSync(join(this.node.root, quarantineDir, operation), { recursive: true, force: true })
      this.counted.delete(operation)
    }
    this.churn.late.clear()
    this.history.clear()
    const there = new Set(filesIn(this.node.store).map(({ owner }) => owner))
    for (const id of this.truth.all('lost')) if (!there.has(id)) this.truth.gone(id)
    this.collect()
  }

  /** What lies in the quarantine of earlier rounds. */
  private readonly counted = new Map<string, string>()

  async end(): Promise<void> {
    this.acting.close()
    await this.plugin.idle()
    this.plugin.close()
    this.counts.longestPluginMs = Math.round(this.plugin.longestMs)
    rmSync(this.node.root, { recursive: true, force: true })
  }

  private collect(): void {
    const where = (text: string) => `round ${this.round}, ${this.kind}: ${text}`
    this.counts.freed.push(...this.truth.freed.splice(0).map(where))
    this.counts.duplicates.push(...this.truth.duplicates.splice(0).map(where))
  }
  round = 0
}

/** So many rounds' quarantines stay. */
const keptRounds = 5

const foldersIn = (path: string): string[] =>
  existsSync(path)
    ? readdirSync(path, { withFileTypes: true })
        .filter(entry => entry.isDirectory())
        .map(({ name }) => name)
    : []

export const makeFolder = (path: string): string => {
  mkdirSync(path, { recursive: true })
  return path
}
