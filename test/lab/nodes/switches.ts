import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { standardConflist, storeFolder } from './conflist.js'
import type { LabNode } from './lab-node.js'
import { type Sandbox, SandboxError } from './model.js'
import { runtimeSocket } from './runtime.js'
import type { StateFiles } from './state-files.js'

/** `hang` answers with a deadline error after the caller's own timeout, `freeze` never; `empty` lists nothing. */
export type RuntimeState = 'up' | 'down' | 'hang' | 'freeze' | 'empty'

/** What can be wrong with a node; each is set and unset at will. */
export class Switches {
  private readonly node: LabNode
  private readonly files: StateFiles
  private state: RuntimeState = 'up'
  private conflist: string | undefined

  constructor(node: LabNode, files: StateFiles) {
    this.node = node
    this.files = files
  }

  runtime(state: RuntimeState): void {
    this.state = state
    this.files.write('runtime', `${state}\n`)
    this.node.units.setActive('containerd', state !== 'down')
  }

  runtimeDown(on: boolean): void {
    this.runtime(on ? 'down' : 'up')
  }

  isDown(): boolean {
    return this.state === 'down'
  }

  /** What the kubelet hears from a runtime that is not there. */
  refuseWhenDown(sandboxId: string): void {
    if (this.state !== 'down') return
    throw new SandboxError(
      `rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix ${runtimeSocket}: connect: connection refused"`,
      sandboxId,
    )
  }

  /** A second runtime on the node that answers and runs no Pods, as Docker's containerd does. */
  otherRuntime(socket: string): void {
    this.files.write('other-endpoints', `${socket}\n`)
  }

  sudoRefused(on: boolean): void {
    if (on) this.files.write('sudo-refused', '')
    else this.files.remove('sudo-refused')
  }

  /** Even root reads nothing: the store's folder becomes a link to itself. */
  storeUnreadable(on: boolean): void {
    const folder = storeFolder(this.node.root, this.node.cni.network())
    const aside = join(this.node.root, '.lab/store-aside')
    if (on) {
      mkdirSync(folder, { recursive: true })
      renameSync(folder, aside)
      symlinkSync(folder, folder)
    } else {
      rmSync(folder)
      renameSync(aside, folder)
    }
  }

  /** The conflist ends in the middle, as after a full disk. */
  conflistBroken(on: boolean): void {
    const path = join(this.node.root, 'etc/cni/net.d/10-k8s-pod-network.conflist')
    if (on) writeFileSync(path, '{ "cniVersion": "1.0.0", "name": "k8s-pod-net')
    else writeFileSync(path, this.conflist ?? this.standard())
  }

  /** Replaces the conflist, e.g. for another range, a data folder, a chained plugin. */
  setConflist(text: string): void {
    this.conflist = text
    writeFileSync(join(this.node.root, 'etc/cni/net.d/10-k8s-pod-network.conflist'), text)
  }

  /** A second network file. The runtime takes the first by name. */
  extraConflist(name = '99-leftover.conflist', network = 'cbr0'): void {
    writeFileSync(
      join(this.node.root, 'etc/cni/net.d', name),
      this.standard().replace('"k8s-pod-network"', JSON.stringify(network)),
    )
  }

  clockSkew(ms: number): void {
    this.files.write('clock-skew', `${Math.round(ms)}\n`)
  }

  /** At least so many bytes of everyday lines in the runtime's journal, spread over the last day. */
  journalHuge(bytes: number): void {
    const end = this.node.clock.now()
    const count = Math.ceil(bytes / 400)
    const lines = Array.from({ length: count }, (_, index) => {
      const time = Math.round(end - 86_400_000 + (index / count) * 86_400_000)
      return {
        time,
        message: `time="${new Date(time).toISOString()}" level=info msg="container event discarded" container=${String(index).padStart(64, '0')} type=CONTAINER_STARTED_EVENT`,
      }
    })
    this.node.journal.writeAll('containerd', lines)
  }

  /** What a crash between making and writing an address file leaves: 0 bytes, no owner. Returns the address. */
  emptyAllocationFile(address: string, modified = this.node.clock.now()): string {
    const path = join(storeFolder(this.node.root, this.node.cni.network()), address)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, '', { mode: 0o600 })
    utimesSync(path, modified / 1000, modified / 1000)
    return address
  }

  /** A sandbox whose ADD and rollback both failed: NotReady, created in 1754, and it holds an address. */
  async createdAt272YearsAgo(): Promise<Sandbox> {
    const sandbox = await this.node.add({ name: 'zz', namespace: 'lab', uid: 'uid-zz' })
    sandbox.createdAt = -6795364578871345152n
    sandbox.annotations = {}
    sandbox.state = 'notready'
    this.node.runtime.render()
    return sandbox
  }

  private standard(): string {
    return standardConflist(this.node.podCidr)
  }
}
