import { encodeRemovalList } from '../../src/core/evidence/parse/removal-report.js'
import type { CommandResult, NodeCommand, NodeShell } from '../../src/ports.js'
import {
  contentOf,
  type FakeSandbox,
  type File,
  lockInode,
  networkDir,
  type NodeModel,
  type Trouble,
} from './node-model.js'
import { probeAnswer } from './probe-answer.js'

/** The node's own side of a removal: refuses with one line and an exit code, else tells what became of each file. */
class Refusal extends Error {
  constructor(
    readonly code: number,
    line: string,
  ) {
    super(line)
  }
}

/**
 * A node in memory: host-local's store, the runtime's sandboxes, and what the two scripts promise about them. Held against
 * the real scripts by a contract test.
 */
export class FakeNode implements NodeModel {
  readonly store = new Map<string, File>()
  readonly sandboxes = new Map<string, FakeSandbox>()
  /** By operation, then by address. */
  readonly quarantine = new Map<string, Map<string, File>>()
  /** Every file that was moved or put back, in order: `move 10.244.7.9`, `restore 10.244.7.9`. */
  readonly changes: string[] = []
  bootId = '3b7b2c5e-0d6f-4a55-9b0e-1f3a5d6c7e81'
  runtimeDown = false
  /** Stands in the way of every script until it is taken away. */
  trouble: Trouble | undefined
  /** Addresses at which a neighbour answers, whoever the files name. */
  readonly answering = new Set<string>()
  /** Right before a removal or restore begins, after everything that its worker has looked at. */
  beforeScript: (verb: string) => void = () => undefined
  /** What each operation's restores found in quarantine, so that a later one can tell what is back. */
  private readonly restored = new Map<string, { ip: string; inode: number }[]>()
  private fence = 0
  private inodes = 5_000

  constructor(readonly clock: { now(): number }) {}

  /** host-local's ADD: the next address that has no file. */
  add(pod: { namespace: string; name: string; uid: string }, wanted?: string): FakeSandbox {
    const ip = wanted ?? this.freeAddress()
    this.inodes += 1
    const id = this.inodes.toString(16).padStart(64, '0')
    this.store.set(ip, { owner: id, inode: this.inodes, mtime: this.clock.now() })
    const sandbox = { id, namespace: pod.namespace, pod: pod.name, podUid: pod.uid, ip }
    this.sandboxes.set(id, sandbox)
    return sandbox
  }

  /** An address whose sandbox the runtime has lost, weeks ago. */
  leak(): string {
    const { id, ip } = this.add({ namespace: 'gone', name: 'gone', uid: 'gone' })
    this.sandboxes.delete(id)
    this.store.set(ip, { owner: id, inode: this.inodes, mtime: this.clock.now() - 15 * 86_400_000 })
    return ip
  }

  /** DEL: the address file of this owner goes, whatever address it has. */
  del(id: string): void {
    this.sandboxes.delete(id)
    for (const [ip, { owner }] of this.store) if (owner === id) this.store.delete(ip)
  }

  /** Living sandboxes without the address file they were given: the worst that can happen. */
  robbed(): string[] {
    return [...this.sandboxes.values()]
      .filter(({ id, ip }) => this.store.get(ip)?.owner !== id)
      .map(({ ip, pod }) => `${ip} of ${pod}`)
  }

  /** Somebody puts every removed file back by hand. */
  putBack(): void {
    for (const kept of this.quarantine.values()) {
      for (const [ip, file] of kept) if (!this.store.has(ip)) this.store.set(ip, file)
      kept.clear()
    }
  }

  /** Standard input of a removal of these addresses, as they are now. */
  list(ips: readonly string[]): string {
    return encodeRemovalList(
      ips.map(ip => {
        const file = this.store.get(ip)
        const owner = file?.owner ?? ''
        const content = file ? contentOf(file) : ''
        return { ip, owner, content, inode: file?.inode ?? 0, size: content.length }
      }),
    )
  }

  shell(sync: () => void = () => undefined): NodeShell {
    const shown = ({ script, args }: NodeCommand): string => [script, ...args].join(' ')
    return {
      shown,
      run: async (_node, command) => {
        sync()
        const answer = (over: Partial<CommandResult>): CommandResult => ({
          shown: shown(command),
          exitCode: 0,
          signal: undefined,
          timedOut: false,
          truncated: false,
          stdout: '',
          stderr: '',
          durationMs: 1,
          ...over,
        })
        if (command.script === 'probe')
          return answer({ stdout: probeAnswer(this, command.args.includes('--light')) })
        this.beforeScript(command.args[0] ?? '')
        if (this.trouble === 'sudo') return answer({ exitCode: 1, stderr: 'sudo: a password is required\n' })
        try {
          return answer({ stdout: this.removal(command.args, command.stdin ?? '') })
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          return answer({ exitCode: error.code, stderr: `remove-orphans: ${error.message}\n` })
        }
      },
    }
  }

  private freeAddress(): string {
    for (let n = 2; n < 255; n += 1) if (!this.store.has(`10.244.7.${n}`)) return `10.244.7.${n}`
    throw new Error('no IP addresses available in range set: 10.244.7.1-10.244.7.254')
  }

  private removal(args: readonly string[], stdin: string): string {
    const [verb = ''] = args
    const option = (name: string): string => {
      const at = args.lastIndexOf(name)
      return at < 0 ? '' : (args[at + 1] ?? '')
    }
    const [first = '', ...rest] = stdin.split('\n')
    const fence = /^fence (\d{1,15})$/.exec(first)?.[1]
    if (fence === undefined)
      throw new Refusal(65, "the first line of standard input must be 'fence' and a number")
    if (this.trouble === 'digest')
      throw new Refusal(
        78,
        'the script installed on this node (sha256 0bad) is not the one approved (600d); install it again',
      )
    if (this.trouble === 'folder') throw new Refusal(78, `${networkDir} is not a folder on this node`)
    if (verb === 'remove' && option('--boot-id') !== this.bootId)
      throw new Refusal(78, `the node was started anew since the plan (boot id ${this.bootId}); plan again`)
    if (Number(fence) < this.fence)
      throw new Refusal(
        76,
        `a newer order (fence ${this.fence}) has been carried out on this node; this one (fence ${fence}) is outdated`,
      )
    this.fence = Number(fence)
    const op = option('--op')
    const kept = this.quarantine.get(op) ?? new Map<string, File>()
    this.quarantine.set(op, kept)
    if (verb === 'restore') this.takeLock(option('--lock-inode'))
    const lines =
      verb === 'restore' ? this.restore(op, kept) : this.remove(op, kept, rest.filter(Boolean), option)
    const done = { done: true, verb, underLockMs: 20, quarantine: option('--quarantine') }
    return [...lines, { ...done, sandboxes: this.sandboxes.size, records: 'containers' }]
      .map(line => `${JSON.stringify(line)}\n`)
      .join('')
  }

  private remove(
    op: string,
    kept: Map<string, File>,
    list: readonly string[],
    option: (name: string) => string,
  ): object[] {
    if (this.runtimeDown) throw new Refusal(69, 'the runtime does not answer: connection refused')
    if (this.sandboxes.size === 0)
      throw new Refusal(69, 'the runtime lists no sandbox at all: is it the one the kubelet uses?')
    const fewest = option('--min-sandboxes')
    if (this.sandboxes.size < Number(fewest))
      throw new Refusal(
        69,
        `the runtime lists ${this.sandboxes.size} sandboxes, fewer than the ${fewest} of the plan; plan again`,
      )
    const earlier = [...kept.keys()]
    if (list[0] === 'first' && (earlier.length > 0 || this.restored.has(op)))
      throw new Refusal(
        78,
        `${option('--quarantine')} holds files of an earlier run that had the same name; end this run and open a new one`,
      )
    this.takeLock(option('--lock-inode'))
    const told = list.flatMap(line => {
      if (line === 'first') return []
      const [ip = '', wanted = '', size, owner = ''] = line.split('\t')
      if (kept.get(ip)?.inode === Number(wanted)) return []
      const skipped = (why: string) => [{ file: ip, result: 'skipped', why }]
      if (this.sandboxes.has(owner)) return skipped('the runtime knows its owner')
      if (this.answering.has(ip)) return skipped('a neighbour answers at the address')
      const there = this.store.get(ip)
      if (!there) return skipped('gone: the plugin has freed it meanwhile')
      const same = there.inode === Number(wanted) && there.owner === owner
      if (!same || Number(size) !== contentOf(there).length)
        return skipped('changed since the plan: another owner has the address, or the file is another')
      this.store.delete(ip)
      kept.set(ip, there)
      this.changes.push(`move ${ip}`)
      return [{ file: ip, result: 'moved' }]
    })
    return [...earlier.map(ip => ({ file: ip, result: 'already' })), ...told]
  }

  /** The plugin's own. */
  private takeLock(inode: string): void {
    if (this.trouble === 'lock')
      throw new Refusal(75, "the plugin's lock was not free within 10 s; try again")
    if (inode !== '' && inode !== String(lockInode))
      throw new Refusal(78, `${networkDir}/lock is not the one of the plan; plan again`)
  }

  private restore(op: string, kept: Map<string, File>): object[] {
    const before = new Set(kept.keys())
    const found = this.restored.get(op) ?? []
    this.restored.set(op, [...found, ...[...kept].map(([ip, { inode }]) => ({ ip, inode }))])
    const told = [...kept].map(([ip, file]) => {
      const there = this.store.get(ip)
      if (there && there.inode !== file.inode)
        return { file: ip, result: 'skipped', why: `the address has a new owner: ${there.owner}` }
      this.store.set(ip, file)
      kept.delete(ip)
      this.changes.push(`restore ${ip}`)
      return { file: ip, result: 'moved' }
    })
    const back = new Map(found.map(({ ip, inode }) => [ip, inode]))
    const already = [...back]
      .filter(([ip, inode]) => !before.has(ip) && this.store.get(ip)?.inode === inode)
      .map(([ip]) => ({ file: ip, result: 'already' }))
    return [...told, ...already]
  }
}
